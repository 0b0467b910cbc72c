"""Callbacks and the progress bar."""

import contextlib
import io
import sys

import numpy as np
import pytest
import scipy.linalg

import splitmerge as sm
from checking import METHODS, each_method, each_route, operator_of, partial
from pairs import EASY, HARD, pair_of, slow
from splitmerge import Reason


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
    @pytest.mark.parametrize("at", [0, 1, 3])
    def test_true_stops(self, method, at):
        sol = partial(Reason.CALLBACK, *HARD, method=method, callback=lambda s: s.step == at, tol=1e-14)
        assert sol.steps == at

    @pytest.mark.parametrize("answer", [None, False, 0, np.False_, ""])
    @each_route
    def test_false_goes_on(self, method, answer):
        assert sm.solve(*EASY, method=method, rng=0, callback=lambda s: answer).converged

    @pytest.mark.parametrize("answer", [1, np.True_, "stop"])
    @each_route
    def test_what_is_true_stops(self, method, answer):
        partial(Reason.CALLBACK, *EASY, method=method, callback=lambda s: answer)

    def test_stop_at_the_second_pair(self):
        calls = []

        def callback(state):
            calls.append(state.step)
            return calls.count(0) == 2 and state.step == 2

        sol = partial(Reason.CALLBACK, *EASY, 3, callback=callback, method=sm.Power())
        assert sol.eigenvalues.size == 2
        # the unfinished second vector takes part in the final Rayleigh–Ritz step
        assert sol.residuals[0] <= 1e-7

    def test_stop_at_the_second_pair_of_a_search(self):
        """All pairs come from one search, so that the third is there as well, as far as it came."""
        calls = []

        def callback(state):
            calls.append(state.step)
            return calls.count(0) == 2

        sol = partial(Reason.CALLBACK, *slow(), 3, callback=callback, method=sm.Accelerated(), tol=1e-13)
        assert sol.history.pair[-1] == 1
        assert sol.eigenvalues.size == 3
        assert sol.residuals[0] <= 1e-7
        assert sol.verdict == "unchecked"

    @each_route
    def test_success_wins(self, method):
        """True at the step at which the rule is met anyway is no failure."""
        sol = sm.solve(*EASY, method=method, rng=0, callback=lambda s: s.residual <= 1e-8)
        assert sol.reason is Reason.RESIDUAL

    @each_route
    def test_exceptions_pass_through(self, method):
        def callback(state):
            raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"):
            sm.solve(*EASY, method=method, rng=0, callback=callback)

    def test_state_is_readable(self):
        def callback(state):
            assert state.x.shape == state.Ax.shape == state.Bx.shape == (40,)
            assert state.b > 0
            assert np.isfinite([state.value, state.f, state.residual, state.s]).all()

        for method in METHODS:
            sm.solve(*EASY, rng=0, callback=callback, method=method)

    @each_method
    def test_a_state_that_is_kept_stays_as_it_was(self, method):
        """A search restarts its basis under the states that it gave away: their vectors must not change."""
        A, B = HARD
        kept, seen = [], []

        def callback(state):
            kept.append(state)
            seen.append((state.eigenvalue, state.x.copy()) if state.step % 2 else (state.eigenvalue, None))

        sm.solve(A, B, 2, rng=0, callback=callback, method=method, tol=1e-6)
        for state, (value, x) in zip(kept, seen, strict=True):
            y = state.x
            assert x is None or np.array_equal(x, y)
            if isinstance(method, sm.Accelerated):
                # deflation changes what A stands for, the search does not
                assert np.vdot(y, A @ y) / np.vdot(y, B @ y) == pytest.approx(value, rel=1e-9)


OUTLYING = pair_of(np.r_[np.linspace(0, 1, 147), 3.0, 5.0, 7.0])
VECTORS = scipy.linalg.eigh(*OUTLYING)[1]
# as operators they are probed, not counted; from all or from the last of the wanted vectors
OPERATORS = [operator_of(M) for M in OUTLYING]
KEPT = {
    "restarts": (OUTLYING, {"k": 3, "method": sm.Accelerated(max_basis=12)}),
    "a probe": (OPERATORS, {"k": 2, "x0": np.random.default_rng(0).standard_normal((150, 2))}),
    "a probe at once": (OPERATORS, {"k": 2, "x0": VECTORS[:, -2:]}),
    "a probe that finds a pair": (OPERATORS, {"k": 2, "x0": VECTORS[:, [-3, -2]]}),
    "shift-invert": (OUTLYING, {"k": 3, "sigma": 0.4, "method": sm.Accelerated(max_basis=12)}),
    "the other end": (OUTLYING, {"k": 3, "which": "smallest", "method": sm.Accelerated(max_basis=12)}),
    "new starts": (pair_of(np.linspace(1, 2, 120), condition=1e10), {"k": 3, "tol": 1e-10}),
    "mixed precision": ([np.diag(np.linspace(0, 1, 450) ** 2)], {"method": None}),
    "lobpcg": (OPERATORS, {"k": 2, "method": sm.LocallyOptimal(), "x0": VECTORS[:, [-3, -2]]}),
    "lobpcg of a matrix": (OUTLYING, {"k": 3, "method": sm.LocallyOptimal(), "tol": 1e-4}),
    "lanczos": (OUTLYING, {"k": 3, "method": sm.Lanczos(max_basis=6)}),
    "plain lanczos": (OUTLYING, {"k": 3, "method": sm.Lanczos(reorthogonalise=False)}),
    "deflation": (OUTLYING, {"k": 3, "method": sm.SplitMerge()}),
    "a doubted start": (OUTLYING, {"k": 2, "method": sm.Power(), "x0": VECTORS[:, [-2]], "tol": 1e-5}),
    "scaled": (tuple(2.0 ** np.arange(-75, 75) * M * 2.0 ** np.arange(-75, 75)[:, None] for M in OUTLYING), {"k": 2}),
}


@pytest.mark.parametrize("what", KEPT)
def test_states_that_are_kept_are_what_they_were(what):
    """Whether they are read at once or in the end, after restarts, probes and all other pairs."""
    given, options = KEPT[what]
    options = {"method": sm.Accelerated(max_basis=20), **options}
    seen, kept = [], []

    def copied(state):
        return state.step, state.eigenvalue, state.residual, state.vector.copy(), state.Ax.copy(), state.Bx.copy()

    for callback in (lambda state: seen.append(copied(state)), lambda state: kept.append(state)):
        # what rounding leaves of the pair with new starts may be above its tolerance
        with contextlib.suppress(sm.NotConverged) if what == "new starts" else contextlib.nullcontext():
            sm.solve(*given, rng=0, callback=callback, **options)
    assert len(seen) == len(kept) > 1
    for before, state in zip(seen, kept, strict=True):
        for one, other in zip(before, copied(state), strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12 * np.abs(one).max())


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
