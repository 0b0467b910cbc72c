"""The solution of the short way: what residuals amount to, and the figures and decisions of the pipeline."""

from __future__ import annotations

import time
from operator import le
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..linalg.rounding import Levels, Scale, levels_of
from ..methods.krylov.accelerated import Accelerated
from ..planning.decision import Choice, Decision
from ..problem.problem import Problem
from ..problem.products import Counts, Tally
from ..run.history import History
from ..run.reason import Reason
from ..run.rules import MaxSteps, Residual
from ..solution.back_transform import with_signs
from ..solution.solution import Seconds, Solution
from ..verification.bounds import bounds_from
from ..verification.verdict import Verdict
from .found import Found
from .plain import EPS

# What is not asked for.
USUAL = {"sigma": None, "method": None, "stop": None, "max_steps": None, "b_policy": "error"}
# Decisions whose figures are always the same.
EQUILIBRATED = Decision(Choice.EQUILIBRATED)
ACCELERATED = Accelerated()

T = TypeVar("T")


def made(kind: type[T], **fields: Any) -> T:
    """A record with these fields and the defaults of its class, without the cost of a frozen record's constructor."""
    record = object.__new__(kind)
    record.__dict__.update(fields)
    return record


class Clock(NamedTuple):
    """When the solve began, when LAPACK or the search did, and when it had the pairs."""

    began: float
    ready: float
    found: float

    def seconds(self) -> Seconds:
        """The time until now."""
        now = time.perf_counter()
        return made(Seconds, setup=self.ready - self.began, iteration=now - self.ready, verification=now - self.found)


class Checked(NamedTuple):
    """The sizes that residuals are compared with, in each system of coordinates; do all meet the tolerance?"""

    levels: list[Levels]
    scale: Scale
    met: bool


def checked(
    found: Found, scales: list[tuple[float, float]], units: float, tol: float, sigma: float | None
) -> Checked | None:
    """What the residuals amount to; None unless all are within the tolerance or at the level of rounding.

    `scales` are the 1-norms of A and B in each system of coordinates, and `units` the units of rounding of products.
    """
    pairs = zip(found.norms, scales, strict=True)
    levels = [levels_of(found.values, found.errors, norms, pair, EPS, sigma, units) for norms, pair in pairs]
    systems = zip(found.norms, levels, strict=True)
    met = all(all(map(le, norms[0], [tol * size for size in level.sizes])) for norms, level in systems)
    if not met and not _stands(found.norms, levels, tol):
        return None
    n = found.vectors.shape[1]
    return Checked(levels, Scale(0.0, 0.0, n, EPS, *scales[-1], units), met)


def _stands(systems: list[list[list[float]]], levels: list[Levels], tol: float) -> bool:
    """Are all residuals within the tolerance or at the level of rounding, in every system of coordinates?

    The pipeline improves those that are not, and excuses more of a decomposition of a large pair.
    """
    for (norms, *_), level in zip(systems, levels, strict=True):
        for norm, size, floor in zip(norms, level.sizes, level.floors, strict=True):
            if not norm <= max(tol * size, floor):
                return False
    return True


class Way(NamedTuple):
    """How the pairs were found: the gaps that are known, what shows that none is missing, and what it took."""

    gaps: list[float]
    verdict: Verdict
    decisions: tuple[Decision, ...]
    shift: float
    counts: Counts
    monitoring: Tally
    steps: int = 0
    history: History | None = None
    method: Accelerated | None = None


def iteration(tol: float) -> Decision:
    """The decision for a search."""
    figures = {"method": ACCELERATED, "rule": Residual(tol) | MaxSteps()}
    return made(Decision, choice=Choice.ITERATION, figures=figures)


def told(rows: list[Any], values: list[float], products: int) -> tuple[int, History]:
    """The steps of a search, and its history."""
    history = History.of_rows(rows).concluded(np.array(values), 0, products)
    return sum(row[1] > 0 for row in rows), history


def wanted(problem: Problem, n: int, kinds: tuple[str, ...], dtype: Any) -> Decision:
    """The decision about the problem."""
    figures = {
        "k": problem.k,
        "which": problem.which,
        "sigma": problem.sigma,
        "interval": None,
        "n": n,
        "kinds": kinds,
        "dtype": dtype,
    }
    return made(Decision, choice=Choice.WANTED, figures=figures)


def solution(found: Found, checked: Checked, way: Way, problem: Problem, clock: Clock, sigma: float | None) -> Solution:
    """The solution with all its figures."""
    values, levels = found.values, checked.levels
    n = found.vectors.shape[1]
    bounds = bounds_from(values, found.errors, levels[-1].noise, found.offsets, way.gaps, sigma, n)
    way.counts.monitoring = way.monitoring
    return made(
        Solution,
        # + 0.0 turns −0.0 into 0.0
        eigenvalues=np.array([value + 0.0 for value in values]),
        eigenvectors=with_signs(found.vectors.T, [1 / root for root in found.roots]),
        residuals=np.array(levels[0].residuals),
        # in terms of 1/(λ − σ) there is none where rounding is as large as λ − σ
        error_bounds=np.where(np.isinf(bounds.values), levels[-1].deltas, bounds.values),
        angle_bounds=bounds.angles,
        clusters=bounds.clusters,
        converged=True,
        reason=Reason.RESIDUAL if checked.met else Reason.PRECISION,
        steps=way.steps,
        counts=way.counts,
        seconds=clock.seconds(),
        history=way.history or History(),
        verdict=way.verdict,
        shift=way.shift,
        method=way.method,
        problem=problem,
        decisions=way.decisions,
    )
