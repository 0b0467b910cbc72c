"""When to stop: rules as objects, combined with `|` (whichever comes first) and `&` (only when both hold)."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeAlias

import numpy as np

from .kernels import Array
from .pencil import Pencil
from .state import State


class Reason(Enum):
    """Why an iteration ended; `advice` says what it means and what to do."""

    RESIDUAL = "The residual met the tolerance."
    ANGLE = "The angle to the reference met the tolerance."
    MAX_STEPS = "The limit of steps was reached: allow more max_steps, loosen tol, or choose a faster method."
    MAX_SECONDS = "The time limit was reached: allow more seconds, or choose a faster method."
    STAGNATED = (
        "The residual no longer falls: the tolerance is beyond what this precision allows, or progress is too slow."
    )
    EXHAUSTED = "The search space is exhausted before the rule was met: start from another x0."
    UNCONFIRMED = (
        "The residual recomputed from A and B stays above the tolerance: loosen tol, or solve with B more exactly."
    )
    MISSED = "A larger eigenvalue is known to exist than the one found: start from another x0, or use Lanczos."
    CALLBACK = "The callback asked to stop."
    INTERRUPTED = "The run was interrupted from the keyboard."

    @property
    def advice(self) -> str:
        """The text of the reason."""
        return self.value

    @property
    def converged(self) -> bool:
        """Does this reason mean success?"""
        return self in (Reason.RESIDUAL, Reason.ANGLE)


Check: TypeAlias = Callable[[State], "Reason | None"]


class Rule(ABC):
    """A stopping rule; it holds no state of its own, `begin` makes the check for one solve."""

    @abstractmethod
    def begin(self, pencil: Pencil) -> Check:
        """A function that returns the reason to stop at a state, or None."""

    @property
    def residual_tol(self) -> float | None:
        """The residual tolerance that this rule stands for, if any."""
        return None

    def tightened(self, factor: float) -> Rule:
        """The rule with the residual tolerance `factor` times as large; other rules stay as they are."""
        return self

    def __or__(self, other: Rule) -> Rule:
        return _Either(self, other)

    def __and__(self, other: Rule) -> Rule:
        return _Both(self, other)


@dataclass(frozen=True)
class Residual(Rule):
    """‖Ax − λBx‖ ≤ tol Λ ‖Bx‖, Λ the largest eigenvalue found (shift included).

    A tolerance below what rounding lets anyone see, 4 √n eps of the working precision, is raised to that.
    """

    tol: float = 1e-8

    def __post_init__(self) -> None:
        check_tolerance(self.tol)

    def begin(self, pencil: Pencil) -> Check:
        """Compare with the residual that the state knows."""
        tol = visible(self.tol, pencil)
        return lambda state: Reason.RESIDUAL if state.residual <= tol else None

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
        check_tolerance(self.tol)

    def __repr__(self) -> str:
        return f"SineAngle(reference of shape {np.shape(self.reference)}, tol={self.tol:g})"

    def begin(self, pencil: Pencil) -> Check:
        """B-orthonormalise the reference; products are booked as monitoring."""
        U = np.asarray(self.reference, dtype=pencil.dtype)
        U = U[:, None] if U.ndim == 1 else U
        if U.ndim != 2 or U.shape[0] != pencil.n or U.shape[1] == 0:
            raise ValueError(f"reference has shape {np.shape(self.reference)}; give a vector of length {pencil.n}")
        if not np.isfinite(U).all() or not np.abs(U).max() > 0:
            raise ValueError("reference must be finite and not zero")
        U = U / np.abs(U).max()
        with pencil.counting(pencil.counts.monitoring):
            BU = np.column_stack([pencil.apply_B(np.ascontiguousarray(u)) for u in U.T])
        R = np.linalg.cholesky(U.conj().T @ BU).conj().T
        U, BU = np.linalg.solve(R.T, U.T).T, np.linalg.solve(R.T, BU.T).T

        def check(state: State) -> Reason | None:
            return Reason.ANGLE if sine(state.x, state.Bx, U, BU) <= self.tol else None

        return check


def sine(x: Array, Bx: Array, U: Array, BU: Array) -> float:
    """sin of the B-angle between x and the span of the B-orthonormal U, without the cancellation of 1 − cos²."""
    c = BU.conj().T @ x
    square = np.vdot(x - U @ c, Bx - BU @ c).real / np.vdot(x, Bx).real
    return math.sqrt(max(float(square), 0.0))


@dataclass(frozen=True)
class MaxSteps(Rule):
    """Stop after `steps` steps for one pair."""

    steps: int = 100_000

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps is {self.steps}; at least 1 is needed")

    def begin(self, pencil: Pencil) -> Check:
        """Count."""
        return lambda state: Reason.MAX_STEPS if state.step >= self.steps else None


@dataclass(frozen=True)
class MaxSeconds(Rule):
    """Stop when the iteration, over all pairs, has taken `seconds`; the set-up is not counted."""

    seconds: float

    def __post_init__(self) -> None:
        if not self.seconds > 0:
            raise ValueError(f"seconds is {self.seconds}; give a positive number")

    def begin(self, pencil: Pencil) -> Check:
        """Look at the clock that runs since the iteration began."""
        end = pencil.clock + self.seconds
        return lambda state: Reason.MAX_SECONDS if time.perf_counter() >= end else None


@dataclass(frozen=True)
class Stagnation(Rule):
    """Stop when the smallest residual has not fallen for `steps` steps."""

    steps: int = 1000

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps is {self.steps}; at least 1 is needed")

    def begin(self, pencil: Pencil) -> Check:
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

    def begin(self, pencil: Pencil) -> Check:
        left, right = self.left.begin(pencil), self.right.begin(pencil)

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

    def tightened(self, factor: float) -> Rule:
        return _Either(self.left.tightened(factor), self.right.tightened(factor))


@dataclass(frozen=True)
class _Both(Rule):
    left: Rule
    right: Rule

    def __repr__(self) -> str:
        return f"({self.left!r}) & ({self.right!r})"

    def begin(self, pencil: Pencil) -> Check:
        left, right = self.left.begin(pencil), self.right.begin(pencil)

        def check(state: State) -> Reason | None:
            first, second = left(state), right(state)
            if first is None or second is None:
                return None
            return second if second.converged else first

        return check

    @property
    def residual_tol(self) -> float | None:
        return min(_tolerances(self.left, self.right), default=None)

    def tightened(self, factor: float) -> Rule:
        return _Both(self.left.tightened(factor), self.right.tightened(factor))


def _tolerances(*rules: Rule) -> list[float]:
    return [rule.residual_tol for rule in rules if rule.residual_tol is not None]


def check_tolerance(tol: float) -> None:
    """Refuse what cannot be a tolerance."""
    if isinstance(tol, bool) or not isinstance(tol, (int, float, np.number)) or not (tol > 0 and math.isfinite(tol)):
        raise ValueError(f"tol is {tol!r}; give a positive number such as 1e-8")


def visible(tol: float, pencil: Pencil) -> float:
    """The tolerance, but not below the rounding of one product."""
    return max(float(tol), 4 * math.sqrt(pencil.n) * pencil.eps)
