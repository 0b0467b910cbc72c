"""The clock of an iteration: it starts when the set-up is complete, and its limit counts from there."""

import math

import pytest

from splitmerge.errors import OutOfTime
from splitmerge.system import budget
from splitmerge.system.budget import Budget


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes only when it is told to."""

    class Clock:
        now = 1000.0

        def perf_counter(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(budget, "time", clock)
    return clock


def test_the_set_up_is_not_counted(clock):
    limited = Budget(5.0)
    clock.now += 100
    assert limited.begin() == limited.clock == 1100
    assert limited.elapsed() == 0
    assert not limited.passed(5.0)
    clock.now += 3
    assert limited.elapsed() == 3


def test_every_beginning_starts_anew(clock):
    """As every candidate of a plan has the whole time."""
    limited = Budget(5.0)
    for _ in range(3):
        limited.begin()
        clock.now += 4
        limited.check()
        assert limited.elapsed() == 4


def test_nothing_is_raised_before_it_has_begun(clock):
    limited = Budget(5.0)
    clock.now += 1e6
    limited.check()


@pytest.mark.parametrize(("seconds", "over"), [(0.0, False), (4.9, False), (5.0, True), (5.1, True), (1e9, True)])
def test_the_limit(clock, seconds, over):
    limited = Budget(5.0)
    limited.begin()
    clock.now += seconds
    assert limited.passed(5.0) is over
    if over:
        with pytest.raises(OutOfTime):
            limited.check()
    else:
        limited.check()


@pytest.mark.parametrize("seconds", [0.0, 1e12])
def test_no_limit(clock, seconds):
    unlimited = Budget()
    assert unlimited.limit == math.inf
    unlimited.begin()
    clock.now += seconds
    unlimited.check()
    assert not unlimited.passed(math.inf)


def test_any_number_of_seconds_may_be_asked_for(clock):
    """Rules ask for their own limits, whatever that of the budget is."""
    limited = Budget(5.0)
    limited.begin()
    clock.now += 2
    assert [limited.passed(seconds) for seconds in (1.0, 2.0, 3.0)] == [True, True, False]
