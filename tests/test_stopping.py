"""Stopping rules, their combinations, partial results, callbacks, history and the report of a run."""

import io
import sys
import time

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

import splitmerge as sm
from splitmerge import MaxSeconds, MaxSteps, Reason, Residual, SineAngle, Stagnation

METHODS = [
    sm.SplitMerge(),
    sm.Power(),
    sm.MirrorDescent(),
    sm.GradientDescent(),
    sm.Lanczos(),
    sm.Lanczos(reorthogonalise=False),
]


def short(method):
    return type(method).__name__ + ("Plain" if getattr(method, "reorthogonalise", True) is False else "")


each_method = pytest.mark.parametrize("method", METHODS, ids=short)

EASY = sm.gallery.synthetic_pair(40, 3.0, rng=1)
HARD = sm.gallery.synthetic_pair(120, 30.0, rng=2)


def shifted_pair():
    A, B = EASY
    return A - 0.5 * B, B


def honest(sol, A, B):
    """Residuals and orthonormality of whatever came back, recomputed by the docstring's formula."""
    U, w = sol.eigenvectors, sol.eigenvalues
    assert U.shape == (A.shape[0], w.size)
    assert sol.residuals.shape == sol.error_bounds.shape == w.shape
    shifted = np.abs(w + sol.shift)
    top = np.maximum(shifted, np.finfo(float).eps ** 0.5 * shifted.max())
    expected = np.linalg.norm(A @ U - (B @ U) * w, axis=0) / (top * np.linalg.norm(B @ U, axis=0))
    np.testing.assert_allclose(sol.residuals, expected, rtol=1e-6, atol=1e-13)
    np.testing.assert_allclose(U.T @ (B @ U), np.eye(w.size), atol=1e-10)
    np.testing.assert_allclose(np.diag(U.T @ (A @ U)), w, rtol=1e-10, atol=1e-12)


def partial(reason, *arguments, **options):
    """The solution inside the NotConverged that `solve` must raise."""
    with pytest.raises(sm.NotConverged) as caught:
        sm.solve(*arguments, rng=0, **options)
    sol = caught.value.solution
    assert isinstance(caught.value, RuntimeError)
    assert sol.reason is reason
    assert not sol.converged
    assert reason.advice in str(caught.value)
    honest(sol, *arguments[:2])
    return sol


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

    def test_stop_equals_tol(self):
        A, B = EASY
        one, two = sm.solve(A, B, tol=1e-6, rng=0), sm.solve(A, B, stop=Residual(1e-6), rng=0)
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
        sol = partial(Reason.MAX_STEPS, *HARD, method=method, max_steps=steps, tol=1e-14)
        assert sol.steps == steps
        assert sol.eigenvalues.size == 1
        assert sol.residuals[0] > 1e-14
        assert len(sol.history) == steps + 1

    def test_as_a_rule(self):
        sol = partial(Reason.MAX_STEPS, *HARD, stop=Residual(1e-12) | MaxSteps(4))
        assert sol.steps == 4

    def test_stands_beside_stop(self):
        sol = partial(Reason.MAX_STEPS, *HARD, stop=Residual(1e-12), max_steps=3)
        assert sol.steps == 3
        sol = partial(Reason.MAX_STEPS, *HARD, stop=MaxSteps(9), max_steps=3)
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

    def test_numpy_integer(self):
        assert partial(Reason.MAX_STEPS, *HARD, max_steps=np.int64(3), tol=1e-14).steps == 3

    def test_enough(self):
        sol = sm.solve(*EASY, rng=0)
        again = sm.solve(*EASY, rng=0, max_steps=sol.steps)
        assert again.converged
        assert again.steps == sol.steps


