"""What sparse factors say of themselves, in any units: products of their parts, pivots, inertia, and who is refused."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from pairs import grid, pair_of
from splitmerge.sparse_direct.backends.qdldl import unpivoted
from splitmerge.sparse_direct.backends.superlu import symmetric_lu
from splitmerge.sparse_direct.cholesky import SparseFactor
from splitmerge.sparse_direct.diagonal import DiagonalFactor
from splitmerge.sparse_direct.ldl import SparseShifted

GRID = sp.csr_array(grid(9))
UNITS = [1e-120, 1.0, 1e9]
MAKERS = {
    "QDLDL": unpivoted,
    "SuperLU": symmetric_lu,
    "SuperLU in a given order": lambda K: symmetric_lu(K, np.random.default_rng(0).permutation(K.shape[0])),
}


def hermitian(dtype, sigma=0.0):
    """A grid whose edges have phases."""
    K = GRID.astype(dtype) - sigma * sp.eye_array(81)
    if np.dtype(dtype).kind == "c":
        phase = sp.diags_array(np.exp(1j * np.arange(81.0)))
        K = phase @ K @ phase.conj()
    return sp.csr_array(K.astype(dtype))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("sigma", [0.0, 2.7])
@pytest.mark.parametrize(("name", "dtype"), [(name, float) for name in MAKERS] + [("SuperLU", complex)])
def test_parts(name, dtype, sigma, unit):
    """Π K Πᵀ = L D Lᴴ; the pivots show the inertia, and the least one relative to its diagonal entry."""
    K = hermitian(dtype, sigma) * unit
    factors, M = MAKERS[name](K), K.toarray()
    L, order = factors.L.toarray(), factors.order
    np.testing.assert_allclose(
        (L * factors.pivots) @ L.conj().T, M[np.ix_(order, order)], rtol=0, atol=1e-12 * unit * 8
    )
    assert factors.negative == (np.linalg.eigvalsh(M / unit) < 0).sum()
    assert factors.least == pytest.approx((factors.pivots / np.abs(M.diagonal()[order])).min())
    b = np.random.default_rng(1).standard_normal((81, 3)).astype(dtype)
    for x in (b, b[:, 0]):
        np.testing.assert_allclose(M @ factors.solve(np.asfortranarray(x)), x, atol=1e-9)
    assert factors.nonzeros == pytest.approx(np.count_nonzero(L), rel=0.1)
    if name == "QDLDL":
        heights = (L != 0).sum(axis=0)
        assert (factors.nonzeros, factors.flops) == (heights.sum(), (heights.astype(float) ** 2).sum())


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize(("sigma", "unit"), [(0.05, 1.0), (2.7, 1e-6), (2.7, 1e6), (9.0, 1.0)])
def test_inertia_and_error(dtype, sigma, unit):
    K = hermitian(dtype, sigma)
    expected = int((np.linalg.eigvalsh(K.toarray().astype(complex)) < 0).sum())
    factor = SparseShifted(sp.csr_array((K * dtype(unit)).astype(dtype)))
    assert factor.negative in (expected, None)
    assert factor.negative is not None or dtype in (np.float32, np.complex64)
    assert 0.1 < factor.backward_error < 1e4
    x = np.random.default_rng(0).standard_normal(81).astype(dtype)
    w = factor.solve(K @ x * dtype(unit))
    np.testing.assert_allclose(w, x, rtol=0, atol=(1e-2 if np.finfo(dtype).eps > 1e-10 else 1e-10) * np.abs(x).max())


@pytest.mark.parametrize("decades", [0, 6, 14])
@pytest.mark.parametrize("unit", [1e-100, 1e100])
@pytest.mark.parametrize("triangular", [False, True])
@pytest.mark.parametrize("dtype", [float, complex])
def test_masses_over_many_decades_are_definite(decades, unit, triangular, dtype):
    """Each pivot is compared with the diagonal entry of its own row."""
    M = sp.csr_array((sp.diags_array(np.full(81, 6.0)) - GRID / 2).astype(dtype))
    d = sp.diags_array(np.logspace(0, decades / 2, 81)[np.random.default_rng(0).permutation(81)])
    B = sp.csr_array(d @ M @ d) * unit
    factor = SparseFactor(B, triangular=triangular)
    assert 0.1 < factor.least <= 1
    x = np.ones(81, dtype)
    np.testing.assert_allclose(factor.solve(B @ x, None, None)[0], x, rtol=1e-8)
    # and with a null vector it is refused in the same units
    free = sp.csr_array((GRID - sp.diags_array(GRID.sum(axis=1))).astype(dtype))
    with pytest.raises(sm.NotPositiveDefinite):
        SparseFactor(sp.csr_array(d @ free @ d) * unit, triangular=triangular)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_lumped_mass(dtype, unit):
    """The same operations as of a dense factor: norms and solves in the units of B."""
    b = np.linspace(1, 4, 12) * unit
    factor = DiagonalFactor(sp.csr_array(sp.diags_array(b.astype(dtype))))
    A = pair_of(np.arange(1.0, 13.0), dtype=np.result_type(dtype, np.float64))[0].astype(dtype)
    X = np.asfortranarray(A[:, :3])
    close = {"rtol": 1e-4 if dtype is np.float32 else 1e-12}
    np.testing.assert_allclose(factor.solve_block(X)[0], X / b[:, None], **close)
    np.testing.assert_allclose(factor.solve(X[:, 0], None, None)[0], X[:, 0] / b, **close)
    np.testing.assert_allclose(factor.dual_norms(X), np.sqrt((np.abs(X) ** 2 / b[:, None]).sum(axis=0)), **close)
    np.testing.assert_allclose(factor.whiten(X), np.sqrt(b)[:, None] * X, **close)
    np.testing.assert_allclose(factor.unwhiten(X), X / np.sqrt(b)[:, None], **close)
    np.testing.assert_allclose(factor.dual(X[:, 0]), np.sqrt(b) * X[:, 0], **close)
    whitened = factor.whitened(lambda x: A @ x, X[:, 1].copy())
    np.testing.assert_allclose(whitened, (A @ (X[:, 1] / np.sqrt(b))) / np.sqrt(b), rtol=1e-3)


def test_an_order_is_reused_only_where_it_serves():
    """Up to a fifth more entries of the sum; by minimum degree, no further ones."""
    factor = SparseFactor(sp.csr_array(GRID + sp.eye_array(81)))
    assert factor.serves(GRID)
    assert factor.serves(sp.csr_array(sp.eye_array(81)))
    corner = sp.lil_array(GRID)
    corner[0, 80] = corner[80, 0] = 1.0
    assert factor.serves(sp.csr_array(corner))
    # few entries, but elsewhere
    assert not factor.serves(sp.csr_array(np.fliplr(np.eye(81))) + sp.csr_array(np.roll(np.eye(81), 40, axis=0)))
    assert factor.orders(GRID)
    assert not factor.orders(sp.csr_array(corner))
    dense = sp.csr_array(np.ones((81, 81)))
    assert not factor.serves(dense)
    assert not factor.orders(dense)
