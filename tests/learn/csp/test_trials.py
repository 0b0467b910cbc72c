"""Second moments of trials and their shrinkage, beside the formula."""

import numpy as np
import pytest
import scipy.linalg
import sklearn.covariance

from splitmerge.learn import CSP
from splitmerge.learn.csp.trials import trial_moments

CHANNELS, SAMPLES = 6, 40


def trials(rank):
    """Two classes of trials in a subspace of this dimension, not along the channels."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((CHANNELS, rank)))[0]
    y = np.arange(30) % 2
    power = np.where(y[:, None], np.linspace(1, 3, rank), np.linspace(2, 1, rank))
    return basis @ (power[:, :, None] * rng.standard_normal((30, rank, SAMPLES))), y, basis


def shrunk(X, s, basis):
    """(1 − s) S̄ + s (tr S̄ / rank) P by its definition."""
    S = np.mean([Z @ Z.T / SAMPLES for Z in X - X.mean(axis=2, keepdims=True)], axis=0)
    return (1 - s) * S + s * np.trace(S) / basis.shape[1] * basis @ basis.T


@pytest.mark.parametrize("s", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("rank", [3, 5, CHANNELS])
def test_shrunk(rank, s):
    X, _, basis = trials(rank)
    part = trial_moments(X, np.ones(30), norm_trace=False, center=True)
    found = part.shrunk(s, basis @ basis.T, rank)
    np.testing.assert_allclose(found, shrunk(X, s, basis), atol=1e-12)
    # the power of the trials is kept
    assert np.trace(found) == pytest.approx(np.trace(part.mean))


@pytest.mark.parametrize("rank", [3, 5, CHANNELS])
def test_csp_shrinks_by_the_rank_of_the_data(rank):
    X, y, basis = trials(rank)
    s = 0.4
    csp = CSP(rank, shrinkage=s, center=True, norm_trace=False).fit(X, y)
    assert csp.rank_ == rank
    C, D = (basis.T @ shrunk(X[y == label], s, basis) @ basis for label in (0, 1))
    expected = scipy.linalg.eigh(C, C + D, eigvals_only=True)
    found = np.sort(csp.eigenvalues_)
    assert min(np.abs(found - expected).max(), np.abs(found - np.sort(1 - expected)).max()) <= 1e-10


def ledoit_wolf(S, weights, target):
    """Σᵢ wᵢ‖Sᵢ − S̄‖² / (W² ‖S̄ − T‖²) with W = Σ wᵢ, trial by trial, at most 1."""
    mean = np.average(S, axis=0, weights=weights)
    scatter = sum(w * np.linalg.norm(each - mean) ** 2 for w, each in zip(weights, S, strict=True))
    return min(1.0, scatter / np.sum(weights) ** 2 / np.linalg.norm(mean - target) ** 2)


@pytest.mark.parametrize("norm_trace", [False, True])
@pytest.mark.parametrize("rank", [3, CHANNELS])
@pytest.mark.parametrize("count", [2, 8, 30])
def test_auto_is_the_formula(count, rank, norm_trace):
    """The fewer trials, the more they are shrunk; a weight is a number of repetitions."""
    X, _, basis = trials(rank)
    X, weights = X[:count], 1.0 + np.arange(count) % 3
    S = np.array([Z @ Z.T / SAMPLES for Z in X])
    if norm_trace:
        S /= np.trace(S, axis1=1, axis2=2)[:, None, None]
    mean, projector = np.average(S, axis=0, weights=weights), basis @ basis.T
    target = np.trace(mean) / rank * projector
    s = ledoit_wolf(S, weights, target)
    assert 0 < s < 1
    part = trial_moments(X, weights, norm_trace=norm_trace, center=False)
    np.testing.assert_allclose(part.shrunk("auto", projector, rank), (1 - s) * mean + s * target, atol=1e-12)


def test_auto_of_equal_trials_and_of_equal_powers():
    """Trials that are all the same need no shrinkage, and moments that are the target already cannot be shrunk."""
    same = np.tile(trials(CHANNELS)[0][:1], (5, 1, 1))
    part = trial_moments(same, np.ones(5), norm_trace=False, center=False)
    np.testing.assert_allclose(part.shrunk("auto", np.eye(CHANNELS), CHANNELS), same[0] @ same[0].T / SAMPLES)
    part = trial_moments(np.eye(CHANNELS)[None], np.ones(1), norm_trace=False, center=False)
    np.testing.assert_allclose(part.shrunk("auto", np.eye(CHANNELS), CHANNELS), np.eye(CHANNELS) / CHANNELS)


@pytest.mark.parametrize("count", [20, 60, 400])
def test_one_sample_a_trial_is_shrunk_as_by_scikit_learn(count):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((count, CHANNELS)) * np.linspace(1, 2, CHANNELS), np.arange(count) % 2
    X[y == 1] = X[y == 1, ::-1]
    C, D = (sklearn.covariance.ledoit_wolf(X[y == label], assume_centered=True)[0] for label in (0, 1))
    expected, W = scipy.linalg.eigh(C, C + D)
    csp = CSP(CHANNELS, shrinkage="auto", norm_trace=False, select="ends").fit(X, y)
    np.testing.assert_allclose(np.sort(csp.eigenvalues_), expected, atol=1e-10)
    highest = csp.filters_[csp.eigenvalues_.argmax()]
    np.testing.assert_allclose(highest * np.sign(highest @ W[:, -1]), W[:, -1], atol=1e-8)