class TestMaxSeconds:
    @each_method
    def test_stops(self, method):
        A, B = HARD
        slow = LinearOperator(A.shape, matvec=lambda x: (time.sleep(1e-3), A @ x)[1], dtype=float)
        with pytest.raises(sm.NotConverged) as caught:
            sm.solve(slow, B, method=method, stop=Residual(1e-15) | MaxSeconds(0.02), rng=0)
        sol = caught.value.solution
        assert sol.reason is Reason.MAX_SECONDS
        assert 0.02 <= sol.seconds.iteration < 1
        honest(sol, A, B)

    def test_holds_over_all_pairs(self):
        A, B = HARD
        slow = LinearOperator(A.shape, matvec=lambda x: (time.sleep(5e-4), A @ x)[1], dtype=float)
        begin = time.perf_counter()
        with pytest.raises(sm.NotConverged) as caught:
            sm.solve(slow, B, 100, stop=Residual(1e-2) | MaxSeconds(0.1), rng=0, method=sm.Lanczos())
        sol = caught.value.solution
        assert sol.reason is Reason.MAX_SECONDS
        assert 1 < sol.eigenvalues.size < 100
        assert time.perf_counter() - begin < 2
        assert 0.1 <= sol.seconds.iteration < 1
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

    def test_infinite(self):
        assert sm.solve(*EASY, stop=Residual(1e-6) | MaxSeconds(np.inf), rng=0).converged


class TestStagnation:
    @pytest.mark.parametrize("method", [sm.SplitMerge(), sm.Power(), sm.MirrorDescent()], ids=short)
    def test_rounding(self, method):
        never = Residual(1e-300) & SineAngle(np.eye(40)[0], 1e-12)
        sol = partial(Reason.STAGNATED, *EASY, method=method, stop=never | Stagnation(50), max_steps=50_000)
        assert sol.residuals[0] < 1e-12

    def test_not_while_falling(self):
        assert sm.solve(*EASY, stop=Residual(1e-8) | Stagnation(50), rng=0).converged

    def test_starts_again_with_each_pair(self):
        A = np.diag([8.0, 4.0, 2.0, 1.0, 0.5])
        assert sm.solve(A, None, 4, stop=Residual(1e-10) | Stagnation(10), method=sm.Power(), rng=0).converged

    def test_rule_is_reusable(self):
        rule = Residual(1e-8) | Stagnation(50)
        one, two = (sm.solve(*EASY, stop=rule, rng=0) for _ in range(2))
        assert one.steps == two.steps


