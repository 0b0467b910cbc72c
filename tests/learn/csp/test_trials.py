"""Second moments of trials and their shrinkage, beside the formula."""

import numpy as np
import pytest
import scipy.linalg

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
