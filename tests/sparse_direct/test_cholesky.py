"""The sparse factor of a definite matrix: solves, and what it refuses."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import splitmerge as sm
from pairs import grid
from splitmerge.sparse_direct.backends import superlu
from splitmerge.sparse_direct.cholesky import SparseFactor
from strategies import dtypes, normal, seeds, sparse_definite


@given(n=st.integers(1, 60), log_kappa=st.floats(0, 4), seed=seeds, dtype=dtypes, triangular=st.booleans())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_solves(n, log_kappa, seed, dtype, triangular):
    rng = np.random.default_rng(seed)
    B = sparse_definite(n, 10**log_kappa, rng, dtype)
    factor = SparseFactor(B, triangular=triangular)
    R = normal(rng, (n, 3), dtype)
    before = R.copy()
    w, Bw = factor.solve(np.ascontiguousarray(R[:, 0]), None, None)
    W, BW = factor.solve_block(R)
    scale = 1e-12 * np.abs(B).max() * max(np.abs(W).max(), np.abs(w).max())
    np.testing.assert_allclose(B @ w, R[:, 0], atol=scale)
    np.testing.assert_allclose(B @ W, R, atol=scale)
    assert np.array_equal(R, before)
    assert np.array_equal(Bw, R[:, 0])
    assert np.array_equal(BW, R)
    assert 0 < factor.least <= 1 + 1e-12
    assert factor.factors.negative == 0


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision_stays_single(dtype):
    B = sp.csr_array((grid(9) + sp.eye_array(81)).astype(dtype))
    w, _ = SparseFactor(B).solve(np.ones(81, dtype), None, None)
    assert w.dtype == dtype
    np.testing.assert_allclose(B @ w, np.ones(81), atol=1e-4)


def test_least_pivot():
    """The last pivot of [[1, c], [c, 1]] is 1 − c², whichever comes first."""
    B = sp.csr_array(np.array([[1.0, 0.9], [0.9, 1.0]]))
    np.testing.assert_allclose(SparseFactor(B, triangular=True).least, 1 - 0.81, rtol=1e-12)


def test_an_order_serves_matrices_with_few_more_entries():
    factor = SparseFactor(sp.csr_array(grid(9) + sp.eye_array(81)))
    assert factor.serves(grid(9))
    assert not factor.serves(sp.csr_array(grid(9) @ grid(9)))


class TestRefused:
    @pytest.mark.parametrize("triangular", [False, True])
    @pytest.mark.parametrize("value", [0.0, -1.0])
    @pytest.mark.parametrize("row", [0, 40, 80])
    def test_a_bad_row_by_its_number(self, row, value, triangular):
        B = sp.lil_array(grid(9) + sp.eye_array(81))
        B[row, :] = 0
        B[:, row] = 0
        B[row, row] = value
        with pytest.raises(sm.NotPositiveDefinite, match=rf"pivot {row} "):
            SparseFactor(sp.csr_array(B), triangular=triangular)

    @pytest.mark.parametrize("ordering", ["minimum degree", "nested dissection"])
    @pytest.mark.parametrize("dtype", [float, complex])
    @pytest.mark.parametrize("triangular", [False, True])
    def test_a_singular_block_by_one_of_its_rows(self, triangular, dtype, ordering, monkeypatch):
        """In the order of B, not in that of the elimination."""
        if ordering == "nested dissection":
            pytest.importorskip("pymetis")
            monkeypatch.setattr(superlu, "NESTED_DISSECTION_MIN_ROWS", 1)
            monkeypatch.setattr(superlu, "narrow_profile", lambda B: None)
        rng = np.random.default_rng(0)
        for _ in range(4):
            rows = rng.choice(81, 2, replace=False)
            B = sp.lil_array(grid(9).astype(dtype) + sp.eye_array(81))
            B[rows, :] = B[:, rows] = 0
            B[rows, rows] = 3
            B[rows[0], rows[1]], B[rows[1], rows[0]] = (3j, -3j) if dtype is complex else (3, 3)
            B = sp.csr_array(B)
            assert superlu.symmetric_lu(sp.csr_array(B + sp.eye_array(81))).name == f"SuperLU ({ordering})"
            with pytest.raises(sm.NotPositiveDefinite, match="singular") as caught:
                SparseFactor(B, triangular=triangular)
            assert int(re.search(r"row (\d+) from 0", str(caught.value))[1]) in rows

    @pytest.mark.parametrize("shift", [1e-8, 1e-2, 1.0])
    def test_an_indefinite_matrix(self, shift):
        """Its diagonal is positive: the sign shows in the factors only."""
        lowest = np.linalg.eigvalsh(grid(9).toarray())[0]
        with pytest.raises(sm.NotPositiveDefinite, match=r"pivot \d+ .*(indefinite|singular)"):
            SparseFactor(sp.csr_array(grid(9) - (lowest + shift) * sp.eye_array(81)))

    def test_the_laplacian_of_a_free_grid_is_singular(self):
        with pytest.raises(sm.NotPositiveDefinite, match=r"pivot \d+ "):
            SparseFactor(grid(9, free=True))
