"""Convergence as curves: the residuals of each pair against products or seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from ...typing import Array

if TYPE_CHECKING:
    from ..solution import Solution

By: TypeAlias = Literal["products", "seconds"]


class Curve(NamedTuple):
    """The residuals `y` of a pair at `x` products or seconds, as the iteration knew them.

    At the `end` its residual was `confirmed`, recomputed from A and B; None for a pair that is not wanted: it was
    followed until others turned out to be wanted more. `value` is its eigenvalue.
    """

    pair: int
    value: float
    x: Array
    y: Array
    end: float
    confirmed: float | None

    @property
    def wanted(self) -> bool:
        """Is it a pair of the solution?"""
        return self.confirmed is not None


def curves(solution: Solution, by: By = "products") -> list[Curve]:
    """The curves of all pairs, in their order; none where LAPACK computed them."""
    history, count = solution.history, solution.eigenvalues.size
    if not len(history):
        return []
    end = float(solution.counts.products) if by == "products" else solution.seconds.iteration
    pairs, x, y = history.pair, getattr(history, by).astype(float), history.residual
    found = []
    for pair in range(max(count, int(pairs.max()) + 1)):
        rows = np.flatnonzero((pairs == pair) & np.isfinite(y))
        if pair < count:
            confirmed = float(solution.residuals[pair])
            found.append(Curve(pair, float(solution.eigenvalues[pair]), x[rows], y[rows], end, confirmed))
        elif rows.size:
            found.append(Curve(pair, float(history.value[rows[-1]]), x[rows], y[rows], end, None))
    return found


def tolerance(solution: Solution) -> float | None:
    """The residual that was to be reached, if the stopping rule has one."""
    problem = solution.problem
    if problem is None:
        return None
    tol: float | None = problem.tol if problem.stop is None else problem.stop.residual_tol
    return tol
