"""Each stopping rule, their combinations, and the partial results they leave."""

import time

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse.linalg import LinearOperator

import splitmerge as sm
from checking import each_method, each_route, honest, partial, short
from pairs import EASY, HARD, slow
from splitmerge import MaxSeconds, MaxSteps, Reason, Residual, SineAngle, Stagnation

SLOW = sm.gallery.synthetic_pair(60, 10, rng=0)


class TestReason:
    def test_text(self):
        for reason in Reason:
            assert reason.advice == reason.value
            assert reason.advice.endswith(".")
        assert {r for r in Reason if r.converged} == {Reason.RESIDUAL, Reason.PRECISION, Reason.ANGLE}


class TestResidual:
    @each_method
    @pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-10])
    def test_tolerance_is_met(self, method, tol):
        A, B = EASY
        sol = sm.solve(A, B, 1, method=method, tol=tol, rng=0)
        assert sol.reason is Reason.RESIDUAL
        assert sol.residuals.max() <= tol
        honest(sol, A, B)

    @each_method
    def test_every_pair_meets_it(self, method):
        A, B = EASY
        sol = sm.solve(A, B, 3, method=method, tol=1e-7, rng=0)
        assert sol.residuals.max() <= 1e-7
        honest(sol, A, B)
        np.testing.assert_allclose(sol.eigenvalues, scipy.linalg.eigh(A, B, eigvals_only=True)[::-1][:3], rtol=1e-7)

    @each_method
    def test_stop_equals_tol(self, method):
        A, B = EASY
        one, two = (sm.solve(A, B, method=method, rng=0, **rule) for rule in ({"tol": 1e-6}, {"stop": Residual(1e-6)}))
        assert one.eigenvectors.tobytes() == two.eigenvectors.tobytes()
        assert one.steps == two.steps

    def test_looser_is_shorter(self):
        steps = [sm.solve(*EASY, method=sm.Power(), tol=tol, rng=0).steps for tol in (1e-2, 1e-5, 1e-8)]
        assert steps == sorted(set(steps))

    @pytest.mark.parametrize("tol", [1e-15, 1e-300, 5e-324])
    @each_method
    def test_beyond_rounding(self, tol, method):
        """What nobody can see is not asked for, and `explain` says so."""
        A, B = EASY
        sol = sm.solve(A, B, 2, method=method, tol=tol, rng=0, max_steps=20_000)
        assert sol.converged
        assert sol.reason is Reason.PRECISION or sol.residuals.max() <= tol
        assert sol.residuals.max() <= 1e-13
        assert sol.reason.advice in sol.explain()

    @pytest.mark.parametrize("tol", [0.5, 0.2, 0.1, 0.01])
    @each_method
    def test_loose(self, tol, method):
        sol = sm.solve(*EASY, 2, tol=tol, rng=0, method=method)
        assert sol.converged
        assert sol.residuals.max() <= tol


class TestMaxSteps:
    @each_method
    @pytest.mark.parametrize("steps", [1, 2, 7])
    def test_first_pair(self, method, steps):
        pair = slow() if isinstance(method, sm.Accelerated) else HARD
        sol = partial(Reason.MAX_STEPS, *pair, method=method, max_steps=steps, tol=1e-14)
        assert sol.steps == steps
        assert sol.eigenvalues.size == 1
        assert sol.residuals[0] > 1e-14
        assert len(sol.history) == steps + 1

    @each_route
    def test_as_a_rule(self, method):
        sol = partial(Reason.MAX_STEPS, *HARD, method=method, stop=Residual(1e-12) | MaxSteps(4))
        assert sol.steps == 4

    @each_route
    def test_stands_beside_stop(self, method):
        sol = partial(Reason.MAX_STEPS, *HARD, method=method, stop=Residual(1e-12), max_steps=3)
        assert sol.steps == 3
        sol = partial(Reason.MAX_STEPS, *HARD, method=method, stop=MaxSteps(9), max_steps=3)
        assert sol.steps == 3

    def test_later_pair(self):
        """The pairs found before the one that failed are there, and that one as far as it came."""
        values = np.r_[64.0, 32.0, 1.0, 0.999, np.linspace(0.9, 0.1, 36)]
        A, B = np.diag(values), np.eye(40)
        sol = partial(Reason.MAX_STEPS, A, B, 4, method=sm.Power(), max_steps=60)
        assert sol.eigenvalues.size == 3
        np.testing.assert_allclose(sol.eigenvalues[:2], [64, 32], rtol=1e-12)
        assert sol.residuals[:2].max() <= 1e-8 < sol.residuals[2]
        assert sol.history.pair.max() == 2
        assert "3 pairs" in sol.summary()

    @each_route
    def test_numpy_integer(self, method):
        assert partial(Reason.MAX_STEPS, *HARD, method=method, max_steps=np.int64(3), tol=1e-14).steps == 3

    @each_method
    def test_enough(self, method):
        sol = sm.solve(*EASY, method=method, rng=0)
        again = sm.solve(*EASY, method=method, rng=0, max_steps=sol.steps)
        assert again.converged
        assert again.steps == sol.steps


