"""When to stop: rules as objects, combined with `|` (whichever comes first) and `&` (only when both hold)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ..checks import instance, real, whole
from ..objective.state import State, as_frame
from ..problem.products import Products
from ..problem.start import columns
from .reason import Reason

Check: TypeAlias = Callable[[State], "Reason | None"]


class Rule(ABC):
    """A stopping rule; it holds no state of its own, `begin` makes the check for one solve.

    A rule of your own implements `begin(products)`, which returns a function of a `State`: the `Reason` to stop, or
    None. `products` has the pencil, the counts and the clock of the iteration.
    """

    @abstractmethod
    def begin(self, products: Products) -> Check:
        """A function that returns the reason to stop at a state, or None."""

    @property
    def residual_tol(self) -> float | None:
        """The residual tolerance that this rule stands for, if any."""
        return None

    @property
    def angle_tol(self) -> float | None:
        """The sine of an angle that this rule stands for, if any."""
        return None

    @property
    def time_limit(self) -> float:
        """Seconds after which this rule ends an iteration whatever else it says; long solves poll it as well."""
        return math.inf

    def tightened(self, factor: float) -> Rule:
        """The rule with the residual tolerance multiplied by `factor`; other rules stay as they are."""
        return self

    def __or__(self, other: Rule) -> Rule:
        instance(other, "what follows |", Rule, "a rule such as MaxSeconds(60)")
        return _Either(self, other)

    def __and__(self, other: Rule) -> Rule:
        instance(other, "what follows &", Rule, "a rule such as MaxSeconds(60)")
        return _Both(self, other)


@dataclass(frozen=True)
class Residual(Rule):
    """The relative residual, as `Solution.residuals` defines it, is at most `tol`.

    Where rounding hides the tolerance it stops with `Reason.PRECISION`: at a backward error of a few ulp of A and B
    (`State.floor`); or, as the rounding of an iteration may hide even that, once the residual is at its level
    (`State.at_rounding`) and has not fallen by a tenth for `State.patience` steps. Verification then decides. Of an
    iteration that projects on a subspace it stops with `Reason.STAGNATED` after `State.endurance` such steps.
    """

    tol: float = 1e-8

    def __post_init__(self) -> None:
        real(self.tol, "tol")

    def begin(self, products: Products) -> Check:
        """Compare with the residual that the state knows."""
        best, seen = math.inf, 0

        def check(state: State) -> Reason | None:
            nonlocal best, seen
            residual = state.residual
            if residual <= self.tol:
                return Reason.RESIDUAL
            if residual <= state.floor:
                return Reason.PRECISION
            if state.step == 0 or residual < 0.9 * best:
                best, seen = residual, state.step
            elif state.step >= seen + state.patience and state.at_rounding:
                return Reason.PRECISION
            elif state.step >= seen + state.endurance:
                return Reason.STAGNATED
            return None

        return check

    @property
    def residual_tol(self) -> float | None:
        """`tol` itself."""
        return self.tol

    def tightened(self, factor: float) -> Rule:
        """The same rule with a smaller tolerance."""
        return replace(self, tol=self.tol * factor)


@dataclass(frozen=True, eq=False)
class SineAngle(Rule):
    """sin θ ≤ tol for the B-angle θ between x and `reference` (or the span of its columns): the paper's rule."""

    reference: Any
    tol: float = 1e-5

    def __post_init__(self) -> None:
        real(self.tol, "tol")

    @property
    def angle_tol(self) -> float | None:
        """`tol` itself."""
        return self.tol

    def __repr__(self) -> str:
        return f"SineAngle(reference of shape {np.shape(self.reference)}, tol={self.tol:g})"

    def begin(self, products: Products) -> Check:
        """B-orthonormalise the reference; products are counted as monitoring."""
        U = columns(self.reference, "reference", products.pencil)
        frame = as_frame(U, products.monitoring)
        return lambda state: Reason.ANGLE if state.sine(frame) <= self.tol else None


@dataclass(frozen=True)
class MaxSteps(Rule):
    """Stop after `steps` steps for one pair."""

    steps: int = 100_000

    def __post_init__(self) -> None:
        whole(self.steps, "steps", 1)

    def begin(self, products: Products) -> Check:
        """Count."""
        return lambda state: Reason.MAX_STEPS if state.step >= self.steps else None


