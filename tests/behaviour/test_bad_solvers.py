"""Solvers and preconditioners that are wrong, or ask for entries that an operator does not have."""

import re

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse.linalg import LinearOperator

import splitmerge as sm
from checking import each_route, operator_of, refuse
from pairs import N, pair

# the entries of a smaller operator would be computed
LARGE = np.diag(np.arange(1.0, 1002.0)), np.diag(np.full(1001, 2.0))

each_with_inner = pytest.mark.parametrize("method", [sm.Accelerated, sm.SplitMerge, sm.Power])


def test_a_preconditioner_names_the_operator_whose_entries_it_needs():
    """For the smallest it is that of A."""
    A, B = LARGE
    method = sm.LocallyOptimal(sm.Diagonal())
    refuse("entries of A, but A is matrix-free", operator_of(A), B, which="smallest", method=method)
    refuse("entries of B, but B is matrix-free", A, operator_of(B), which="largest", method=method)


class TestSolvers:
    @pytest.mark.parametrize(
        "function",
        [lambda b: b, lambda b: 2 * b, lambda b: np.zeros_like(b), lambda b: np.full_like(b, np.nan)],
        ids=["identity", "double", "zero", "nan"],
    )
    @each_with_inner
    def test_user_solve_with_a_wrong_function(self, method, function):
        refuse("UserSolve", *pair(), method=method(inner=sm.UserSolve(function)))

    @each_with_inner
    def test_user_solve_right_for_ones_only(self, method):
        A, B = pair()
        w = np.linalg.solve(B, np.ones(N))
        refuse("UserSolve", A, B, method=method(inner=sm.UserSolve(lambda b: w * b.sum() / N)))

    @each_with_inner
    def test_an_exact_one_for_a_badly_scaled_B(self, method):
        """It solves with the B that was given, not with the equilibrated one."""
        A, B = pair()
        d = np.geomspace(1, 1e4, N)
        A, B = (d[:, None] * M * d for M in (A, B))
        inner = sm.UserSolve(lambda b: np.linalg.solve(B, b))
        sol = sm.solve(A, B, method=method(inner=inner), rng=0)
        exact = scipy.linalg.eigh(A, B, eigvals_only=True)[-1]
        assert sol.eigenvalues[0] == pytest.approx(exact, rel=1e-8)
        Minv = LinearOperator(B.shape, matvec=inner.function, dtype=float)
        assert sm.eigsh(A, 1, M=B, Minv=Minv, which="LA")[0][0] == pytest.approx(exact, rel=1e-8)

    @pytest.mark.parametrize(
        "function", [lambda b: b[:-1], lambda b: b[:, None], lambda b: 1.0], ids=["short", "column", "scalar"]
    )
    @each_with_inner
    def test_user_solve_with_a_wrong_shape(self, method, function):
        refuse("UserSolve.*shape", *pair(), method=method(inner=sm.UserSolve(function)))

    @pytest.mark.parametrize("function", [lambda b: None, lambda b: "x", None, 3], ids=["None", "str", "none", "int"])
    @each_with_inner
    def test_user_solve_without_a_vector(self, method, function):
        with pytest.raises(ValueError, match="UserSolve"):
            sm.solve(*pair(), method=method(inner=sm.UserSolve(function)))

    @each_with_inner
    def test_cholesky_of_an_operator(self, method):
        A, B = pair()
        refuse("entries of B", A, operator_of(B), method=method(inner=sm.Cholesky()))

    @pytest.mark.parametrize(
        "preconditioner",
        [sm.Diagonal(), sm.IncompleteCholesky(), sm.LowRank(2), sm.Exact(), sm.SquareRoot()],
        ids=repr,
    )
    @each_with_inner
    def test_preconditioner_of_an_operator(self, method, preconditioner):
        A, B = pair()
        inner = sm.ConjugateGradient(preconditioner=preconditioner)
        refuse("entries|diagonal", A, operator_of(B), method=method(inner=inner))

    def test_mirror_descent_on_an_operator(self):
        A, B = LARGE
        refuse("entries|diagonal", A, operator_of(B), method=sm.MirrorDescent())

    def test_trace_bound_of_an_operator(self):
        A, B = LARGE
        message = refuse("diagonal", A, operator_of(B), method=sm.GradientDescent(curvature=sm.TraceBound()))
        assert re.search(r"\bB\b", message)

    def test_trace_bound_with_a_preconditioner(self):
        method = sm.MirrorDescent(preconditioner=sm.Diagonal(), stepsize=sm.Sampled(), curvature=sm.TraceBound())
        refuse("TraceBound", *pair(), method=method)

    @each_route
    def test_an_operator_that_fails_later(self, method):
        """NaN at the tenth product of A is reported as such, not iterated upon."""
        A, B = pair(40)
        calls = [0]

        def product(x):
            calls[0] += 1
            return A @ x if calls[0] < 10 else np.full(40, np.nan)

        with pytest.raises(ValueError, match=r"^A\b.*NaN"):
            sm.solve(LinearOperator((40, 40), matvec=product, dtype=float), B, method=method, rng=0)
