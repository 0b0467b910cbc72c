"""Priors other than the shares of the rows: scaled, and the weights of what they are said to be weights of."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from splitmerge.learn import LinearDiscriminantAnalysis

RNG = np.random.default_rng(11)


def rows(count):
    """Three columns, and three classes."""
    labels = np.arange(count) % 3
    X = RNG.standard_normal((count, 3)) @ RNG.standard_normal((3, 3))
    X[:, 0] += labels
    return X, labels


@pytest.mark.parametrize("total", [0.5, 2.0, 1 - 2e-5, 1 + 2e-5])
@pytest.mark.parametrize("shrinkage", [None, 0.2])
def test_are_scaled_with_a_warning(total, shrinkage):
    X, y = rows(60)
    priors = np.array([0.2, 0.3, 0.5])
    with pytest.warns(UserWarning, match="do not sum to 1"):
        found = LinearDiscriminantAnalysis(priors=total * priors, shrinkage=shrinkage).fit(X, y)
    expected = LinearDiscriminantAnalysis(priors=priors, shrinkage=shrinkage).fit(X, y)
    for name in ("priors_", "xbar_", "coef_", "intercept_", "eigenvalues_"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("excess", [0.0, 9e-6, -9e-6])
def test_rounding_of_theirs_is_no_warning(excess):
    X, y = rows(60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = LinearDiscriminantAnalysis(priors=np.array([0.2, 0.3, 0.5]) * (1 + excess)).fit(X, y)
    np.testing.assert_allclose(found.priors_, [0.2, 0.3, 0.5], rtol=1e-12)


@pytest.mark.parametrize("weights", [None, "random"])
@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("solver", "pooled"), [("auto", True), ("svd", True), ("eigen", False), ("lsqr", False)])
def test_the_covariance_within_classes(solver, pooled, stored, weights):
    """By hand: each class has the share of its prior in it, or of its rows."""
    X, y = rows(48)
    y = np.minimum(y, np.arange(48) // 16)
    w = np.ones(48) if weights is None else RNG.integers(1, 4, 48).astype(float)
    priors = np.array([0.5, 0.3, 0.2])
    model = LinearDiscriminantAnalysis(solver=solver, priors=priors, store_covariance=True).fit(
        stored(X), y, sample_weight=w
    )
    each = [np.cov(X[y == k].T, aweights=w[y == k], ddof=0) for k in range(3)]
    shares = np.bincount(y, w) / w.sum() if pooled else priors
    np.testing.assert_allclose(model.covariance_, np.einsum("k,kij->ij", shares, each), rtol=1e-9, atol=1e-12)
    means = np.array([np.average(X[y == k], axis=0, weights=w[y == k]) for k in range(3)])
    np.testing.assert_allclose(model.means_, means, rtol=1e-12)
    np.testing.assert_allclose(model.xbar_, priors @ means, rtol=1e-12)
    # the rule of Bayes for Gaussian classes
    inverse = np.linalg.inv(model.covariance_)
    scores = np.array(
        [np.log(p) - 0.5 * np.einsum("ij,jk,ik->i", X - m, inverse, X - m) for p, m in zip(priors, means, strict=True)]
    )
    proba = np.exp(scores - scores.max(axis=0))
    np.testing.assert_allclose(model.predict_proba(X), (proba / proba.sum(axis=0)).T, atol=1e-9)
