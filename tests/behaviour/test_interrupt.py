"""Ctrl-C at any moment leaves what was computed."""

import numpy as np
import pytest
import scipy.sparse.linalg

import splitmerge as sm
from checking import each_method, exhaustive, honest
from pairs import EASY, HARD, slow
from splitmerge import Reason


class InterruptedOperator:
    """A, with Ctrl-C at one of its products."""

    def __init__(self, A, at):
        self.A, self.at, self.calls, self.shape, self.dtype = A, at, 0, A.shape, A.dtype

    def __matmul__(self, x):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return self.A @ x


def caught(*arguments, **options):
    """`solve`, where a KeyboardInterrupt that escapes fails the test instead of ending the session."""
    try:
        return sm.solve(*arguments, **options)
    except KeyboardInterrupt:
        pytest.fail("KeyboardInterrupt escaped, and what was computed is lost")


class TestInterrupt:
    @each_method
    @pytest.mark.parametrize("at", [50, 51, 52, 53, 70])
    def test_partial_result(self, method, at):
        A, B = HARD
        # Krylov methods are done before the fiftieth product
        early = {sm.Lanczos: 25, sm.Accelerated: 46}.get(type(method), 0)
        operator = InterruptedOperator(A, at - early)
        sol = caught(operator, B, method=method, rng=0, tol=1e-13)
        assert sol.reason is Reason.INTERRUPTED
        assert not sol.converged
        assert sol.eigenvalues.shape == (1,)
        honest(sol, A, B)
        assert len(sol.history) == sol.steps + 1

    def test_pairs_found_before_are_kept(self):
        A, B = np.diag([64.0, 32.0, 1.0, 0.999, 0.998, 0.5, 0.25, 0.1]), np.eye(8)
        operator = InterruptedOperator(A, 120)
        sol = caught(operator, B, 4, method=sm.Power(), rng=0)
        assert sol.reason is Reason.INTERRUPTED
        assert sol.eigenvalues.size == 3
        np.testing.assert_allclose(sol.eigenvalues[:2], [64, 32], rtol=1e-12)
        honest(sol, A, B)

    @each_method
    @pytest.mark.parametrize("at", [0, 1, 3])
    def test_from_the_callback(self, method, at):
        def callback(state):
            if state.step == at:
                raise KeyboardInterrupt

        sol = caught(*HARD, method=method, rng=0, callback=callback, tol=1e-13)
        assert sol.reason is Reason.INTERRUPTED
        assert not sol.converged
        assert sol.steps == at
        assert sol.verdict == "unchecked"
        honest(sol, *HARD)

    # the survey of the paper's methods, and the look at the symmetry of the operator
    @pytest.mark.parametrize(("method", "at"), [(sm.SplitMerge(), 5), (sm.Accelerated(), 2), (None, 2)])
    def test_during_the_set_up_it_is_the_callers(self, method, at):
        A, B = HARD
        with pytest.raises(KeyboardInterrupt):
            sm.solve(InterruptedOperator(A, at), B, method=method, rng=0)

    @pytest.mark.parametrize("name", ["A", "B"])
    @pytest.mark.parametrize("k", [1, 4])
    def test_at_any_product_of_the_default(self, name, k):
        """Before, in and after restarts, in the probe and while residuals are recomputed."""
        A, B = slow()

        def run(at):
            operator = InterruptedOperator(A if name == "A" else B, at)
            pair = (operator, B) if name == "A" else (A, operator)
            seen = []
            sol = caught(*pair, k, rng=0, tol=1e-5, callback=lambda state: seen.append(operator.calls))
            return sol, operator.calls, seen[0] if seen else 0

        _, total, first = run(0)
        # two products show whether the operator is symmetric; A has been multiplied once before anything is there
        first = 4 if name == "A" else first + 1
        rest = range(max(first, 30), total, max(1, total // 40))
        for at in [*range(first, 30), *rest, *range(max(first, total - 10), total + 1)]:
            sol, calls, _ = run(at)
            assert calls >= at
            assert sol.reason is Reason.INTERRUPTED
            assert not sol.converged
            assert sol.verdict == "unchecked"
            assert 1 <= sol.eigenvalues.size <= k
            honest(sol, A, B)

    @pytest.mark.parametrize("at", exhaustive([*range(20, 140, 3), *range(21, 140, 3), *range(22, 140, 3)], quick=40))
    def test_at_any_product(self, at):
        """Also between the pairs, and while a success is being confirmed, nothing is lost."""
        A, B = EASY
        operator = InterruptedOperator(A, at)
        setup = sm.solve(InterruptedOperator(A, 0), B, 3, method=sm.Lanczos(), rng=0)
        first = 2 + setup.counts.setup.A_products + 2
        if at < first:
            pytest.skip("this product is of the set-up")
        sol = caught(operator, B, 3, method=sm.Lanczos(), rng=0)
        if operator.calls < at:
            assert sol.converged
        else:
            assert sol.reason is Reason.INTERRUPTED
            assert 1 <= sol.eigenvalues.size <= 3
            honest(sol, A, B)


def test_interrupt_while_a_given_start_is_confirmed():
    """The confirmation from a perturbed vector is quiet, but Ctrl-C in it must not be swallowed."""
    A = np.diag([2.0, 1.9, 1.8, 1.0])
    calls = 0

    def product(x):
        nonlocal calls
        calls += 1
        # checks, survey, start and confirmation of an exact x0 are over by then; its perturbed run is not
        if calls == 14:
            raise KeyboardInterrupt
        return A @ x

    operator = scipy.sparse.linalg.LinearOperator((4, 4), matvec=product, dtype=float)
    sol = sm.solve(operator, method=sm.Power(), x0=np.eye(4)[:, 0], rng=0)
    assert sol.reason is sm.Reason.INTERRUPTED
    assert not sol.converged
    assert sol.steps == 0
    np.testing.assert_allclose(sol.eigenvalues, [2.0])