class TestSineAngle:
    @staticmethod
    def sine(u, U, B):
        """Independently, with the B-orthonormal basis from Cholesky and QR."""
        L = np.linalg.cholesky(B)
        Q = np.linalg.qr(L.T @ U.reshape(len(B), -1))[0]
        y = L.T @ u
        y = y / np.linalg.norm(y)
        return np.linalg.norm(y - Q @ (Q.T @ y))

    @each_method
    @pytest.mark.parametrize("tol", [1e-2, 1e-5])
    def test_reached(self, method, tol):
        A, B = EASY
        u = scipy.linalg.eigh(A, B)[1][:, -1]
        sol = sm.solve(A, B, method=method, stop=SineAngle(u, tol), rng=0)
        assert sol.reason is Reason.ANGLE
        assert sol.converged
        assert self.sine(sol.eigenvectors[:, 0], u, B) <= tol * (1 + 1e-6)
        before = partial(Reason.MAX_STEPS, A, B, method=method, stop=SineAngle(u, tol), max_steps=sol.steps - 1)
        assert self.sine(before.eigenvectors[:, 0], u, B) > tol * (1 - 1e-6)

    @pytest.mark.parametrize("scale", [-1.0, 1e-100, 1e100, 7.0])
    def test_length_and_sign_of_the_reference_do_not_matter(self, scale):
        A, B = EASY
        u = scipy.linalg.eigh(A, B)[1][:, -1]
        sol = sm.solve(A, B, stop=SineAngle(scale * u), rng=0)
        assert sol.steps == sm.solve(A, B, stop=SineAngle(u), rng=0).steps

    def test_span_of_columns(self):
        """λ₁ = λ₂: no single vector is the answer, the plane is."""
        A, B = np.diag([2.0, 2.0, 1.0, 0.5, 0.25]), np.eye(5)
        for basis in (np.eye(5)[:, :2], np.array([[1.0, 1, 0, 0, 0], [3.0, 4, 0, 0, 0]]).T):
            sol = sm.solve(A, B, stop=SineAngle(basis, 1e-6), rng=0)
            assert sol.reason is Reason.ANGLE
            assert self.sine(sol.eigenvectors[:, 0], basis, B) <= 1e-6

    def test_span_for_every_pair(self):
        A, B = EASY
        U = scipy.linalg.eigh(A, B)[1][:, ::-1][:, :3]
        sol = sm.solve(A, B, 3, stop=SineAngle(U, 1e-6), rng=0)
        assert sol.reason is Reason.ANGLE
        for u in sol.eigenvectors.T:
            assert self.sine(u, U, B) <= 2e-6

    def test_columns_of_different_length(self):
        A, B = EASY
        U = scipy.linalg.eigh(A, B)[1][:, ::-1][:, :3] * np.array([1e-8, 1.0, 1e8])
        assert sm.solve(A, B, stop=SineAngle(U, 1e-6), rng=0).reason is Reason.ANGLE

    def test_complex(self):
        A = np.array([[2, 1j, 0], [-1j, 2, 0.5], [0, 0.5, 1]])
        u = np.linalg.eigh(A)[1][:, -1]
        sol = sm.solve(A, stop=SineAngle(u * 1j, 1e-8), rng=0)
        assert sol.reason is Reason.ANGLE
        assert abs(abs(np.vdot(u, sol.eigenvectors[:, 0])) - 1) <= 1e-12

    @pytest.mark.parametrize(
        "reference",
        [
            np.ones(39),
            np.ones((1, 40)),
            np.ones((40, 0)),
            np.ones((40, 1, 1)),
            1.0,
            np.zeros(40),
            np.full(40, np.nan),
            np.full(40, np.inf),
            np.ones((40, 2)),
            np.eye(40, 3) * [1.0, 1.0, 0.0],
            "x",
            None,
            np.ones(40) * 1j,
        ],
        ids=[
            "short",
            "row",
            "no columns",
            "3-D",
            "scalar",
            "zero",
            "nan",
            "inf",
            "dependent",
            "zero column",
            "str",
            "None",
            "complex",
        ],
    )
    def test_bad_reference(self, reference):
        with pytest.raises(ValueError, match="reference"):
            sm.solve(*EASY, stop=SineAngle(reference, 1e-6), rng=0, callback=lambda s: pytest.fail("a step was taken"))

    def test_reference_is_left_alone(self):
        u = scipy.linalg.eigh(*EASY)[1][:, -1] * 3
        before = u.copy()
        sm.solve(*EASY, stop=SineAngle(u), rng=0)
        assert np.array_equal(before, u)


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

    def test_and_of_two_residuals_holds_for_every_pair(self):
        sol = sm.solve(*EASY, 3, stop=Residual(1e-4) & Residual(1e-9), rng=0)
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

    def test_limits_only(self):
        sol = partial(Reason.MAX_STEPS, *EASY, stop=MaxSteps(3) | MaxSeconds(100))
        assert sol.steps == 3
        sol = partial(Reason.MAX_STEPS, *EASY, stop=MaxSteps(3) & MaxSteps(5))
        assert sol.steps == 5

    def test_three(self):
        rule = (Residual(1e-4) & SineAngle(self.U, 1e-6)) | Stagnation(500) | MaxSteps(1000)
        assert sm.solve(*EASY, stop=rule, rng=0).converged

    def test_repr_is_readable(self):
        text = repr(Residual(1e-4) | MaxSteps(7))
        assert "1e-4" in text or "0.0001" in text
        assert "7" in text


