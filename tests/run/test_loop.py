"""There is one loop: who steps, which stages a solve goes through, and why a run ends."""

import ast
import sys

import numpy as np
import pytest

import splitmerge as sm
from asking import tridiagonal
from pairs import EASY
from sources import calls_of, functions_of
from splitmerge.arguments import checked
from splitmerge.errors import OutOfTime
from splitmerge.objective.state import State
from splitmerge.planning.choose import choose
from splitmerge.preparation.prepare import prepare
from splitmerge.run.iteration import Iteration
from splitmerge.run.loop import Monitor, Run, march
from splitmerge.solution.back_transform import present
from splitmerge.verification.completeness import verify
from splitmerge.verification.confirm import confirmed

# Steps that are part of a step.
STEPS_WITHIN_STEPS = {
    ("methods.deflation", "Deflation.step"): "the step of deflation is that of its method",
    ("bench.rivals.rayleigh_quotient", "RayleighQuotientIteration.step"): "it begins with power steps",
}
# Rules that are tightened for another reason than a retry.
OTHER_TIGHTENING = {
    ("methods.refinement.mixed_precision", "MixedPrecision.begin"): "the search in single precision has a tighter goal",
    ("run.rules", "_Either.tightened"): "a rule made of two rules tightens both",
    ("run.rules", "_Both.tightened"): "a rule made of two rules tightens both",
}


def places(method):
    """Where a method is called, whatever the object."""
    return {(module.removeprefix("splitmerge."), around) for module, around, on in calls_of(method) if on is not None}


def names_called(name):
    """Where a function or class is called by its name."""
    return {(module.removeprefix("splitmerge."), around) for module, around, on in calls_of(name) if on is None}


class TestOneLoop:
    def test_one_place_steps(self):
        assert places("step") == {("run.loop", "march")} | STEPS_WITHIN_STEPS.keys()

    @pytest.mark.parametrize("place", STEPS_WITHIN_STEPS, ids=" ".join)
    def test_a_step_within_a_step_is_no_loop(self, place):
        module, function = place
        node = dict(functions_of(f"splitmerge.{module}"))[function]
        assert not [below for below in ast.walk(node) if isinstance(below, (ast.For, ast.While, ast.comprehension))]

    def test_one_place_accepts(self):
        assert places("accept") == {("run.loop", "Run.until_end")}

    def test_who_marches(self):
        """A run, and the iterates for those who want to look at them."""
        users = {("run.loop", "Run._until_rule"), ("iterates", "stepped"), ("iterates", "_states_of")}
        assert names_called("march") == users

    def test_one_retry(self):
        assert places("tightened") == {("run.loop", "Run.tighten")} | OTHER_TIGHTENING.keys()
        confirming = {("verification.confirm", name) for name in ("confirmed", "narrowed")}
        assert places("tighten") == confirming | {("slicing.sweep", "ran")}

    def test_who_runs(self):
        """Verification begins a run, that of a slice as well, and repeats it where the residuals miss the tolerance."""
        begun, repeated = ("verification.completeness", "_Verification._confirm"), ("verification.confirm", "confirmed")
        assert places("until_end") == {
            *(begun, repeated),
            *(("verification.confirm", name) for name in ("confirmed_from", "narrowed")),
        }
        assert names_called("Run") == {("solve", "carried_out"), ("slicing.sweep", "ran")}


STAGES = {
    "checked": checked,
    "pencil": sm.Pencil.__init__,
    "choose": choose,
    "prepare": prepare,
    "verify": verify,
    "run": Run.until_end,
    "confirm": confirmed,
    "present": present,
}
ORDER = list(STAGES)


def stages_of(*arguments, **options):
    """Which stages `solve` enters ("name") and leaves ("/name"), in their order."""
    names = {function.__code__: name for name, function in STAGES.items()}
    events = []

    def watch(frame, event, _):
        if frame.f_code in names and event in ("call", "return"):
            events.append(("/" if event == "return" else "") + names[frame.f_code])

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        sol = sm.solve(*arguments, rng=1, **options)
    finally:
        sys.setprofile(before)
    assert sol.converged
    return events


SPARSE = tridiagonal(450), tridiagonal(450, 4.0, 1.0)
SINGLE = tuple(M.astype(np.float32) for M in EASY)
SOLVES = {
    # the short way is for double precision and the default method
    "LAPACK": (SINGLE, {}),
    "LAPACK, smallest": (SINGLE, {"which": "smallest", "k": 3}),
    "thick-restart Lanczos": (sm.gallery.synthetic_pair(600, 10.0, rng=0), {"k": 3}),
    "mixed precision": (sm.gallery.synthetic_pair(560, 10.0, rng=0), {}),
    "smallest": (SPARSE, {"which": "smallest", "k": 3, "method": sm.Accelerated()}),
    "certified": (SPARSE, {"which": "smallest", "k": 3, "certify": True, "method": sm.Accelerated()}),
    "sigma below": (SPARSE, {"sigma": -0.1, "k": 2, "method": sm.Accelerated()}),
    "Split-Merge": (EASY, {"method": sm.SplitMerge(), "k": 2}),
    "LOBPCG": (EASY, {"method": sm.LocallyOptimal(), "k": 2}),
}


