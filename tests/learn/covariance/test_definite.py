"""Whitening covariances, and what becomes of singular ones."""

import numpy as np
import pytest

from splitmerge.errors import NotPositiveDefinite
from splitmerge.learn.covariance.definite import Sample, definite, whitener
from two_views import X


@pytest.mark.parametrize("policy", ["error", "ridge", "restrict"])
def test_whitening(policy):
    C = np.cov(X.T)
    way = whitener(C, 0.0, policy, Sample("X", 60))
    assert np.allclose(way.W.T @ C @ way.W, np.eye(5), atol=1e-12)
    assert 1 <= way.condition < 100


def test_whitening_what_is_singular():
    doubled = np.cov(np.hstack([X, X[:, :1]]).T)
    sample = Sample("X", 60)
    with pytest.raises(NotPositiveDefinite, match="linearly dependent"):
        whitener(doubled, 0.0, "error", sample)
    way = whitener(doubled, 0.0, "restrict", sample)
    assert way.W.shape == (6, 5)
    assert way.report.dropped == 1
    assert np.allclose(way.W.T @ doubled @ way.W, np.eye(5), atol=1e-10)
    way = whitener(doubled, 0.0, "ridge", sample)
    assert way.W.shape == (6, 6)
    assert 0 < way.report.ridge < 1e-9
    with pytest.raises(NotPositiveDefinite, match="X has 2 constant columns"):
        whitener(np.zeros((2, 2)), 0.0, "restrict", sample)


def test_constant_columns_are_left_out_without_an_eigendecomposition(monkeypatch):
    """The others are whitened as they would be by themselves."""
    rng = np.random.default_rng(0)
    C = np.cov(rng.standard_normal((40, 4)), rowvar=False, bias=True)
    with_zeros = np.insert(np.insert(C, 2, 0.0, axis=0), 2, 0.0, axis=1)
    monkeypatch.setattr("splitmerge.learn.covariance.definite.eigh", None)
    sample = Sample("X", 40)
    way, expected = whitener(with_zeros, 0.0, "restrict", sample), whitener(C, 0.0, "restrict", sample)
    np.testing.assert_array_equal(np.delete(way.W, 2, axis=0), expected.W)
    np.testing.assert_array_equal(way.W[2], 0)
    assert way.condition == expected.condition
    assert (way.report.rank, way.report.dropped) == (4, 1)


@pytest.mark.parametrize("tol", [1e-4, 1e-2, 0.1])
def test_restricted_by_the_square_of_tol(tol):
    """Directions of a correlation matrix whose eigenvalues are twice and half of tol², in groups of four columns."""
    signs = np.array([1.0, -1.0, 1.0, -1.0]) / 2
    # each group has the eigenvalue 1 + (1 − v)/3 three times, and v along the signs
    groups = [np.eye(4) * (4 - v) / 3 - (4 - 4 * v) / 3 * np.outer(signs, signs) for v in (2 * tol**2, 0.5 * tol**2)]
    R = np.kron(np.diag([1.0, 0.0]), groups[0]) + np.kron(np.diag([0.0, 1.0]), groups[1])
    np.testing.assert_allclose(R.diagonal(), 1.0)
    found = definite(lambda: np.asfortranarray(R), np.zeros(8), "restrict", tol, "")
    assert (found.rank, found.report.dropped) == (7, 1)