class TestCallback:
    @each_method
    def test_called_at_each_step(self, method):
        seen = []
        sol = sm.solve(
            *EASY, 2, method=method, rng=0, callback=lambda s: seen.append((s.step, s.eigenvalue, s.residual))
        )
        assert len(seen) == len(sol.history)
        assert [s for s, _, _ in seen] == sol.history.step.tolist()
        assert [v for _, v, _ in seen] == sol.history.value.tolist()
        assert [r for _, _, r in seen] == sol.history.residual.tolist()
        assert seen[0][0] == 0

    @each_method
    @pytest.mark.parametrize("at", [0, 1, 5])
    def test_true_stops(self, method, at):
        sol = partial(Reason.CALLBACK, *HARD, method=method, callback=lambda s: s.step == at, tol=1e-14)
        assert sol.steps == at

    @pytest.mark.parametrize("answer", [None, False, 0, np.False_, ""])
    def test_false_goes_on(self, answer):
        assert sm.solve(*EASY, rng=0, callback=lambda s: answer).converged

    @pytest.mark.parametrize("answer", [1, np.True_, "stop"])
    def test_what_is_true_stops(self, answer):
        partial(Reason.CALLBACK, *EASY, callback=lambda s: answer)

    def test_stop_at_the_second_pair(self):
        calls = []

        def callback(state):
            calls.append(state.step)
            return calls.count(0) == 2 and state.step == 2

        sol = partial(Reason.CALLBACK, *EASY, 3, callback=callback, method=sm.Power())
        assert sol.eigenvalues.size == 2
        # the unfinished second vector takes part in the final Rayleigh–Ritz step
        assert sol.residuals[0] <= 1e-7

    def test_success_wins(self):
        """True at the step at which the rule is met anyway is no failure."""
        sol = sm.solve(*EASY, rng=0, callback=lambda s: s.residual <= 1e-8)
        assert sol.reason is Reason.RESIDUAL

    def test_exceptions_pass_through(self):
        def callback(state):
            raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"):
            sm.solve(*EASY, rng=0, callback=callback)

    def test_state_is_readable(self):
        def callback(state):
            assert state.x.shape == state.Ax.shape == state.Bx.shape == (40,)
            assert state.b > 0
            assert np.isfinite([state.value, state.f, state.residual, state.s]).all()

        for method in METHODS:
            sm.solve(*EASY, rng=0, callback=callback, method=method)


class TestProgress:
    @each_method
    def test_silent_in_a_pipe(self, method, capfd):
        plain = sm.solve(*EASY, 2, method=method, rng=0)
        sol = sm.solve(*EASY, 2, method=method, rng=0, progress=True)
        assert capfd.readouterr() == ("", "")
        assert sol.eigenvectors.tobytes() == plain.eigenvectors.tobytes()
        assert sol.counts == plain.counts

    def test_shown_on_a_terminal(self, monkeypatch):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        sol = sm.solve(*EASY, 2, method=sm.Power(), rng=0, progress=True)
        assert sol.converged
        assert "splitmerge" in terminal.getvalue()


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
        # Lanczos is done before the fiftieth product
        operator = InterruptedOperator(A, at - 25 if isinstance(method, sm.Lanczos) else at)
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

    def test_from_the_callback(self):
        def callback(state):
            if state.step == 5:
                raise KeyboardInterrupt

        sol = caught(*HARD, rng=0, callback=callback)
        assert sol.reason is Reason.INTERRUPTED
        honest(sol, *HARD)

    def test_during_the_set_up_it_is_the_callers(self):
        A, B = HARD
        with pytest.raises(KeyboardInterrupt):
            sm.solve(InterruptedOperator(A, 5), B, rng=0)

    @pytest.mark.parametrize("at", range(20, 140))
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