class TestMaxSeconds:
    @each_method
    def test_stops(self, method):
        A, B = HARD
        slow = LinearOperator(A.shape, matvec=lambda x: (time.sleep(4e-3), A @ x)[1], dtype=float)
        with pytest.raises(sm.NotConverged) as caught:
            sm.solve(slow, B, method=method, stop=Residual(1e-15) | MaxSeconds(0.02), rng=0)
        sol = caught.value.solution
        assert sol.reason is Reason.MAX_SECONDS
        assert 0.02 <= sol.seconds.iteration < 1
        honest(sol, A, B)

    def test_holds_over_all_pairs(self):
        A, B = HARD
        slow = LinearOperator(A.shape, matvec=lambda x: (time.sleep(2e-3), A @ x)[1], dtype=float)
        begin = time.perf_counter()
        with pytest.raises(sm.NotConverged) as caught:
            sm.solve(slow, B, 100, stop=Residual(1e-2) | MaxSeconds(0.4), rng=0, method=sm.Lanczos())
        sol = caught.value.solution
        assert sol.reason is Reason.MAX_SECONDS
        assert 1 < sol.eigenvalues.size < 100
        assert time.perf_counter() - begin < 5
        assert 0.4 <= sol.seconds.iteration < 3
        honest(sol, A, B)

    def test_setup_is_not_counted(self):
        """A B whose set-up takes longer than the limit leaves the iteration its time."""
        A, B = EASY
        factor = scipy.linalg.cho_factor(B)
        first = [True]

        def slow_first(b):
            if first:
                first.pop()
                time.sleep(0.3)
            return scipy.linalg.cho_solve(factor, b)

        method = sm.Lanczos(inner=sm.UserSolve(slow_first))
        sol = sm.solve(A, B, stop=Residual(1e-6) | MaxSeconds(0.25), method=method, rng=0)
        assert sol.converged
        assert sol.seconds.setup >= 0.3

    @each_route
    def test_infinite(self, method):
        assert sm.solve(*EASY, method=method, stop=Residual(1e-6) | MaxSeconds(np.inf), rng=0).converged


