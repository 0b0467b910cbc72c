"""The ridge that is asked for, or found, is the one that is added."""

import numpy as np
import pytest

from splitmerge.learn import CCA, MCCA
from splitmerge.learn.covariance.definite import EPS, Sample, definite, whitener
from two_views import WEIGHTS, X, Y, explicit

SAMPLE = Sample("X", 60)
DOUBLED = np.cov(np.hstack([X, X[:, :1]]).T)


@pytest.mark.parametrize("ridge", [0.0, 1e-3, 0.7])
@pytest.mark.parametrize("policy", ["error", "ridge", "restrict"])
def test_whitener_adds_the_ridge_given(ridge, policy):
    C = np.cov(X.T)
    way = whitener(C, ridge, policy, SAMPLE)
    assert way.ridge == ridge
    np.testing.assert_allclose(way.W.T @ (C + ridge * np.eye(5)) @ way.W, np.eye(5), atol=1e-10)


def test_whitener_restricts_with_the_ridge_given():
    """A ridge that is too small to help against two equal columns."""
    ridge = 1e-14
    way = whitener(DOUBLED, ridge, "restrict", SAMPLE)
    np.testing.assert_allclose(way.W.T @ (DOUBLED + ridge * np.eye(6)) @ way.W, np.eye(5), atol=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 1e-14])
def test_whitener_adds_the_smallest_ridge_that_helps(ridge):
    way = whitener(DOUBLED, ridge, "ridge", SAMPLE)
    added = way.report.ridge
    assert way.ridge == ridge + added
    np.testing.assert_allclose(way.W.T @ (DOUBLED + way.ridge * np.eye(6)) @ way.W, np.eye(6), atol=1e-3)
    # the first of 10ʲ √n eps times the largest entry, j = 2, 3, …, which does
    rungs = np.log10(added / (np.sqrt(6) * EPS * (DOUBLED.diagonal().max() + ridge)))
    assert rungs == pytest.approx(round(rungs), abs=1e-9)
    assert 2 <= rungs <= 4


def test_definite_adds_the_square_of_its_tolerance_to_the_correlations():
    tol = 1e-4
    scale = np.sqrt(DOUBLED.diagonal())
    B = definite(lambda: np.asfortranarray(DOUBLED), np.zeros(6), "ridge", tol, "give other data")
    expected = DOUBLED + tol**2 * np.diag(scale**2)
    V = np.random.default_rng(0).standard_normal((6, 2))
    np.testing.assert_allclose(expected @ B.solve(V), V, atol=1e-6 * np.abs(V).max())
    assert B.report.ridge == tol**2


@pytest.mark.parametrize("solver", ["formed", "operators"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("ridges", [(0.3, 0.3), (0.05, 2.0)])
def test_correlations_with_a_ridge(solver, weights, ridges):
    Zx, Zy = explicit(X, weights, True), explicit(Y, weights, True)
    roots = [
        np.linalg.cholesky(Z.T @ Z + ridge * np.eye(Z.shape[1])) for Z, ridge in zip((Zx, Zy), ridges, strict=True)
    ]
    K = np.linalg.solve(roots[0], np.linalg.solve(roots[1], Zy.T @ Zx).T)
    expected = np.linalg.svd(K, compute_uv=False)[:2]
    ridge = ridges[0] if ridges[0] == ridges[1] else ridges
    cca = CCA(2, ridge=ridge, solver=solver).fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(cca.correlations_, expected, atol=1e-9)
    mcca = MCCA(2, ridge=ridge, solver=solver).fit([X, Y], sample_weight=weights)
    np.testing.assert_allclose(mcca.correlations_, expected, atol=1e-9)
