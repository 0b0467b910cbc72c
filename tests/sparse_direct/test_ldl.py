"""The sparse factor of an indefinite matrix: how many eigenvalues are negative, and solves."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pairs import grid
from splitmerge.sparse_direct.choice import indefinite_factors
from splitmerge.sparse_direct.cholesky import SparseFactor
from splitmerge.sparse_direct.ldl import SparseShifted
from strategies import dtypes, normal, seeds, sparse_definite


def check(K, like=None):
    factors = SparseShifted(K, like)
    b = normal(np.random.default_rng(0), (K.shape[0],), K.dtype).astype(K.dtype)
    w = factors.solve(b)
    assert w.dtype == K.dtype
    eps = np.finfo(K.dtype).eps
    allowed = 1e4 * eps * np.abs(K).max() * np.abs(w).max()
    np.testing.assert_allclose(K @ w, b, atol=allowed)
    # blocks are as accurate as vectors
    R = np.asfortranarray(np.column_stack([b, b[::-1], -b]))
    W = factors.solve(R)
    np.testing.assert_allclose(K @ W, R, atol=max(allowed, 1e4 * eps * np.abs(K).max() * np.abs(W).max()))
    # where LU has hidden the signs, nothing is said; what is said is right
    assert factors.negative in (None, (np.linalg.eigvalsh(K.toarray()) < 0).sum())
    return factors


@given(n=st.integers(2, 50), share=st.floats(0, 1), seed=seeds, dtype=dtypes)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_inertia(n, share, seed, dtype):
    """A definite matrix, moved by something between two of its eigenvalues."""
    B = sparse_definite(n, 10.0, np.random.default_rng(seed), dtype)
    values = np.linalg.eigvalsh(B.toarray())
    i = min(int(share * n), n - 2)
    check(sp.csr_array(B - (values[i] + values[i + 1]) / 2 * sp.eye_array(n)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("sigma", [-1.0, 0.33, 1.9, 9.0])
@pytest.mark.parametrize("ordered", [False, True])
def test_counts_of_a_grid(sigma, ordered, dtype):
    """Here the pivots are good enough without any choice among them, also in the order of another factor."""
    A = sp.csr_array(grid(10).astype(dtype))
    K = sp.csr_array((A - sigma * sp.eye_array(100)).astype(dtype))
    other = SparseFactor(sp.csr_array((A + sp.eye_array(100)).astype(dtype)), triangular=True)
    factors = check(K, other.factors if ordered else None)
    assert factors.negative == (np.linalg.eigvalsh(K.toarray()) < 0).sum()
    assert "with pivoting" not in factors.name


@pytest.mark.parametrize("dtype", [float, complex])
def test_without_a_diagonal(dtype):
    """Nothing to divide by without pivoting: LU solves, and the signs are not known, or are right."""
    C = np.diag(np.exp(1j * np.arange(20))) if dtype is complex else np.eye(20) + np.eye(20, k=1)
    check(sp.csr_array(np.block([[np.zeros((20, 20)), C], [C.conj().T, np.zeros((20, 20))]])))


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("small", [1e-4, 1e-7, 1e-9, 1e-11, 1e-13])
def test_small_entries_on_the_diagonal(dtype, small):
    """Without pivoting they cost digits: solves are accurate nevertheless, and a count is right or not given."""
    C = normal(np.random.default_rng(2), (20, 20), dtype) * (np.eye(20) + np.eye(20, k=1) + np.eye(20, k=-3))
    diagonal = small * np.linspace(1, 2, 20)
    check(sp.csr_array(np.block([[np.diag(diagonal), C], [C.conj().T, np.diag(-diagonal[::-1])]])))


def test_singular():
    with pytest.raises(ZeroDivisionError):
        SparseShifted(sp.csr_array(np.diag([1.0, 0.0, -1.0])))


class Rough:
    """Factors whose solves are wrong in the eighth digit."""

    def __init__(self, factors):
        self.factors, self.name, self.negative = factors, factors.name, factors.negative

    def solve(self, b):
        w = self.factors.solve(b)
        return w + 1e-8 * np.abs(w).max() * np.random.default_rng(1).standard_normal(w.shape)


@pytest.mark.parametrize("dtype", [float, complex])
def test_inaccurate_factors_are_refined(dtype, monkeypatch):
    """One step of refinement squares the error of a factorisation without pivoting; accurate factors need none."""
    K = sp.csr_array((grid(8) - 0.9 * sp.eye_array(64)).astype(dtype))
    assert not SparseShifted(K).refined
    factors = next(indefinite_factors(K))
    monkeypatch.setattr("splitmerge.sparse_direct.ldl.indefinite_factors", lambda K, like, reorder: [Rough(factors)])
    shifted = SparseShifted(K)
    assert shifted.refined
    assert shifted.negative == factors.negative
    w = np.random.default_rng(0).standard_normal(64).astype(dtype)
    np.testing.assert_allclose(shifted.solve(K @ w), w, atol=1e-12)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("sigma", [0.9, 2.0 + 1e-6])
def test_the_growth_of_pivots_has_no_unit(sigma, dtype):
    """It is relative to the entries; next to 2 the first pivot of the grid's elimination is tiny."""
    K = sp.csr_array((grid(8) - sigma * sp.eye_array(64)).astype(dtype))
    growth = SparseShifted(K).backward_error
    for factor in (2.0**-100, 2.0**100):
        assert SparseShifted(factor * K).backward_error == pytest.approx(growth)
