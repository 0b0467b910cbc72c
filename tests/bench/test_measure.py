"""Trials: what their times and counts consist of, by a clock that only moves where the test lets it."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import splitmerge as sm
from pairs import pair_of
from splitmerge.bench import measure
from splitmerge.bench.cases import Case
from splitmerge.bench.measure import Arpack, Default, Iteration, Trial, timed

FACTORISATION, STEP = 8.0, 0.25
CASE = Case("separated", "pair_of", *pair_of(2.0 ** -np.arange(12)))


class Clock:
    """Stands for the module `time`."""

    now = 0.0

    def perf_counter(self):
        return self.now


@dataclass(frozen=True)
class SlowCholesky:
    """A factorisation that takes its time on the clock."""

    clock: Clock

    def prepare(self, pencil):
        self.clock.now += FACTORISATION
        return sm.Cholesky().prepare(pencil)

    def describe(self, pencil):
        return "a slow factorisation of B"


@dataclass(frozen=True)
class SlowPower(sm.Power):
    """The power method with steps that take their time on the clock of its solver."""

    def step(self, state):
        self.inner.clock.now += STEP
        return super().step(state)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(measure, "time", clock)
    return clock


def test_the_factorisation_is_set_up_and_the_steps_are_iteration(clock):
    """B is factorised once, and every trial says what that took, not only the first."""
    side = Iteration(CASE, "slow", SlowPower(inner=SlowCholesky(clock)))
    trials = [side.trial(number) for number in range(3)]
    for trial in trials:
        assert trial.success
        assert trial.steps > 5
        assert (trial.setup, trial.seconds) == (FACTORISATION, STEP * trial.steps)
    assert clock.now == FACTORISATION + sum(trial.seconds for trial in trials)


@dataclass(frozen=True)
class PreparedPower(SlowPower):
    """With a set-up of its own that takes its time."""

    def setup(self, products, rng):
        self.inner.clock.now += 2.0
        return super().setup(products, rng)


def test_the_set_up_of_the_method_is_no_part_of_the_iteration(clock):
    side = Iteration(CASE, "slow", PreparedPower(inner=SlowCholesky(clock)))
    trial = side.trial(0)
    assert trial.seconds == STEP * trial.steps
    assert side.setup >= FACTORISATION
    assert trial.setup == side.setup + 2.0


def test_what_is_timed_as_a_whole_has_no_set_up(clock):
    trial = Default(CASE, "slow", SlowPower(inner=SlowCholesky(clock))).trial(0)
    assert trial.success
    assert trial.setup == 0
    assert trial.seconds >= FACTORISATION + STEP * trial.steps
    assert Arpack(CASE, "eigsh").trial(0).setup == 0


@pytest.mark.parametrize(
    ("method", "names"),
    [(sm.Power(), {"B_solves"}), (sm.MirrorDescent(), {"P_solves"}), (sm.GradientDescent(), {"B_products"})],
    ids=lambda value: type(value).__name__ if isinstance(value, sm.Method) else ",".join(value),
)
def test_counts_are_those_of_the_trial(method, names):
    """One product with A a step and one at the start, and one of the others a step; in every trial anew."""
    side = Iteration(CASE, "counted", method)
    for number in range(3):
        trial = side.trial(number)
        assert trial.success
        assert trial.A_products == trial.steps + 1
        own = {name: getattr(trial, name) for name in ("B_products", "B_solves", "P_solves", "K_solves")}
        # B x of the start is a product with B, too
        expected = {name: trial.steps * (name in names) + (name == "B_products") for name in own}
        assert own == expected


@pytest.mark.parametrize(("seconds", "runs"), [([0.03, 0.01, 0.02], 3), ([1.0, 0.01, 0.02], 1)], ids=["short", "long"])
def test_short_runs_are_repeated_and_the_fastest_counts(seconds, runs):
    plain = Trial("m", 4, True, "angle", 0.0, 1, 0.0, 0.0, **dict.fromkeys(measure.COUNTS, 0))
    asked = []

    class Side:
        def trial(self, number):
            asked.append(number)
            return replace(plain, seconds=seconds[len(asked) - 1])

    assert timed(Side(), 4, 3).seconds == min(seconds[:runs])
    assert asked == [4] * runs