class TestHistory:
    COLUMNS = ("pair", "step", "value", "residual", "f", "products", "seconds")

    @each_method
    def test_columns(self, method):
        sol = sm.solve(*EASY, 2, method=method, rng=0)
        history = sol.history
        table = history.to_dict()
        assert tuple(table) == history.columns == self.COLUMNS
        assert {len(column) for column in table.values()} == {len(history)}
        for name, column in table.items():
            assert np.array_equal(column, getattr(history, name))
            assert np.isfinite(column).all()
        assert (np.diff(history.seconds) >= 0).all()
        assert history.seconds[0] >= 0
        assert history.seconds[-1] <= sol.seconds.iteration
        assert (np.diff(history.products) >= 0).all()
        assert history.products[-1] <= sol.counts.A_products
        assert set(history.pair) == {0, 1}
        assert (np.diff(history.pair) >= 0).all()
        assert history.step[0] == 0

    @each_method
    def test_last_rows_are_the_answer(self, method):
        sol = sm.solve(*shifted_pair(), 2, method=method, rng=0)
        for j in (0, 1):
            last = np.flatnonzero(sol.history.pair == j)[-1]
            assert abs(sol.history.value[last] - sol.eigenvalues[j]) <= 1e-8
            assert sol.history.residual[last] <= 1e-8

    @each_method
    def test_descent(self, method):
        """f falls and the Rayleigh quotient of the first pair rises."""
        sol = sm.solve(*EASY, method=method, rng=0)
        assert (np.diff(sol.history.f) <= 1e-13).all()
        if not isinstance(method, sm.GradientDescent):
            assert (np.diff(sol.history.value) >= -1e-13).all()

    def test_length_is_steps_plus_one(self):
        sol = sm.solve(*EASY, rng=0)
        assert len(sol.history) == sol.steps + 1
        assert sol.history.step.tolist() == list(range(sol.steps + 1))

    def test_smallest_has_the_users_sign(self):
        A, B = EASY
        sol = sm.solve(A, B, which="smallest", rng=0)
        assert abs(sol.history.value[-1] - sol.eigenvalues[0]) <= 1e-8
        assert sol.history.value[0] > sol.history.value[-1]

    def test_scaled_pairs_have_the_users_units(self):
        A, B = EASY
        sol = sm.solve(A * 1e150, B, rng=0)
        np.testing.assert_allclose(sol.history.value[-1], sol.eigenvalues[0], rtol=1e-8)

    def test_unknown_column(self):
        history = sm.solve(*EASY, rng=0).history
        with pytest.raises(AttributeError, match="columns"):
            history.angle  # noqa: B018
        assert "History" in repr(history)

    def test_copies_and_pickles(self):
        import copy
        import pickle

        sol = sm.solve(*EASY, rng=0)
        for again in (copy.deepcopy(sol.history), pickle.loads(pickle.dumps(sol.history))):
            assert np.array_equal(again.value, sol.history.value)

    def test_solution_pickles(self):
        import pickle

        sol = sm.solve(*EASY, rng=0)
        again = pickle.loads(pickle.dumps(sol))
        assert np.array_equal(again.eigenvectors, sol.eigenvectors)
        assert again.verdict == sol.verdict
        assert again.verdict.why == sol.verdict.why

    def test_not_converged_pickles(self):
        """As it must to come back from a worker process."""
        import pickle

        with pytest.raises(sm.NotConverged) as caught:
            sm.solve(*HARD, max_steps=2, rng=0)
        again = pickle.loads(pickle.dumps(caught.value))
        assert again.solution.steps == 2
        assert str(again) == str(caught.value)


class TestCounts:
    @staticmethod
    def counted(M):
        calls = [0]

        def product(x):
            calls[0] += 1
            return M @ x

        return LinearOperator(M.shape, matvec=product, dtype=M.dtype), calls

    @each_method
    @pytest.mark.parametrize("k", [1, 3])
    def test_products_with_A(self, method, k):
        A, B = EASY
        operator, calls = self.counted(A)
        counts = sm.solve(operator, B, k, method=method, rng=0).counts
        # two products are made to see that the operator is symmetric, before there is anything to count in
        total = counts.A_products + counts.setup.A_products + counts.monitoring.A_products
        assert calls[0] in (total, total + 2)

    @pytest.mark.parametrize("method", [sm.SplitMerge(), sm.Power(), sm.Lanczos(), sm.GradientDescent()], ids=short)
    def test_products_with_B(self, method):
        A, B = EASY
        operator, calls = self.counted(B)
        counts = sm.solve(A, operator, 2, method=method, rng=0).counts
        total = counts.B_products + counts.setup.B_products + counts.monitoring.B_products
        assert calls[0] in (total, total + 2)

    @pytest.mark.parametrize(
        ("method", "A_products", "B_products", "B_solves"),
        [
            (sm.SplitMerge(), 2, 0, 2),
            (sm.Power(), 1, 0, 1),
            (sm.MirrorDescent(), 1, 0, 0),
            (sm.GradientDescent(), 1, 1, 0),
            (sm.Lanczos(), 1, 0, 1),
        ],
        ids=lambda m: short(m) if isinstance(m, sm.Method) else str(m),
    )
    def test_cost_of_a_step(self, method, A_products, B_products, B_solves):
        """The table of the paper: products of a step, whatever the start costs."""
        ten, twenty = (partial(Reason.MAX_STEPS, *HARD, method=method, max_steps=m, tol=1e-14).counts for m in (10, 20))
        assert twenty.A_products - ten.A_products == 10 * A_products
        assert twenty.B_products - ten.B_products == 10 * B_products
        assert twenty.B_solves - ten.B_solves == 10 * B_solves

    def test_no_B_no_work_for_it(self):
        counts = sm.solve(EASY[0], rng=0).counts
        assert counts.B_products == counts.B_solves == counts.setup.B_solves == counts.monitoring.B_products == 0

    @each_method
    def test_seconds(self, method):
        begin = time.perf_counter()
        sol = sm.solve(*EASY, method=method, rng=0)
        elapsed = time.perf_counter() - begin
        assert sol.seconds.setup > 0
        assert sol.seconds.iteration > 0
        assert sol.seconds.total == sol.seconds.setup + sol.seconds.iteration <= elapsed


