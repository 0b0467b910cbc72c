"""Preconditioners in any units, precision and format: (PᴴP)⁻¹ of c·B is that of B over c."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from pairs import grid, pair_of
from splitmerge.preconditioners import UserDiagonal
from splitmerge.problem.pencil import Pencil

N = 18
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
PRECONDITIONERS = {
    "Exact": sm.Exact(),
    "SquareRoot": sm.SquareRoot(),
    "Diagonal": sm.Diagonal(),
    "LowRank": sm.LowRank(3),
    "IncompleteCholesky": sm.IncompleteCholesky(),
    "UserDiagonal": UserDiagonal(np.linspace(1, 3, N)),
}
SPARSE_ONLY = {"IncompleteCholesky"}


def mass(dtype):
    B = pair_of(np.arange(1.0, N + 1), dtype=np.result_type(dtype, np.float64))[1]
    return (np.diag(np.linspace(1, 2, N)) + B).astype(dtype)


def action(P, dtype):
    return np.column_stack([P.gram_solve(e) for e in np.eye(N, dtype=dtype)])


def prepared(name, B, kind):
    kind = sp.csr_array if name in SPARSE_ONLY else kind
    return PRECONDITIONERS[name].prepare(Pencil(kind(np.eye(N, dtype=B.dtype)), kind(B)))


@each_dtype
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", PRECONDITIONERS)
def test_units(name, kind, dtype):
    """Hermitian and positive definite, too; and a block is its columns."""
    B, tol = mass(dtype), 1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-10
    P = prepared(name, B, kind)
    M = action(P, dtype)
    assert M.dtype == dtype
    size = np.abs(M).max()
    np.testing.assert_allclose(M, M.conj().T, rtol=0, atol=tol * size)
    assert np.linalg.eigvalsh((M + M.conj().T) / 2)[0] > 0
    R = np.asfortranarray(M[:, :4])
    np.testing.assert_allclose(P.gram_block(R), M @ R, rtol=0, atol=10 * tol * size**2)
    if name in ("Exact", "SquareRoot"):
        np.testing.assert_allclose(M @ B, np.eye(N), atol=10 * tol)
    for unit in () if name == "UserDiagonal" else (1e-4, 1e4):
        scaled = action(prepared(name, B * dtype(unit), kind), dtype)
        np.testing.assert_allclose(scaled * unit, M, rtol=0, atol=20 * tol * size)


@each_dtype
def test_the_diagonal_is_that_of_B(dtype):
    B = mass(dtype)
    np.testing.assert_allclose(action(prepared("Diagonal", B, np.asarray), dtype), np.diag(1 / B.diagonal()), rtol=1e-5)
    found = action(prepared("UserDiagonal", B, np.asarray), dtype)
    np.testing.assert_allclose(found, np.diag(1 / np.linspace(1, 3, N)), rtol=1e-5)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("rank", [1, 2, 4])
def test_low_rank_keeps_leading_pairs_and_the_trace(dtype, rank):
    """Of D^-½BD^-½; the other eigenvalues become their mean."""
    B = mass(dtype)
    B += 30 * np.outer(B[:, 0], B[:, 0].conj()) + 10 * np.outer(B[:, 1], B[:, 1].conj())
    P = sm.LowRank(rank).prepare(Pencil(np.eye(N), B))
    root = np.sqrt(B.diagonal().real)
    values, vectors = np.linalg.eigh(B / root[:, None] / root)
    mean = values[:-rank].mean()
    values[:-rank] = mean
    expected = root[:, None] * ((vectors * values) @ vectors.conj().T) * root
    np.testing.assert_allclose(np.linalg.inv(action(P, dtype)), expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["Exact", "SquareRoot", "Diagonal", "LowRank", "IncompleteCholesky"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
class TestRefused:
    def test_a_row_by_its_number(self, name, kind):
        B = mass(float)
        B[5, 5] = -1.0
        with pytest.raises(sm.NotPositiveDefinite, match=r"B is (not positive definite|indefinite)") as caught:
            prepared(name, B, kind)
        if name not in ("Exact", "SquareRoot"):
            assert "diagonal entry 5 (from 0) is -1;" in str(caught.value)

    def test_an_operator(self, name, kind):
        with pytest.raises(ValueError, match=r"needs the entries of B, but B is matrix-free; give B as a matrix"):
            PRECONDITIONERS[name].prepare(Pencil(np.eye(N), aslinearoperator(mass(float))))

    def test_the_identity_needs_none(self, name, kind):
        P = PRECONDITIONERS[name].prepare(Pencil(kind(mass(float))))
        assert P.exact
        np.testing.assert_array_equal(P.gram_solve(np.arange(4.0)), np.arange(4.0))


class TestMultiGrid:
    K = sp.csr_array(grid(24))

    @pytest.mark.parametrize("unit", [1e-30, 1e-3, 1.0, 1e30])
    @pytest.mark.parametrize("dtype", [float, complex, np.float32])
    def test_units(self, unit, dtype):
        unit = 1.0 if dtype is np.float32 else unit
        b = np.random.default_rng(0).standard_normal((576, 3)).astype(dtype)
        K = self.K.astype(dtype)
        plain, scaled = (sm.MultiGrid().prepare(Pencil(M, M)) for M in (K, K * dtype(unit)))
        first, second = plain.gram_block(b), scaled.gram_block(b) * scaled_by(K * dtype(unit)) / scaled_by(K)
        np.testing.assert_allclose(second * unit, first, rtol=0, atol=1e-4 * np.abs(first).max())
        assert first.dtype == dtype

    def test_the_coarse_pair(self):
        """PᴴAP and PᴴBP, with what is left of the hierarchy; None without a further level."""
        K = sp.csr_array(grid(60))
        M = sp.csr_array(sp.diags_array(np.linspace(1, 2, K.shape[0])))
        fine = sm.MultiGrid().prepare(Pencil(K, K))
        pair, cycle, P = fine.coarser(Pencil(K, M))
        assert P.shape[0] == K.shape[0] > P.shape[1] == pair.n
        for found, given in ((pair.A, K), (pair.B, M)):
            np.testing.assert_allclose(
                found.matrix.toarray() / found.scale, (P.T @ given @ P).toarray(), rtol=1e-12, atol=1e-12
            )
        assert 0 < cycle.work < fine.work
        b = np.ones(pair.n)
        assert b @ cycle.gram_solve(b) > 0
        (identity, _, _) = fine.coarser(Pencil(K))
        np.testing.assert_allclose(identity.B.matrix.toarray(), (P.T @ P).toarray(), atol=1e-12)
        assert (
            sm.MultiGrid().prepare(Pencil(sp.csr_array(grid(8)), sp.csr_array(grid(8)))).coarser(Pencil(K, M)) is None
        )


def scaled_by(M):
    """What a pencil multiplies it by."""
    return Pencil(M, M).B.scale
