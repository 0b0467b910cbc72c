"""Square roots of semidefinite matrices by Cholesky factorisation with pivoting."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.linalg.cholesky import pivoted_root
from splitmerge.problem.adapt import adapt
from splitmerge.problem.b_policy import semidefinite_root


def semidefinite(n, rank, dtype, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rank))
    X = X + 1j * rng.standard_normal((n, rank)) if np.dtype(dtype).kind == "c" else X
    d = 10 ** rng.uniform(-3, 3, n)
    return (d[:, None] * (X @ X.conj().T) * d).astype(dtype)


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
@pytest.mark.parametrize(("n", "rank"), [(1, 1), (5, 2), (40, 40), (60, 7), (30, 29)])
def test_root(n, rank, dtype):
    B = semidefinite(n, rank, dtype)
    L = pivoted_root(B, 4)
    assert L.shape == (n, rank)
    assert L.dtype == B.dtype
    sizes = np.sqrt(B.diagonal().real)
    assert (np.abs(L @ L.conj().T - B) <= 100 * np.finfo(dtype).eps * np.outer(sizes, sizes)).all()


def test_zero_rows():
    B = np.zeros((6, 6))
    assert pivoted_root(B, 4).shape == (6, 0)
    B[1:3, 1:3] = [[2, 1], [1, 2]]
    L = pivoted_root(B, 4)
    assert L.shape == (6, 2)
    np.testing.assert_allclose(L @ L.T, B, atol=1e-15)


@pytest.mark.parametrize("dtype", [float, complex])
def test_a_sparse_matrix_by_component(dtype):
    blocks = [semidefinite(n, rank, dtype, seed=n) for n, rank in ((4, 2), (1, 1), (6, 6), (3, 1))]
    order = np.random.default_rng(0).permutation(14)
    B = sp.csr_array(sp.block_diag(blocks, format="csr"))[order][:, order]
    L = semidefinite_root(adapt(B, "B"))
    assert sp.issparse(L)
    assert L.shape == (14, 10)
    np.testing.assert_allclose((L @ L.conj().T).toarray(), B.toarray(), atol=1e-9 * abs(B).max())


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_nearest_to_a_shift_with_a_mass_of_low_rank(kind, dtype):
    """Whose null space is not spanned by unit vectors: the values are those of the pencil on the range of B."""
    n, rank = 240, 150
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, rank)) + (1j * rng.standard_normal((n, rank)) if dtype is complex else 0)
    B, G = X @ X.conj().T / n, rng.standard_normal((n, n))
    A = (G + G.T).astype(dtype)
    solution = sm.solve(kind(A), kind(B), k=4, sigma=0.3, method=sm.Accelerated(), rng=0)
    mu = np.linalg.eigvals(np.linalg.solve(A - 0.3 * B, B))
    expected = 0.3 + 1 / mu[np.argsort(-np.abs(mu))[:4]]
    np.testing.assert_allclose(np.sort(solution.eigenvalues), np.sort(expected.real), rtol=1e-7)
