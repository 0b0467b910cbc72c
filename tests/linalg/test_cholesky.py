"""The dense Cholesky factor: what it solves, what it measures, and what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.linalg.cholesky import DenseFactor, check_condition
from splitmerge.sparse_direct.cholesky import SparseFactor
from strategies import definite, hermitian, normal

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
each_size = pytest.mark.parametrize("n", [1, 2, 7, 40])
each_width = pytest.mark.parametrize("columns", [1, 3])


def matrix(n, dtype, kappa=20.0, seed=0):
    return definite(n, kappa, np.random.default_rng(seed), dtype).astype(dtype)


def block(n, columns, dtype, seed=1):
    return np.asfortranarray(normal(np.random.default_rng(seed), (n, columns), dtype).astype(dtype))


def close(found, expected, dtype):
    assert found.dtype == dtype
    size = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, atol=500 * np.finfo(dtype).eps * size)


@each_dtype
@each_size
def test_factor(n, dtype):
    B = matrix(n, dtype)
    before = B.copy()
    U = DenseFactor(B).U
    close(U.conj().T @ U, B, dtype)
    assert not np.tril(U, -1).any()
    assert np.array_equal(B, before)


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda B: np.repeat(B, 2, axis=0)[::2]])
def test_layouts(layout):
    B = layout(matrix(9, np.complex128))
    U = DenseFactor(B).U
    close(U.conj().T @ U, B, B.dtype)


@each_dtype
@each_size
def test_solve(n, dtype):
    B, b = matrix(n, dtype), block(n, 1, dtype)[:, 0]
    before = b.copy()
    w, Bw = DenseFactor(B).solve(b, None, None)
    close(B @ w, b, dtype)
    assert np.array_equal(b, before)
    # an exact solver's product is its right-hand side
    assert np.array_equal(Bw, b)


@each_dtype
@each_size
@each_width
def test_solve_block(n, columns, dtype):
    B, R = matrix(n, dtype), block(n, columns, dtype)
    before = R.copy()
    W, BW = DenseFactor(B).solve_block(R)
    close(B @ W, R, dtype)
    assert np.array_equal(R, before)
    assert np.array_equal(BW, R)


@each_dtype
@each_size
@each_width
def test_whiten_and_unwhiten_undo_each_other(n, columns, dtype):
    factor, X = DenseFactor(matrix(n, dtype)), block(n, columns, dtype)
    close(factor.whiten(X.copy(order="F")), factor.U @ X, dtype)
    close(factor.unwhiten(factor.whiten(X.copy(order="F"))), X, dtype)
    close(factor.whiten(factor.unwhiten(X.copy(order="F"))), X, dtype)


@each_dtype
@each_width
def test_whitened_vectors_have_the_length_of_B(columns, dtype):
    B, X = matrix(12, dtype), block(12, columns, dtype)
    Y = DenseFactor(B).whiten(X)
    close(Y.conj().T @ Y, X.conj().T @ B @ X, dtype)


@each_dtype
def test_dual(dtype):
    B, x = matrix(12, dtype), block(12, 1, dtype)
    factor = DenseFactor(B)
    close(factor.dual(factor.whiten(x)[:, 0]), (B @ x)[:, 0], dtype)


@each_dtype
@each_size
@each_width
def test_dual_norms(n, columns, dtype):
    B, R = matrix(n, dtype), block(n, columns, dtype)
    expected = np.sqrt(np.einsum("ij,ij->j", R.conj(), np.linalg.solve(B, R)).real)
    np.testing.assert_allclose(DenseFactor(B).dual_norms(R), expected, rtol=200 * np.finfo(dtype).eps)


@each_dtype
def test_transformed(dtype):
    B = matrix(12, dtype)
    A = hermitian(normal(np.random.default_rng(2), (12, 12), dtype)).astype(dtype)
    factor = DenseFactor(B)
    inverse = np.linalg.inv(factor.U)
    expected = inverse.conj().T @ A @ inverse
    close(np.triu(factor.transformed(A.copy(order="F"))), np.triu(expected), dtype)
    y = block(12, 1, dtype)[:, 0]
    close(factor.whitened(lambda x: A @ x, y), expected @ y, dtype)


def test_a_narrower_factor():
    B = matrix(12, np.float64)
    factor = DenseFactor(B, np.dtype(np.float32))
    close(factor.U.T @ factor.U, B.astype(np.float32), np.float32)


class TestRefused:
    @pytest.mark.parametrize("dtype", [float, complex])
    @pytest.mark.parametrize("row", [0, 3, 7])
    def test_an_indefinite_matrix_by_its_pivot(self, row, dtype):
        """L D Lᴴ with one negative pivot, which is where it breaks down."""
        pivots = np.ones(8)
        pivots[row] = -0.25
        L = np.eye(8) + np.tril(normal(np.random.default_rng(0), (8, 8), dtype), -1)
        with pytest.raises(sm.NotPositiveDefinite, match=rf"pivot {row} .* is -0\.25; B is indefinite"):
            DenseFactor(hermitian((L * pivots) @ L.conj().T))

    @pytest.mark.parametrize("row", [0, 3, 7])
    @pytest.mark.parametrize("size", [1.0, 1e-8, 1e8])
    def test_a_singular_matrix_by_its_row(self, row, size):
        B = size * matrix(8, np.float64)
        B[row] = B[:, row] = 0
        with pytest.raises(sm.NotPositiveDefinite, match=rf"pivot {row} .*singular"):
            DenseFactor(B)

    def test_what_is_singular_but_for_rounding(self):
        X = np.random.default_rng(0).standard_normal((8, 6))
        with pytest.raises(sm.NotPositiveDefinite, match=r"pivot [67] "):
            DenseFactor(X @ X.T)
        # positive, and yet nothing but rounding
        with pytest.raises(sm.NotPositiveDefinite, match=r"pivot 1 .*singular"):
            DenseFactor(np.array([[1.0, 1.0], [1.0, 1 + 4 * np.finfo(float).eps]]))

    def test_a_bad_condition_is_none(self):
        """Rows of very different size are no sign of singularity."""
        B = np.diag(np.geomspace(1e-12, 1e12, 8))
        w, _ = DenseFactor(B).solve(np.ones(8), None, None)
        np.testing.assert_allclose(w, 1 / B.diagonal(), rtol=1e-14)


def nearly_singular(least):
    """A matrix whose least pivot is far above its least eigenvalue: UᵀU for Kahan's U."""
    n, c = 14, 0.9
    s = np.sqrt(1 - c * c)
    U = np.diag(s ** np.arange(n)) @ (np.eye(n) - c * np.triu(np.ones((n, n)), 1))
    B = U.T @ U
    return B + least * np.eye(n)


@pytest.mark.parametrize("make", [DenseFactor, lambda B: SparseFactor(sp.csr_array(B))], ids=["dense", "sparse"])
def test_a_pivot_may_be_clear_of_zero_while_the_matrix_is_not(make):
    """Its pivots are above rounding, its condition number is beyond it."""
    B = nearly_singular(0.0)
    assert np.linalg.cond(B) > 1e16
    with pytest.raises(sm.NotPositiveDefinite, match=r"condition number exceeds.*b_policy='restrict'"):
        make(B)
    make(nearly_singular(1e-12))


def test_condition_of_a_badly_scaled_matrix():
    """Scaling alone makes no matrix singular."""
    d = np.logspace(-12, 12, 20)
    B = d[:, None] * matrix(20, float) * d
    check_condition(lambda b: np.linalg.solve(B, b), B.diagonal())
