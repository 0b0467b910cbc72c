"""The factor of a diagonal B does what that of a dense one does."""

import numpy as np
import pytest
import scipy.sparse as sp

from splitmerge.errors import NotPositiveDefinite
from splitmerge.sparse_direct.diagonal import DiagonalFactor, is_diagonal

RNG = np.random.default_rng(0)
DIAGONAL = np.geomspace(1e-4, 1e2, 9)
B = np.diag(DIAGONAL)
A = RNG.standard_normal((9, 9))
X = RNG.standard_normal((9, 3))


@pytest.fixture
def factor():
    return DiagonalFactor(sp.csr_array(B))


def test_solves(factor):
    exact = np.linalg.solve(B, X)
    W, R = factor.solve_block(X)
    np.testing.assert_allclose(W, exact, rtol=1e-14)
    np.testing.assert_array_equal(R, X)
    np.testing.assert_allclose(factor.solve(X[:, 0], None, None)[0], exact[:, 0], rtol=1e-14)
    np.testing.assert_allclose(factor.dual_norms(X), np.sqrt(np.einsum("ij,ij->j", X, exact)), rtol=1e-14)


def test_half_solves(factor):
    Y = factor.whiten(X)
    np.testing.assert_allclose(Y.T @ Y, X.T @ B @ X, rtol=1e-12)
    np.testing.assert_allclose(factor.unwhiten(Y), X, rtol=1e-14)
    np.testing.assert_allclose(factor.dual(Y[:, 0]), B @ X[:, 0], rtol=1e-14)
    root = np.sqrt(DIAGONAL)
    np.testing.assert_allclose(factor.whitened(lambda x: A @ x, X[:, 0]), A @ (X[:, 0] / root) / root, rtol=1e-12)


@pytest.mark.parametrize("entry", [0.0, -1.0])
def test_an_entry_that_is_not_positive(entry):
    with pytest.raises(NotPositiveDefinite):
        DiagonalFactor(sp.csr_array(np.diag([1.0, entry, 2.0])))


def test_is_diagonal():
    assert is_diagonal(sp.csr_array(B))
    assert not is_diagonal(sp.csr_array(B + np.eye(9, k=1)))
    # as many entries as rows, some of them elsewhere
    assert not is_diagonal(sp.csr_array(np.eye(9)[::-1]))
    assert not is_diagonal(sp.csr_array(np.diag(np.r_[np.ones(8), 0.0])))
