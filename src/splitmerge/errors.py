"""What can go wrong, as classes that a caller can catch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .solution.solution import Solution


class NotPositiveDefinite(ValueError):
    """B is not positive definite to working precision; `indefinite` says that it is clearly not semidefinite either."""

    indefinite: bool = False


class NotFactorised(ValueError):
    """The library that holds a matrix has no factorisation of it with an inertia count."""


class OutOfTime(Exception):
    """The time that a stopping rule allows ran out in the middle of a step; the driver turns it into that reason."""


class NotConverged(RuntimeError):
    """No pair, or not every pair, met the stopping rule; `solution` holds everything computed so far."""

    def __init__(self, solution: Solution) -> None:
        super().__init__(f"{solution.reason.advice} {solution.summary()}")
        self.solution = solution

    def __reduce__(self) -> tuple[type[NotConverged], tuple[Solution]]:
        return type(self), (self.solution,)
