"""Regularised covariances, beside scikit-learn's."""

import numpy as np
import pytest
import scipy.linalg
import sklearn.covariance

from recordings import SAMPLES, deficient, recordings
from splitmerge.learn import CSP
from splitmerge.learn.csp.covariances import DIAGONAL_FIXED, check_reg

CHANNELS = 6


def by_scikit_learn(samples, reg):
    """The covariance of samples in rows, of full rank and about zero, with its degrees of freedom."""
    n = len(samples)
    empirical = samples.T @ samples / n
    if reg in (None, "empirical"):
        C = empirical
    elif reg == "diagonal_fixed":
        C = empirical + DIAGONAL_FIXED * np.trace(empirical) / len(empirical) * np.eye(len(empirical))
    elif isinstance(reg, str):
        kind = {"oas": sklearn.covariance.OAS, "ledoit_wolf": sklearn.covariance.LedoitWolf}[reg]
        C = kind(assume_centered=True).fit(samples).covariance_
    else:
        C = sklearn.covariance.shrunk_covariance(empirical, reg)
    return C * n / (n - 1)


@pytest.mark.parametrize("cov_est", ["concat", "epoch"])
@pytest.mark.parametrize("kind", [None, "average reference", "components removed"])
@pytest.mark.parametrize("reg", [None, "empirical", 0, 0.3, 1.0, "diagonal_fixed", "oas", "ledoit_wolf"])
def test_it_is_regularised_in_the_range_of_the_data(reg, kind, cov_est):
    X, y, _ = recordings(trials=9)
    X[y == 0] *= 1 + np.arange(5)[:, None, None]
    X, rank = (X, CHANNELS) if kind is None else deficient(X, kind)
    Q = np.linalg.svd(np.hstack(X), full_matrices=False)[0][:, :rank]
    classes = []
    for label in (0, 1):
        trials = (Q.T @ X[y == label]).transpose(0, 2, 1)
        if cov_est == "concat":
            classes.append(by_scikit_learn(trials.reshape(-1, rank), reg))
        else:
            classes.append(np.mean([by_scikit_learn(trial, reg) for trial in trials], axis=0))
    expected = scipy.linalg.eigh(classes[0], classes[0] + classes[1], eigvals_only=True)
    csp = CSP(reg=reg, cov_est=cov_est).fit(X, y)
    np.testing.assert_allclose(np.sort(csp.eigenvalues_), expected, atol=1e-9)
    # in the units of the covariances
    B = Q @ (classes[0] + classes[1]) @ Q.T
    np.testing.assert_allclose(csp.filters_ @ B @ csp.filters_.T, np.eye(rank), atol=1e-8)


@pytest.mark.parametrize("reg", ["ledoit_wolf", "oas"])
def test_few_samples_are_shrunk_more(reg):
    X, y, _ = recordings(trials=40)
    spread = [np.abs(CSP(reg=reg).fit(X[..., :n], y).eigenvalues_ - 0.5).max() for n in (1, SAMPLES)]
    plain = [np.abs(CSP().fit(X[..., :n], y).eigenvalues_ - 0.5).max() for n in (1, SAMPLES)]
    assert plain[0] - spread[0] > 10 * (plain[1] - spread[1]) > 0


@pytest.mark.parametrize("reg", [True, np.nan, -0.1, 1.01, "auto", [0.1]], ids=str)
def test_what_is_no_regularisation(reg):
    with pytest.raises(ValueError, match="reg is"):
        check_reg(reg)
