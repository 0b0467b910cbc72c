"""Rules by themselves: when they hold, and what two of them stand for together."""

import itertools
import math
from types import SimpleNamespace

import pytest

import splitmerge as sm
from splitmerge.run.reason import Reason

RESIDUAL, SECONDS, STEPS = sm.Residual(1e-6), sm.MaxSeconds(5.0), sm.MaxSteps(7)


def state(step, residual, *, floor=0.0, at_rounding=False, patience=10, endurance=math.inf):
    return SimpleNamespace(
        step=step, residual=residual, floor=floor, at_rounding=at_rounding, patience=patience, endurance=endurance
    )


def ended(rule, states):
    """The step at which the rule stops these states, and why."""
    check = rule.begin(None)
    return next(((at.step, reason) for at in states if (reason := check(at)) is not None), None)


class TestResidual:
    def test_the_tolerance_and_the_floor(self):
        assert ended(RESIDUAL, [state(0, 1e-3), state(1, 2e-6), state(2, 1e-6)]) == (2, Reason.RESIDUAL)
        assert ended(RESIDUAL, [state(0, 1e-3), state(1, 2e-6, floor=3e-6)]) == (1, Reason.PRECISION)

    def test_a_residual_that_hardly_falls_at_rounding(self):
        """By a hundredth a step is no progress: a tenth since the best is needed within the patience."""
        slow = [state(i, 1e-3 * 0.995**i, at_rounding=True) for i in range(50)]
        assert ended(RESIDUAL, slow) == (10, Reason.PRECISION)
        assert ended(RESIDUAL, [state(i, 1e-3 * 0.98**i, at_rounding=True) for i in range(50)]) is None
        assert ended(RESIDUAL, [state(i, 1e-3 * 0.995**i) for i in range(50)]) is None

    def test_endurance(self):
        lasting = [state(i, 1e-3, endurance=20) for i in range(50)]
        assert ended(RESIDUAL, lasting) == (20, Reason.STAGNATED)


def test_the_shorter_time_counts():
    """Long solves are ended by it, wherever it stands among the rules."""
    for rule in (
        RESIDUAL | SECONDS,
        SECONDS | RESIDUAL,
        (STEPS | SECONDS) | sm.MaxSeconds(9),
        sm.MaxSeconds(9) | SECONDS,
    ):
        assert rule.time_limit == 5
    assert (RESIDUAL | STEPS).time_limit == math.inf
    # both have to hold, so that time alone ends nothing
    assert (RESIDUAL & SECONDS).time_limit == math.inf


def test_the_tolerance_of_two():
    loose = sm.Residual(1e-3)
    assert (RESIDUAL | loose).residual_tol == (loose | RESIDUAL).residual_tol == 1e-3
    assert (RESIDUAL & loose).residual_tol == (loose & RESIDUAL).residual_tol == 1e-6
    assert (RESIDUAL | STEPS).residual_tol == 1e-6
    assert (STEPS | SECONDS).residual_tol is None
    assert (RESIDUAL & loose).tightened(0.1).residual_tol == 1e-7
    assert (RESIDUAL | STEPS).tightened(0.1).residual_tol == 1e-7


@pytest.mark.parametrize("rule", [STEPS & RESIDUAL, RESIDUAL & STEPS])
def test_of_both_the_one_that_converged_is_told(rule):
    assert ended(rule, [state(i, 1e-3 if i < 9 else 1e-7) for i in range(12)]) == (9, Reason.RESIDUAL)


@pytest.mark.parametrize("lasting", [sm.Stagnation(10), RESIDUAL], ids=["stagnation", "residual"])
def test_both_of_two_see_every_state(lasting):
    """A rule that remembers has seen the states at which the other one did not hold."""
    states = [state(i, 1e-3, endurance=10) for i in range(60)]
    assert ended(lasting, states) == (10, Reason.STAGNATED)
    for late in (sm.MaxSteps(20), sm.Stagnation(20)):
        assert ended(late & lasting, states)[0] == ended(lasting & late, states)[0] == 20


# rules that remember earlier states, and states of one pair at which none of them has held yet
STAGNATION = sm.Stagnation(10)
WITH_MEMORY = {
    "residual": RESIDUAL,
    "stagnation": STAGNATION,
    "either": RESIDUAL | STAGNATION,
    "either, other way": STAGNATION | RESIDUAL,
    "both": RESIDUAL & STAGNATION,
    "both, other way": STAGNATION & RESIDUAL,
    "nested": (RESIDUAL & STAGNATION) | sm.MaxSteps(1000) | sm.Stagnation(12),
    "tightened": (RESIDUAL | STAGNATION).tightened(0.1),
}
PAIRS = {
    "falling": [1e-3 * 0.5**i for i in range(9)],
    "standing": [1e-3] * 9,
    "rising": [1e-5 * 2**i for i in range(9)],
    "one": [1e-5],
}
LATER = {
    "standing": [state(i, 1e-2) for i in range(40)],
    "standing at rounding": [state(i, 1e-2, at_rounding=True) for i in range(40)],
    "enduring": [state(i, 1e-2, endurance=11) for i in range(40)],
    "falling slowly": [state(i, 1e-2 * 0.95**i, at_rounding=True, endurance=15) for i in range(40)],
    "lower in the end": [state(i, 1e-2 if i < 8 else 1e-7, endurance=20) for i in range(40)],
}


@pytest.mark.parametrize("rule", WITH_MEMORY.values(), ids=WITH_MEMORY)
@pytest.mark.parametrize("earlier", [*itertools.permutations(PAIRS, 2)], ids="-".join)
def test_what_earlier_pairs_did_does_not_matter(rule, earlier):
    """Step 0 is the first of another pair: a rule then ends it as it would by itself."""
    for states in LATER.values():
        check = rule.begin(None)
        for residuals in (PAIRS[name] for name in earlier):
            assert not any(check(state(i, residual)) for i, residual in enumerate(residuals))
        found = next(((at.step, reason) for at in states if (reason := check(at)) is not None), None)
        assert found == ended(rule, states)