class TestStagnation:
    def test_of_a_search(self):
        """A search only falls, until rounding is left."""
        A, B = slow()
        never = Residual(1e-300) & SineAngle(np.eye(300)[0], 1e-12)
        sol = partial(Reason.STAGNATED, A, B, stop=never | Stagnation(20), max_steps=5000)
        assert sol.residuals[0] < 1e-12

    @pytest.mark.parametrize("method", [sm.SplitMerge(), sm.Power(), sm.MirrorDescent()], ids=short)
    def test_rounding(self, method):
        never = Residual(1e-300) & SineAngle(np.eye(40)[0], 1e-12)
        sol = partial(Reason.STAGNATED, *EASY, method=method, stop=never | Stagnation(50), max_steps=50_000)
        assert sol.residuals[0] < 1e-12

    @each_route
    def test_not_while_falling(self, method):
        assert sm.solve(*EASY, method=method, stop=Residual(1e-8) | Stagnation(50), rng=0).converged

    @pytest.mark.parametrize("method", [sm.Accelerated(), sm.Power()], ids=short)
    def test_starts_again_with_each_pair(self, method):
        A = np.diag([8.0, 4.0, 2.0, 1.0, 0.5])
        assert sm.solve(A, None, 4, stop=Residual(1e-10) | Stagnation(10), method=method, rng=0).converged

    @pytest.mark.parametrize(
        "rule",
        [Residual(1e-6) | Stagnation(30), (Residual(1e-6) & MaxSteps(1)) | (MaxSteps(1) & Stagnation(30))],
        ids=["either", "both"],
    )
    def test_the_residuals_of_an_earlier_pair_are_forgotten(self, rule):
        """That of the first is 1e-6 in the end, which those of the next take more than 30 steps to reach."""
        sol = sm.solve(*SLOW, 3, method=sm.Power(), stop=rule, rng=0)
        assert sol.converged
        assert sol.residuals.max() <= 1e-6
        assert (np.bincount(sol.history.pair) > 60).all()

    @each_route
    def test_rule_is_reusable(self, method):
        rule = Residual(1e-8) | Stagnation(50)
        one, two = (sm.solve(*EASY, method=method, stop=rule, rng=0) for _ in range(2))
        assert one.steps == two.steps


class TestCombinations:
    U = scipy.linalg.eigh(*EASY)[1][:, -1]

    def steps(self, rule):
        return sm.solve(*EASY, stop=rule, method=sm.Power(), rng=0).steps

    def test_or_is_the_earlier(self):
        a, b = self.steps(Residual(1e-4)), self.steps(SineAngle(self.U, 1e-6))
        assert a != b
        assert self.steps(Residual(1e-4) | SineAngle(self.U, 1e-6)) == min(a, b)
        assert self.steps(SineAngle(self.U, 1e-6) | Residual(1e-4)) == min(a, b)

    def test_and_is_the_later(self):
        a, b = self.steps(Residual(1e-4)), self.steps(SineAngle(self.U, 1e-6))
        assert self.steps(Residual(1e-4) & SineAngle(self.U, 1e-6)) == max(a, b)
        assert self.steps(SineAngle(self.U, 1e-6) & Residual(1e-4)) == max(a, b)

    def test_or_of_two_residuals_is_the_looser(self):
        assert self.steps(Residual(1e-4) | Residual(1e-8)) == self.steps(Residual(1e-4))
        assert self.steps(Residual(1e-4) & Residual(1e-8)) == self.steps(Residual(1e-8))

    @each_route
    def test_and_of_two_residuals_holds_for_every_pair(self, method):
        sol = sm.solve(*EASY, 3, method=method, stop=Residual(1e-4) & Residual(1e-9), rng=0)
        assert sol.residuals.max() <= 1e-9

    def test_at_least_so_many_steps(self):
        """Residual & MaxSteps asks for the residual and for the steps; it is a success."""
        sol = sm.solve(*EASY, stop=Residual(1e-2) & MaxSteps(50), method=sm.Power(), rng=0)
        assert sol.converged
        assert sol.steps >= 50

    def test_success_beats_a_limit_met_at_the_same_step(self):
        a = self.steps(Residual(1e-4))
        for rule in (Residual(1e-4) | MaxSteps(a), MaxSteps(a) | Residual(1e-4)):
            assert sm.solve(*EASY, stop=rule, method=sm.Power(), rng=0).reason is Reason.RESIDUAL

    @each_route
    def test_limits_only(self, method):
        sol = partial(Reason.MAX_STEPS, *EASY, method=method, stop=MaxSteps(3) | MaxSeconds(100))
        assert sol.steps == 3
        sol = partial(Reason.MAX_STEPS, *EASY, method=method, stop=MaxSteps(3) & MaxSteps(5))
        assert sol.steps == 5

    @each_route
    def test_three(self, method):
        rule = (Residual(1e-4) & SineAngle(self.U, 1e-6)) | Stagnation(500) | MaxSteps(1000)
        assert sm.solve(*EASY, method=method, stop=rule, rng=0).converged

    def test_repr_is_readable(self):
        text = repr(Residual(1e-4) | MaxSteps(7))
        assert "1e-4" in text or "0.0001" in text
        assert "7" in text
