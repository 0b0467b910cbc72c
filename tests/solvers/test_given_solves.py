"""Solvers for B in every coordinate system, unit and dtype, and what they say of themselves."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from checking import operator_of
from pairs import grid, pair_of
from splitmerge.preconditioners import Diagonal, UserDiagonal
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.products import Products
from splitmerge.solvers.conjugate_gradient import roughly_solved
from splitmerge.solvers.shifted import Minres

N = 16
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])


def some(dtype, spread=0, unit=1.0, n=N):
    """A pencil whose rows may be of several sizes, with its B."""
    A, B = pair_of(np.arange(1.0, n + 1), dtype=np.result_type(dtype, np.float64))
    d = np.exp2(np.round(np.linspace(-spread, spread, n)))
    A, B = (unit * d[:, None] * M * d for M in (A, B))
    return Pencil(A.astype(dtype), B.astype(dtype), equilibrate=True), B


def vectors(dtype, count=3, n=N):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((n, count)) + (1j * rng.standard_normal((n, count)) if np.dtype(dtype).kind == "c" else 0)
    return np.asfortranarray(X.astype(dtype))


def near(found, expected, dtype):
    tol = 2e-3 if np.finfo(dtype).eps > 1e-10 else 1e-8
    np.testing.assert_allclose(found, expected, rtol=0, atol=tol * np.abs(expected).max())
    assert found.dtype == dtype


SOLVERS = {
    "Cholesky": lambda B: sm.Cholesky(),
    "CG": lambda B: sm.ConjugateGradient(None, tol=1e-13),
    "CG, diagonal": lambda B: sm.ConjugateGradient(None, Diagonal(), tol=1e-13),
    "CG, exact": lambda B: sm.ConjugateGradient(None, sm.Exact(), tol=1e-13),
    "CG, user": lambda B: sm.ConjugateGradient(None, UserDiagonal(B.diagonal().real), tol=1e-13),
    "UserSolve": lambda B: sm.UserSolve(lambda b: np.linalg.solve(B, b)),
}


@each_dtype
@pytest.mark.parametrize(("unit", "spread"), [(1.0, 0), (1e-6, 5), (1e6, 5)])
@pytest.mark.parametrize("name", SOLVERS)
class TestSolve:
    def test_a_vector_and_its_product(self, name, dtype, unit, spread):
        """B w = b for the B of the pencil, from wherever it begins; the right-hand side stays as it was."""
        pencil, B = some(dtype, spread, unit)
        assert (pencil.scaling is not None) == (spread > 0)
        solver = SOLVERS[name](B).prepare(pencil)
        b, guess = (np.ascontiguousarray(x) for x in vectors(dtype, 2).T)
        before = b.copy()
        for start, product in ((None, None), (guess, pencil.B.times(guess))):
            w, Bw = solver.solve(b, start, product)
            near(w, np.linalg.solve(pencil.B.matrix, b), dtype)
            near(Bw, pencil.B.times(w), dtype)
            assert np.array_equal(b, before)

    def test_columns(self, name, dtype, unit, spread):
        pencil, B = some(dtype, spread, unit)
        R = vectors(dtype) * np.array([1e-8, 1.0, 1e8], dtype)
        W, BW = SOLVERS[name](B).prepare(pencil).solve_block(R.copy(order="F"))
        for j in range(3):
            near(W[:, j], np.linalg.solve(pencil.B.matrix, R[:, j]), dtype)
            near(BW[:, j], R[:, j], dtype)


class TestSteps:
    """A cap ends a solve, and a tolerance is relative to the residual of the guess."""

    pencil, B = some(float)

    @pytest.mark.parametrize("most", [1, 2, 5])
    def test_at_most(self, most):
        products = Products(self.pencil)
        w, Bw = sm.ConjugateGradient(most, tol=1e-15).prepare(products).solve(np.ones(N), None, None)
        assert products.counts.B_products == most
        np.testing.assert_allclose(Bw, self.B @ w, atol=1e-12)
        assert np.linalg.norm(np.ones(N) - self.B @ w) > 1e-10

    @pytest.mark.parametrize("tol", [1e-2, 1e-6, 1e-10])
    @pytest.mark.parametrize("size", [1e-5, 1.0, 1e5])
    def test_no_more_than_the_tolerance_takes(self, tol, size):
        solver = sm.ConjugateGradient(None, tol=tol).prepare(Products(self.pencil))
        w, _ = solver.solve(size * np.ones(N), None, None)
        residual = np.linalg.norm(size * np.ones(N) - self.B @ w)
        assert residual <= 1.01 * tol * size * N**0.5
        # and relative to that of a guess
        guess = np.linalg.solve(self.B, size * np.ones(N)) + 1e-3 * size * vectors(float)[:, 0]
        first = np.linalg.norm(size * np.ones(N) - self.B @ guess)
        w, _ = solver.solve(size * np.ones(N), guess, self.B @ guess)
        residual = np.linalg.norm(size * np.ones(N) - self.B @ w)
        assert residual <= max(1.01 * tol * first, 1e-13 * size)

    @pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
    def test_roughly(self, size):
        """Fifty steps, or ten digits."""
        products = Products(self.pencil)
        R = size * vectors(float)
        W, BW = roughly_solved(products, R)
        np.testing.assert_allclose(self.B @ W, R, atol=1e-8 * size)
        np.testing.assert_allclose(BW, self.B @ W, atol=1e-8 * size)
        hard = sp.csr_array(grid(300, 1))
        products = Products(Pencil(hard, hard))
        W, BW = roughly_solved(products, np.eye(300)[:, :2])
        assert products.counts.B_products == 2 * 50
        np.testing.assert_allclose(BW, hard @ W, atol=1e-12)

    def test_a_preconditioner_saves_steps(self):
        spread = np.geomspace(1, 1e6, 60)
        B = np.diag(spread) + 0.1 * np.eye(60, k=1) + 0.1 * np.eye(60, k=-1)
        made = {}
        for name, given, P in (
            ("none", operator_of(B), None),
            ("its diagonal", B, None),
            ("the user's", operator_of(B), UserDiagonal(spread)),
            ("exact", B, sm.Exact()),
        ):
            products = Products(Pencil(np.eye(60), given))
            sm.ConjugateGradient(None, P, tol=1e-10).prepare(products).solve(np.ones(60), None, None)
            made[name] = products.counts.B_products
            assert products.counts.P_solves == 0 if name == "none" else products.counts.P_solves >= made[name]
        assert made["exact"] == 1
        assert made["its diagonal"] == made["the user's"] < made["none"] / 2


class TestDescribed:
    B = pair_of(np.arange(1.0, 9.0))[1]

    @pytest.mark.parametrize(
        ("solver", "given", "said"),
        [
            (sm.Cholesky(), np.asarray, "a Cholesky factorisation of B"),
            (sm.Cholesky(), sp.csr_array, "a Cholesky factorisation of B"),
            (sm.Cholesky(), lambda B: sp.diags_array(B.diagonal(), format="csr"), "its diagonal"),
            (sm.ConjugateGradient(), np.asarray, "at most 30 steps a solve, preconditioned by Diagonal()"),
            (sm.ConjugateGradient(7), aslinearoperator, "at most 7 steps a solve, not preconditioned"),
            (sm.ConjugateGradient(None), sp.csr_array, "as many steps as that takes, preconditioned by Diagonal()"),
            (sm.ConjugateGradient(9, sm.Exact()), np.asarray, "at most 9 steps a solve, preconditioned by Exact()"),
            (sm.UserSolve(np.copy), np.asarray, "the solve with B that the caller supplied"),
        ],
        ids=lambda given: given if isinstance(given, str) else type(given).__name__,
    )
    def test_in_words(self, solver, given, said):
        found = solver.describe(Pencil(np.eye(8), given(self.B)))
        assert found == (f"conjugate gradients on B, {said}" if "step" in said else said)

    def test_the_option_is_what_is_used(self):
        solver = sm.ConjugateGradient(9, sm.LowRank(2)).prepare(Pencil(np.eye(8), self.B))
        assert type(solver.P).__name__ == "_LowRank"
        assert sm.ConjugateGradient(9).prepare(Pencil(np.eye(8), aslinearoperator(self.B))).P is None


class TestUserSolve:
    B = pair_of(np.arange(1.0, 9.0))[1]

    @pytest.mark.parametrize(("error", "fine"), [(1e-12, True), (3e-9, True), (1e-7, False), (1.0, False)])
    def test_it_is_checked(self, error, fine):
        """Up to the root of the precision."""
        solver = sm.UserSolve(lambda b: np.linalg.solve(self.B, b) * (1 + error))
        if fine:
            solver.prepare(Pencil(np.eye(8), self.B))
            return
        with pytest.raises(ValueError, match=r"^the function of UserSolve does not solve with B"):
            solver.prepare(Pencil(np.eye(8), self.B))

    def test_one_that_overwrites_its_argument(self):
        def solve(b):
            b[:] = np.linalg.solve(self.B, b)
            return b

        solver = sm.UserSolve(solve).prepare(Pencil(np.eye(8), self.B))
        b = np.ones(8)
        w, Bw = solver.solve(b, None, None)
        assert np.array_equal(b, np.ones(8))
        np.testing.assert_allclose(self.B @ w, Bw, rtol=1e-12)

    @pytest.mark.parametrize("answer", [np.ones(3), np.ones((8, 1)), np.array(["a"] * 8)], ids=str)
    def test_a_wrong_answer(self, answer):
        with pytest.raises(ValueError, match=r"^the function of UserSolve gave shape"):
            sm.UserSolve(lambda _: answer).prepare(Pencil(np.eye(8), self.B))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.float32])
@pytest.mark.parametrize("sigma", [-1.0, 0.0, 4.3])
@pytest.mark.parametrize("identity", [False, True])
def test_minres(dtype, sigma, identity):
    """(A − σB)⁻¹b by products alone, counted as such."""
    A, B = (M.astype(dtype) for M in pair_of(np.arange(1.0, 11.0), dtype=np.result_type(dtype, np.float64)))
    products = Products(Pencil(operator_of(A), None if identity else operator_of(B)))
    K = A - dtype(sigma) * (np.eye(10) if identity else B)
    b = vectors(dtype, n=10)[:, 0].copy()
    w = Minres(products, sigma).solve(b)
    near(w, np.linalg.solve(K, b), dtype)
    assert products.counts.A_products > 0
    assert products.counts.B_products == (0 if identity else products.counts.A_products)


def test_minres_that_does_not_converge():
    """A singular matrix and a right-hand side with a part outside of its range."""
    products = Products(Pencil(operator_of(np.diag(np.r_[np.zeros(2), np.arange(1.0, 9.0)]))))
    with pytest.raises(ValueError, match="minres did not converge"):
        Minres(products, 0.0).solve(np.ones(10))
