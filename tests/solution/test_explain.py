"""What a solution says about itself in words."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from checking import choices, each_method, each_route, each_solver, figures_of, operator_of, partial
from pairs import EASY, HARD, shifted_pair
from splitmerge import Reason


class TestExplain:
    @each_method
    def test_method_and_solver(self, method):
        text = sm.solve(*EASY, method=method, rng=0).explain()
        assert type(method).__name__ in text
        assert "Cholesky" in text
        assert "Residual" in text
        assert ("probed" if isinstance(method, sm.Accelerated) else "unchecked") in text

    def test_default(self):
        small, large = sm.solve(*EASY, rng=0), sm.solve(*sm.gallery.synthetic_pair(256, 10, rng=0), rng=0)
        assert "LAPACK" in small.explain()
        assert small.method is None
        assert small.verdict == "certified"
        assert "Accelerated" in large.explain()
        assert large.method == sm.Accelerated()

    def test_conjugate_gradients(self):
        A, B = EASY
        method = sm.Power(inner=sm.ConjugateGradient(max_steps=17))
        text = sm.solve(A, sp.csr_array(B), method=method, rng=0).explain()
        assert "conjugate gradients" in text
        assert "17" in text

    @each_solver
    def test_operator_B(self, method):
        A, B = EASY
        sol = sm.solve(A, operator_of(B), method=method, rng=0)
        # the default computes the entries of a small operator
        assert ("FORMED_B" in choices(sol)) == isinstance(method, sm.Accelerated)
        solver = figures_of(sol, "SOLVER")["solver"]
        assert ("conjugate gradients" in solver) != isinstance(method, sm.Accelerated)
        assert "preconditioned by" not in solver, "the diagonal of an operator is not known"

    @pytest.mark.parametrize("method", [sm.Accelerated, sm.Power])
    def test_user_solve(self, method):
        A, B = EASY
        method = method(inner=sm.UserSolve(lambda b: np.linalg.solve(B, b)))
        assert "supplied" in sm.solve(A, B, method=method, rng=0).explain()

    @each_route
    def test_no_B(self, method):
        assert "identity" in sm.solve(EASY[0], method=method, rng=0).explain()

    def test_shift(self):
        A, B = shifted_pair()
        sol = sm.solve(A, B, method=sm.SplitMerge(), rng=0)
        assert sol.shift > 0
        lowest = scipy.linalg.eigh(A, B, eigvals_only=True)[0]
        assert sol.shift >= -lowest * (1 - 1e-8)
        assert figures_of(sol, "SHIFTED")["shift"] == sol.shift
        assert "η" in sol.explain()

    @each_route
    def test_no_shift(self, method):
        sol = sm.solve(*EASY, method=method, rng=0)
        assert sol.shift == 0
        assert "η" not in sol.explain()

    def test_lanczos_is_shifted_too(self):
        """It needs no definite A, but deflated vectors must not come back as the largest of a negative rest."""
        sol = sm.solve(*shifted_pair(), rng=0, method=sm.Lanczos())
        assert sol.shift > 0

    @each_route
    def test_smallest(self, method):
        assert "smallest" in sm.solve(*EASY, which="smallest", method=method, rng=0).explain()

    @each_route
    def test_extreme_scale(self, method):
        A, B = EASY
        assert "scaled" in sm.solve(A * 1e100, B, method=method, rng=0).explain()

    @each_route
    def test_not_converged(self, method):
        sol = partial(Reason.MAX_STEPS, *HARD, method=method, max_steps=3, tol=1e-14)
        assert "3 steps" in sol.explain()
        assert Reason.MAX_STEPS.advice in sol.explain(), "the reason belongs to the story"

    @each_route
    def test_verdict(self, method):
        sol = sm.solve(*EASY, method=method, rng=0)
        assert sol.verdict in ("certified", "probed", "unchecked")
        assert isinstance(sol.verdict, str)
        assert sol.verdict.why
        assert sol.verdict.why in sol.explain()

    @each_route
    def test_summary_and_repr(self, method):
        sol = sm.solve(*EASY, 2, method=method, rng=0)
        assert sol.summary().startswith("2 pairs after ")
        assert sm.solve(*EASY, method=method, rng=0).summary().startswith("1 pair after ")
        assert "Solution" in repr(sol)
