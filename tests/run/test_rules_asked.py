"""What is asked of a rule before and after a search: is it one of residuals, and does rounding meet it?"""

import math

import numpy as np
import pytest

import splitmerge as sm
from pairs import EASY
from splitmerge import Reason
from splitmerge.run.rules import Rule, is_met_at_rounding, is_of_residuals


class Own(Rule):
    """A rule of the user, which stands for nothing that is known."""

    def begin(self, products):
        return lambda state: None


R, S, T, G = sm.Residual(1e-6), sm.MaxSteps(9), sm.MaxSeconds(5.0), sm.Stagnation(7)
U, OWN = sm.SineAngle(np.ones(40), 1e-3), Own()
LIMITS = {"steps": S, "seconds": T, "stagnation": G, "own": OWN}


class TestOfResiduals:
    @pytest.mark.parametrize("rule", [R, R | sm.Residual(1e-3), (R | R) | R], ids=repr)
    def test_it_is(self, rule):
        assert is_of_residuals(rule)

    @pytest.mark.parametrize("other", [*LIMITS.values(), U], ids=lambda rule: type(rule).__name__)
    def test_it_is_not(self, other):
        """One part that is not is enough, wherever it stands; two that have to hold are no choice of residuals."""
        for rule in (other, other | R, R | other, (R | other) | R, R | (R | other), other & R, R & R, R | (R & R)):
            assert not is_of_residuals(rule)


class TestMetAtRounding:
    @pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
    def test_a_limit_is_no_goal(self, limit):
        """Beside a residual it changes nothing, and by itself there is nothing to be met."""
        for rule in (R, R | limit, limit | R, R & limit, limit & R, (R & limit) | limit, R & (limit | limit)):
            assert is_met_at_rounding(rule)
        for rule in (limit, limit | limit, limit & limit, limit | (limit & limit), (limit | limit) & limit):
            assert not is_met_at_rounding(rule)

    def test_an_angle_is_another_goal(self):
        """Rounding of residuals says nothing of it: it suffices beside it, and not with it."""
        for rule in (U, U & R, R & U, (U | S) & R, R & (S | U), R & (S & U), (R & S) & U):
            assert not is_met_at_rounding(rule)
        for rule in (U | R, R | U, (U & S) | R, (U | R) & R, R & (R | U)):
            assert is_met_at_rounding(rule)

    @pytest.mark.parametrize("way", [lambda one, two: one & two, lambda one, two: two & one], ids=["&", "other way"])
    def test_of_both_every_goal_has_to_be_met(self, way):
        assert is_met_at_rounding(way(R, sm.Residual(1e-3)))
        assert is_met_at_rounding(way(R, R | U))
        assert not is_met_at_rounding(way(R, U & R))


def test_the_angle_that_a_rule_stands_for():
    """That of either part, also where it stands second; of both parts together none."""
    other = sm.SineAngle(np.ones(40), 1e-5)
    assert U.angle_tol == (U | R).angle_tol == (R | U).angle_tol == (S | (T | U)).angle_tol == 1e-3
    assert (other | R).angle_tol == 1e-5
    assert R.angle_tol is (R | S).angle_tol is (R & U).angle_tol is OWN.angle_tol is None


def test_what_a_rule_of_the_user_stands_for():
    assert OWN.residual_tol is None
    assert OWN.time_limit == math.inf
    assert OWN.tightened(0.1) is OWN
    assert (OWN | R).residual_tol == 1e-6
    assert (OWN | T).time_limit == 5.0
    assert (OWN | R).tightened(0.5).residual_tol == 5e-7


@pytest.mark.parametrize("rule", [S, T, G, U], ids=lambda rule: type(rule).__name__)
def test_only_residuals_are_tightened(rule):
    assert rule.tightened(0.1) is rule
    assert (rule | R).tightened(0.1).left is rule
    assert (R & rule).tightened(0.1).right is rule


@pytest.mark.parametrize("given", [60, None, "Residual", sm.Residual])
def test_a_rule_is_combined_with_rules_only(given):
    with pytest.raises(ValueError, match=r"^what follows \| is .*give a rule such as MaxSeconds\(60\)"):
        R | given
    with pytest.raises(ValueError, match=r"^what follows & is .*give a rule such as MaxSeconds\(60\)"):
        R & given


@pytest.mark.parametrize("make", [sm.Residual, sm.MaxSeconds, lambda tol: sm.SineAngle(np.ones(3), tol)])
@pytest.mark.parametrize("bad", [0, -1e-8, math.nan, -math.inf, "1", True, 1j, None])
def test_numbers_that_are_refused(make, bad):
    with pytest.raises(ValueError, match=r"^(tol|seconds) is .*; give a positive number$"):
        make(bad)


@pytest.mark.parametrize("make", [sm.MaxSteps, sm.Stagnation])
@pytest.mark.parametrize("bad", [0, -1, 1.0, True, None, "7"])
def test_steps_that_are_refused(make, bad):
    with pytest.raises(ValueError, match=r"^steps is .*; give a whole number"):
        make(bad)
    assert make(1).steps == 1


class Fixed(Rule):
    """Gives this reason from this step on."""

    def __init__(self, reason, step=0):
        self.reason, self.step = reason, step

    def begin(self, products):
        return lambda state: self.reason if state.step >= self.step else None


class State:
    def __init__(self, step):
        self.step = step


REASONS = [None, Reason.RESIDUAL, Reason.PRECISION, Reason.ANGLE, Reason.MAX_STEPS, Reason.STAGNATED]


@pytest.mark.parametrize("first", REASONS)
@pytest.mark.parametrize("second", REASONS)
def test_which_reason_is_told(first, second):
    """Of either that which came, success before failure and the left before the right; of both, the weaker promise."""
    left, right = Fixed(first), Fixed(second)
    either = (left | right).begin(None)(State(0))
    converged = [reason for reason in (first, second) if reason is not None and reason.converged]
    others = [reason for reason in (first, second) if reason is not None]
    assert either is (converged or others or [None])[0]
    both = (left & right).begin(None)(State(0))
    if first is None or second is None:
        assert both is None
    elif Reason.RESIDUAL in (first, second) and all(reason.converged for reason in (first, second)):
        assert both is Reason.RESIDUAL
    else:
        assert both in (first, second)
        # success where any of the two is one, as a limit is no failure of the other
        assert both.converged == any(reason.converged for reason in (first, second))


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-7])
def test_the_angle_is_within_its_tolerance(tol):
    """Neither far below it nor above it, as each step makes it a little smaller."""
    A, B = EASY
    U = sm.solve(A, B, tol=1e-13).eigenvectors
    sol = sm.solve(A, B, method=sm.Power(), stop=sm.SineAngle(U, tol), rng=0)
    x = sol.eigenvectors[:, 0]
    sine = np.sqrt(max(0.0, 1 - (U[:, 0] @ B @ x) ** 2))
    assert sol.reason is Reason.ANGLE
    assert 0.3 * tol <= sine <= 1.01 * tol