class TestStages:
    """Every stage is entered once, each after the one before has been left; run and confirm are parts of verify."""

    @pytest.mark.parametrize(("pair", "options"), SOLVES.values(), ids=SOLVES)
    def test_once_and_in_order(self, pair, options):
        inside = ["verify", "run", "/run", "confirm", "/confirm", "/verify"]
        before = [event for name in ("checked", "pencil", "choose", "prepare") for event in (name, f"/{name}")]
        assert stages_of(*pair, **options) == [*before, *inside, "present", "/present"]

    def test_candidates_that_do_not_hold(self):
        """Inside the spectrum neither A − σB nor its negative is definite, so the third candidate is prepared."""
        events = stages_of(*SPARSE, sigma=0.3, k=2, method=sm.Accelerated())
        entered = [event for event in events if not event.startswith("/")]
        assert entered == ["checked", "pencil", "choose", *["prepare"] * 3, "verify", "run", "confirm", "present"]


PRODUCTS = sm.Pencil(np.eye(2)).products


class Fake(State):
    """A state that says what it is told to say."""

    residual = finite = final = indefinite = at_rounding = None

    def __init__(self, residual=1.0, *, finite=True, final=False, indefinite=False, at_rounding=False):
        x = np.array([1.0, 0.0])
        super().__init__(PRODUCTS, x, x, x)
        self.residual, self.finite, self.final = residual, finite, final
        self.indefinite, self.at_rounding = indefinite, at_rounding


class Scripted(Iteration):
    """Goes through the states of one pair after the other; an exception in their place is raised."""

    def __init__(self, *pairs):
        self.products = PRODUCTS
        self.pairs = [iter(states) for states in pairs]
        self.accepted, self.stepped, self.broken = [], 0, []

    def _next(self):
        item = next(self.pairs[self.pair])
        if isinstance(item, BaseException):
            raise item
        return item

    def start(self, X):
        return self._next()

    def step(self, state):
        self.stepped += 1
        return self._next()

    def accept(self, state, reason, check):
        self.accepted.append((state, reason))
        if not reason.converged or self.pair + 1 == len(self.pairs):
            return reason
        self.pair += 1
        return self._next()

    def interrupted(self, reason):
        self.broken.append(reason)
        return reason

    def block(self):
        raise AssertionError("the loop looks at states only")


def states(*residuals):
    return [Fake(residual) for residual in residuals]


def run_of(iteration, rule=None, **monitor):
    run = Run(iteration, sm.Residual(1e-3) if rule is None else rule, Monitor(**monitor))
    return run, run.until_end(lambda: iteration.start(None))


class TestMarch:
    def test_numbers(self):
        given = states(5, 4, 3, 2)
        given[-1].final = True
        assert list(march(Scripted(given[1:]), given[0])) == given
        assert [state.step for state in given] == [0, 1, 2, 3]

    def test_numbers_go_on_from_those_of_the_first(self):
        given = states(3, 2, 1)
        given[0].step, given[-1].final = 7, True
        assert [state.step for state in march(Scripted(given[1:]), given[0])] == [7, 8, 9]

    def test_no_step_before_it_is_asked_for(self):
        given = states(3, 2, 1)
        iteration = Scripted(given[1:])
        marching = march(iteration, given[0])
        for steps in range(3):
            assert next(marching) is given[steps]
            assert iteration.stepped == steps

    def test_a_final_state_is_the_last(self):
        iteration = Scripted(states(1))
        assert len(list(march(iteration, Fake(final=True)))) == 1
        assert iteration.stepped == 0