@dataclass(frozen=True)
class MaxSeconds(Rule):
    """Stop when the iteration, over all pairs, has taken `seconds`; the set-up is not counted."""

    seconds: float

    def __post_init__(self) -> None:
        if self.seconds != math.inf:
            real(self.seconds, "seconds")

    def begin(self, products: Products) -> Check:
        """Compare with the clock that has run since the iteration began."""
        budget = products.budget
        return lambda state: Reason.MAX_SECONDS if budget.passed(self.seconds) else None

    @property
    def time_limit(self) -> float:
        """`seconds` itself."""
        return self.seconds


@dataclass(frozen=True)
class Stagnation(Rule):
    """Stop when the smallest residual has not fallen for `steps` steps."""

    steps: int = 1000

    def __post_init__(self) -> None:
        whole(self.steps, "steps", 1)

    def begin(self, products: Products) -> Check:
        """Remember the best residual and when it was seen."""
        best, seen = math.inf, 0

        def check(state: State) -> Reason | None:
            nonlocal best, seen
            if state.step == 0 or state.residual < best:
                best, seen = state.residual, state.step
            return Reason.STAGNATED if state.step - seen >= self.steps else None

        return check


@dataclass(frozen=True)
class _Either(Rule):
    left: Rule
    right: Rule

    def __repr__(self) -> str:
        return f"{self.left!r} | {self.right!r}"

    def begin(self, products: Products) -> Check:
        left, right = self.left.begin(products), self.right.begin(products)

        def check(state: State) -> Reason | None:
            first = left(state)
            if first is not None and first.converged:
                return first
            second = right(state)
            return second if second is not None and (first is None or second.converged) else first

        return check

    @property
    def residual_tol(self) -> float | None:
        return max(_tolerances(self.left, self.right), default=None)

    @property
    def angle_tol(self) -> float | None:
        return self.left.angle_tol or self.right.angle_tol

    @property
    def time_limit(self) -> float:
        return min(self.left.time_limit, self.right.time_limit)

    def tightened(self, factor: float) -> Rule:
        return _Either(self.left.tightened(factor), self.right.tightened(factor))


@dataclass(frozen=True)
class _Both(Rule):
    left: Rule
    right: Rule

    def __repr__(self) -> str:
        return f"({self.left!r}) & ({self.right!r})"

    def begin(self, products: Products) -> Check:
        left, right = self.left.begin(products), self.right.begin(products)

        def check(state: State) -> Reason | None:
            first, second = left(state), right(state)
            if first is None or second is None:
                return None
            # residuals are held to their tolerance, angles are not
            return second if second.converged and first is not Reason.RESIDUAL else first

        return check

    @property
    def residual_tol(self) -> float | None:
        return min(_tolerances(self.left, self.right), default=None)

    def tightened(self, factor: float) -> Rule:
        return _Both(self.left.tightened(factor), self.right.tightened(factor))


def is_of_residuals(rule: Rule) -> bool:
    """Is it a rule for residuals, or a choice of them?"""
    if isinstance(rule, _Either):
        return is_of_residuals(rule.left) and is_of_residuals(rule.right)
    return isinstance(rule, Residual)


def is_met_at_rounding(rule: Rule) -> bool:
    """Do residuals at rounding meet it? A limit beside a goal is not another one."""
    if isinstance(rule, _Either):
        return is_met_at_rounding(rule.left) or is_met_at_rounding(rule.right)
    if isinstance(rule, _Both):
        goals = [part for part in (rule.left, rule.right) if not _is_limit(part)]
        return bool(goals) and all(map(is_met_at_rounding, goals))
    return rule.residual_tol is not None


def _is_limit(rule: Rule) -> bool:
    """Does it ask for nothing to be reached?"""
    if isinstance(rule, _Either | _Both):
        return _is_limit(rule.left) and _is_limit(rule.right)
    return rule.residual_tol is None and rule.angle_tol is None


def _tolerances(*rules: Rule) -> list[float]:
    return [rule.residual_tol for rule in rules if rule.residual_tol is not None]