class TestExplain:
    @each_method
    def test_method_and_solver(self, method):
        text = sm.solve(*EASY, method=method, rng=0).explain()
        assert type(method).__name__ in text
        assert "Cholesky" in text
        assert "Residual" in text
        assert "unchecked" in text

    def test_conjugate_gradients(self):
        A, B = EASY
        method = sm.Power(inner=sm.ConjugateGradient(max_steps=17))
        text = sm.solve(A, sp.csr_array(B), method=method, rng=0).explain()
        assert "conjugate gradients" in text
        assert "17" in text

    def test_operator_B(self):
        A, B = EASY
        text = sm.solve(A, LinearOperator(B.shape, matvec=lambda x: B @ x, dtype=float), rng=0).explain()
        assert "conjugate gradients" in text
        assert "preconditioned by its diagonal" not in text, "the diagonal of an operator is not known"

    def test_user_solve(self):
        A, B = EASY
        method = sm.Power(inner=sm.UserSolve(lambda b: np.linalg.solve(B, b)))
        assert "supplied" in sm.solve(A, B, method=method, rng=0).explain()

    def test_no_B(self):
        assert "identity" in sm.solve(EASY[0], rng=0).explain()

    def test_shift(self):
        A, B = shifted_pair()
        sol = sm.solve(A, B, rng=0)
        assert sol.shift > 0
        lowest = scipy.linalg.eigh(A, B, eigvals_only=True)[0]
        assert sol.shift >= -lowest * (1 - 1e-8)
        assert "η" in sol.explain()
        assert f"{sol.shift:.4g}"[:4] in sol.explain()
        assert "taken off" in sol.explain()

    def test_no_shift(self):
        sol = sm.solve(*EASY, rng=0)
        assert sol.shift == 0
        assert "η" not in sol.explain()

    def test_lanczos_needs_no_shift(self):
        sol = sm.solve(*shifted_pair(), rng=0, method=sm.Lanczos())
        assert sol.shift == 0

    def test_smallest(self):
        assert "smallest" in sm.solve(*EASY, which="smallest", rng=0).explain()

    def test_extreme_scale(self):
        A, B = EASY
        assert "scaled" in sm.solve(A * 1e100, B, rng=0).explain()

    def test_not_converged(self):
        sol = partial(Reason.MAX_STEPS, *HARD, max_steps=3, tol=1e-14)
        assert "3 steps" in sol.explain()
        assert Reason.MAX_STEPS.advice in sol.explain(), "the reason belongs to the story"

    def test_verdict(self):
        sol = sm.solve(*EASY, rng=0)
        assert sol.verdict in ("certified", "probed", "unchecked")
        assert isinstance(sol.verdict, str)
        assert sol.verdict.why
        assert sol.verdict.why in sol.explain()

    def test_summary_and_repr(self):
        sol = sm.solve(*EASY, 2, rng=0)
        assert sol.summary().startswith("2 pairs after ")
        assert sm.solve(*EASY, rng=0).summary().startswith("1 pair after ")
        assert "Solution" in repr(sol)