class TestRun:
    def test_until_the_rule_is_met(self):
        given = states(1, 0.1, 1e-3, 1e-9)
        iteration = Scripted(given)
        run, reason = run_of(iteration)
        assert reason is sm.Reason.RESIDUAL
        assert iteration.accepted == [(given[2], sm.Reason.RESIDUAL)]
        assert iteration.stepped == run.monitor.steps == 2
        assert run.monitor.history.residual.tolist() == [1, 0.1, 1e-3]
        assert run.monitor.history.step.tolist() == [0, 1, 2]

    def test_pair_after_pair(self):
        iteration = Scripted(states(1, 1e-4), states(1e-5), states(1, 1, 1e-4))
        run, reason = run_of(iteration)
        assert reason is sm.Reason.RESIDUAL
        assert run.monitor.history.pair.tolist() == [0, 0, 1, 2, 2, 2]
        assert run.monitor.history.step.tolist() == [0, 1, 0, 0, 1, 2]
        assert run.monitor.steps == 3

    def test_a_pair_that_fails_is_the_last(self):
        iteration = Scripted(states(1, 1e-4), states(1, 1, 1, 1), states(1e-5))
        _, reason = run_of(iteration, sm.Residual(1e-3) | sm.MaxSteps(2))
        assert reason is sm.Reason.MAX_STEPS
        assert [why for _, why in iteration.accepted] == [sm.Reason.RESIDUAL, sm.Reason.MAX_STEPS]

    def test_nothing_to_iterate(self):
        iteration = Scripted(states(1))
        run = Run(iteration, sm.Residual(), Monitor())
        assert run.until_end(lambda: sm.Reason.PRECISION) is sm.Reason.PRECISION
        assert not iteration.accepted
        assert len(run.monitor.history) == 0

    @pytest.mark.parametrize("patience", [0, 1, 2, 3])
    def test_patience(self, patience):
        """A small residual counts from this step on."""
        given = states(1e-4, 1e-5, 1e-6, 1e-7)
        iteration = Scripted(given)
        iteration.patience = patience
        run_of(iteration)
        assert iteration.accepted == [(given[patience], sm.Reason.RESIDUAL)]

    def test_patience_is_for_success_only(self):
        iteration = Scripted(states(1, 1, 1))
        iteration.patience = 100
        assert run_of(iteration, sm.MaxSteps(1))[1] is sm.Reason.MAX_STEPS
        assert iteration.stepped == 1

    @pytest.mark.parametrize(("at_rounding", "reason"), [(True, sm.Reason.PRECISION), (False, sm.Reason.EXHAUSTED)])
    def test_no_further_step(self, at_rounding, reason):
        iteration = Scripted([Fake(1), Fake(1, final=True, at_rounding=at_rounding)])
        assert run_of(iteration)[1] is reason

    def test_indefinite(self):
        """A negative xᴴAx says that the shift is too small, whatever the residual is."""
        given = [Fake(1), Fake(1e-9, indefinite=True)]
        iteration = Scripted(given)
        run_of(iteration)
        assert iteration.accepted == [(given[1], sm.Reason.EXHAUSTED)]

    def test_divergence(self):
        """The last finite state is kept, and the other one neither recorded nor shown."""
        given = [*states(1, 2), Fake(1e-9, finite=False)]
        seen = []
        iteration = Scripted(given)
        run, reason = run_of(iteration, callback=seen.append)
        assert reason is sm.Reason.DIVERGED
        assert iteration.accepted == [(given[1], sm.Reason.DIVERGED)]
        assert run.monitor.history.residual.tolist() == [1, 2]
        assert seen == given[:2]

    def test_callback(self):
        given, seen = states(1, 1, 1, 1), []

        def callback(state):
            seen.append(state)
            return state.step == 2

        iteration = Scripted(given)
        assert run_of(iteration, callback=callback)[1] is sm.Reason.CALLBACK
        assert seen == given[:3]
        assert iteration.accepted == [(given[2], sm.Reason.CALLBACK)]

    def test_success_comes_before_the_callback(self):
        assert run_of(Scripted(states(1e-9)), callback=lambda state: True)[1] is sm.Reason.RESIDUAL

    def test_quiet(self):
        """A run that checks another one leaves no trace, and cannot be stopped."""
        shown = []
        iteration = Scripted(states(1, 1e-4))
        iteration.quiet = True
        run, reason = run_of(iteration, callback=lambda state: True, show=lambda pair, state: shown.append(pair))
        assert reason is sm.Reason.RESIDUAL
        assert (len(run.monitor.history), run.monitor.steps) == (0, 0)
        assert shown == [0, 0]

    @pytest.mark.parametrize(
        ("error", "reason"),
        [(KeyboardInterrupt(), sm.Reason.INTERRUPTED), (OutOfTime(), sm.Reason.MAX_SECONDS)],
        ids=["interrupt", "time"],
    )
    @pytest.mark.parametrize("place", ["start", "step", "next pair"])
    def test_broken_off(self, error, reason, place):
        """The iteration is told, wherever that happens, and says why the run ended."""
        pairs = {"start": [[error]], "step": [[Fake(), error]], "next pair": [states(1e-4), [error]]}[place]
        iteration = Scripted(*pairs)
        run, ended = run_of(iteration)
        assert ended is reason
        assert iteration.broken == [reason]
        assert len(iteration.accepted) == (place == "next pair")
        assert len(run.monitor.history) == (place != "start")

    def test_nothing_to_keep(self):
        """An iteration without a pair to show lets the interrupt through."""

        class Empty(Scripted):
            def interrupted(self, reason):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_of(Empty([Fake(), KeyboardInterrupt()]))

    def test_other_errors_pass(self):
        iteration = Scripted([Fake(), ZeroDivisionError()])
        with pytest.raises(ZeroDivisionError):
            run_of(iteration)
        assert not iteration.broken

    def test_tighten(self):
        """A retry goes on under the same history, to a smaller residual than the rule's."""
        iteration = Scripted(states(1, 1e-4), states(1e-4, 1e-5, 1e-6))
        iteration.pairs, rest = iteration.pairs[:1], iteration.pairs[1]
        run, _ = run_of(iteration)
        run.tighten(0.01)
        iteration.pairs.append(rest)
        iteration.pair = 1
        assert run.until_end(lambda: iteration.start(None)) is sm.Reason.RESIDUAL
        assert run.monitor.history.residual.tolist() == [1, 1e-4, 1e-4, 1e-5]
        assert run.rule.residual_tol == 1e-3, "the rule stays what was asked for"
