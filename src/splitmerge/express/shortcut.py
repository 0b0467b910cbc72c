"""LAPACK or a short search for a plain pair, from the arguments to the solution."""

from __future__ import annotations

import math
import time
from operator import le
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..linalg.extreme import Extreme
from ..linalg.rounding import ROUNDING_UNITS, TERMS_PER_UNIT_DENSE, Scale, by_distance
from ..methods.krylov.accelerated import Accelerated
from ..planning.costs import prefers_short_search
from ..planning.decision import Choice, Decision
from ..problem.problem import Problem
from ..problem.products import Counts, Tally
from ..problem.start import generator
from ..run.history import History
from ..run.reason import Reason
from ..run.rules import MaxSteps, Residual
from ..solution.back_transform import with_signs
from ..solution.solution import Seconds, Solution
from ..typing import Array
from ..verification.bounds import bounds_from
from ..verification.residuals import Levels, levels_of
from ..verification.verdict import BY_LAPACK, COUNTED, RANDOM_START, Verdict
from .complete import clearance
from .found import Found, by_lapack, near_by_lapack, standard, swapped
from .plain import EPS, Plain, plain_pair
from .search import Searched, searched
from .start import is_replaced

# What is not asked for.
USUAL = {"sigma": None, "method": None, "stop": None, "max_steps": None, "b_policy": "error"}
# Decisions whose figures are always the same.
IDENTITY, NEGATED, EQUILIBRATED = map(Decision, (Choice.IDENTITY, Choice.NEGATED, Choice.EQUILIBRATED))
SOLVER = Decision(Choice.SOLVER, {"solver": "a Cholesky factorisation of B", "backend": None})
SWAPPED = Decision(Choice.SWAPPED, {"shift": -0.0, "sign": 1, "backend": None})

ACCELERATED = Accelerated()

T = TypeVar("T")


class Clock(NamedTuple):
    """When the solve began, when LAPACK did, and when it had the pairs."""

    began: float
    ready: float
    found: float

    def seconds(self) -> Seconds:
        """The time until now."""
        now = time.perf_counter()
        return _made(Seconds, setup=self.ready - self.began, iteration=now - self.ready, verification=now - self.found)


def express(
    A: Any,
    B: Any,
    k: Any,
    which: Any,
    tol: Any,
    certify: Any,
    began: float,
    sigma: Any = None,
    rng: Any = None,
    x0: Any = None,
) -> Solution | None:
    """The solution for k pairs at an end of the spectrum, or next to σ; None if the pipeline has to take over."""
    if not _is_understood(k, which, tol):
        return None
    if sigma is not None:
        return _near(A, B, k, which, tol, certify, began, sigma) if x0 is None else None
    if x0 is None:
        return _at_end(A, B, k, which, tol, certify, began, rng)
    replaced = k == 1 and which == "largest" and is_replaced(x0, A, B)
    solution = _at_end(A, B, k, which, tol, certify, began, rng, x0) if replaced else None
    if solution is not None:
        # the products with the start
        solution.counts.setup = Tally(1, int(B is not None))
    return solution


def _at_end(
    A: Any, B: Any, k: int, which: str, tol: float, certify: Any, began: float, rng: Any, x0: Any = None
) -> Solution | None:
    """The solution for k pairs at an end, from a random vector that differs from the start."""
    plain = plain_pair(A, B, k, smallest=which == "smallest")
    # the pipeline compares a start with eigenvectors of the scaled pair
    if plain is None or not (x0 is None or plain.scaling is None):
        return None
    ready = time.perf_counter()
    # (B, A) has the small eigenvalues of a definite A to high relative accuracy
    K = plain.definite() if which == "smallest" else None
    if K is None and plain.semidefinite:
        return None
    asked = {"A": A, "B": B, "k": k, "which": which, "tol": tol, "certify": bool(certify)}
    problem = _made(Problem, **USUAL, **asked)
    if plain.searched and prefers_short_search(plain.A.shape[0], k):
        solution = _by_search(plain, K, problem, generator(rng, x0), began, ready)
        if solution is not None:
            return solution
    found = _figures(plain, K, by_lapack(plain, K, k, largest=which == "largest"))
    if found is None:
        return None
    clock = Clock(began, ready, time.perf_counter())
    return _solution(plain, _in_order(found, which), problem, clock, swapped=K is not None)


def _figures(plain: Plain, K: Array | None, extreme: Extreme | None) -> Found | None:
    """The pairs with their figures; None where there are none."""
    if extreme is None:
        return None
    return standard(plain, extreme) if K is None else swapped(plain, K, extreme)


def _in_order(found: Found, which: str) -> Found:
    """The best pairs first; rounding may have exchanged some."""
    order = sorted(range(len(found.values)), key=found.values.__getitem__, reverse=which == "largest")
    return found if order == list(range(len(order))) else found.taken(order)


def _by_search(
    plain: Plain, K: Array | None, problem: Problem, rng: np.random.Generator, began: float, ready: float
) -> Solution | None:
    """The solution by a search from a random vector; None where LAPACK is expected to take less time."""
    M, L = (plain.A, plain.L) if K is None else (plain.B, K)
    sign = -1.0 if K is None and problem.which == "smallest" else 1.0
    search = searched(M, L, problem.k, problem.tol, rng, sign=sign, inverse=K is not None)
    found = None if search is None else _figures(plain, K, search.extreme)
    if found is None:
        return None
    clock = Clock(began, ready, time.perf_counter())
    return _solution(plain, _in_order(found, problem.which), problem, clock, swapped=K is not None, search=search)


def _near(A: Any, B: Any, k: int, which: str, tol: float, certify: Any, began: float, sigma: Any) -> Solution | None:
    """The same next to σ; None also where a factorisation of A − σB makes better pairs than rounding of A allows."""
    if type(sigma) not in (int, float) or not math.isfinite(sigma) or which != "largest":
        return None
    plain = plain_pair(A, B, k, smallest=True, near=True)
    if plain is None:
        return None
    ready = time.perf_counter()
    # a singular B serves as the matrix of (B, A)
    K = plain.definite() if plain.semidefinite else None
    if K is None and plain.semidefinite:
        return None
    found = _figures(plain, K, near_by_lapack(plain, K, k, float(sigma)))
    if found is None:
        return None
    asked = {"A": A, "B": B, "k": k, "which": which, "tol": tol, "certify": bool(certify)}
    problem = _made(Problem, **USUAL | asked | {"sigma": float(sigma)})
    clock = Clock(began, ready, time.perf_counter())
    solution = _solution(plain, _by_distance(found, sigma), problem, clock, swapped=K is not None)
    return None if solution is None or solution.reason is not Reason.RESIDUAL else solution


def _by_distance(found: Found, sigma: float) -> Found:
    """The pairs with the nearest to σ first; rounding may have exchanged some."""
    order = by_distance(np.array(found.values), sigma).tolist()
    return found if order == list(range(len(order))) else found.taken(order)


def _is_understood(k: Any, which: Any, tol: Any) -> bool:
    """Are these arguments right beyond doubt, for pairs at one end?"""
    usual = type(k) is int and type(tol) is float and type(which) is str
    return usual and 0 < tol < math.inf and which in ("largest", "smallest")


def _made(kind: type[T], **fields: Any) -> T:
    """A record with these fields and the defaults of its class, without the cost of a frozen record's constructor."""
    record = object.__new__(kind)
    record.__dict__.update(fields)
    return record


def _stands(systems: list[list[list[float]]], levels: list[Levels], tol: float) -> bool:
    """Are all residuals within the tolerance or at the level of rounding, in every system of coordinates?

    The pipeline improves those that are not, and excuses more of a decomposition of a large pair.
    """
    for (norms, *_), level in zip(systems, levels, strict=True):
        for norm, size, floor in zip(norms, level.sizes, level.floors, strict=True):
            if not norm <= max(tol * size, floor):
                return False
    return True


def _are_finite(found: Found, B_norm: float) -> bool:
    """Is no vector in the null space of a singular B?"""
    n = found.vectors.shape[1]
    return all(n * EPS * B_norm * length * length < 1 for length in found.norms[0][1])


class Checked(NamedTuple):
    """The sizes that residuals are compared with, in each system of coordinates; do all meet the tolerance?"""

    levels: list[Levels]
    scale: Scale
    met: bool


def _checked(plain: Plain, found: Found, tol: float, sigma: float | None) -> Checked | None:
    """What the residuals amount to; None unless all are within the tolerance or at the level of rounding."""
    scales, n = plain.scales(), plain.A.shape[0]
    units = max(ROUNDING_UNITS, n / TERMS_PER_UNIT_DENSE)
    pairs = zip(found.norms, scales, strict=True)
    levels = [levels_of(found.values, found.errors, norms, pair, EPS, sigma, units) for norms, pair in pairs]
    systems = zip(found.norms, levels, strict=True)
    met = all(all(map(le, norms[0], [tol * size for size in level.sizes])) for norms, level in systems)
    if not met and not _stands(found.norms, levels, tol):
        return None
    if plain.semidefinite and not _are_finite(found, scales[0][1]):
        return None
    return Checked(levels, Scale(0.0, 0.0, n, EPS, *scales[0], units), met)


class Way(NamedTuple):
    """How the pairs were found: the gaps that are known, what shows that none is missing, and what it took."""

    gaps: list[float]
    verdict: Verdict
    decision: Decision
    shift: float
    counts: Counts
    steps: int = 0
    history: History | None = None
    method: Accelerated | None = None


def _by_decomposition(found: Found, problem: Problem, *, swapped: bool) -> Way:
    """Of LAPACK nothing is told but the size."""
    lapack = _made(Decision, choice=Choice.LAPACK, figures={"k": problem.k, "n": found.vectors.shape[1]})
    return Way(found.gaps, BY_LAPACK, lapack, -0.0 if swapped else 0.0, Counts())


def _by_iteration(
    plain: Plain, found: Found, problem: Problem, search: Searched, checked: Checked, *, swapped: bool
) -> Way | None:
    """What the pipeline tells of such a search; None where a count is needed and does not fit."""
    gaps, verdict = found.gaps, RANDOM_START
    if problem.k > 1 or problem.certify:
        largest, deltas = problem.which == "largest", checked.levels[-1].deltas
        free = clearance(plain, found, deltas, search.following, checked.scale, above=largest)
        if free is None:
            return None
        verdict, last = COUNTED, found.values[-1]
        if not swapped:
            gaps = [max(gap, abs(value - last) + free) for gap, value in zip(gaps, found.values, strict=True)]
    made = search.products
    solves = 0 if plain.B is None else made
    counts = Counts(B_products=solves, K_solves=made) if swapped else Counts(made, B_solves=solves)
    rule = Residual(problem.tol) | MaxSteps()
    decision = _made(Decision, choice=Choice.ITERATION, figures={"method": ACCELERATED, "rule": rule})
    steps, history = sum(row[1] > 0 for row in search.rows), History.of_rows(search.rows)
    history = history.concluded(np.array(found.values), 0, made)
    return Way(gaps, verdict, decision, -0.0 if swapped else search.shift, counts, steps, history, ACCELERATED)


def _solution(
    plain: Plain, found: Found, problem: Problem, clock: Clock, *, swapped: bool, search: Searched | None = None
) -> Solution | None:
    """The solution, if the residuals and a search, where one was made, stand."""
    sigma, values = 0.0 if swapped else None, found.values
    checked = _checked(plain, found, problem.tol, sigma)
    if checked is None or (search is not None and not checked.met):
        return None
    if search is None:
        way: Way | None = _by_decomposition(found, problem, swapped=swapped)
    else:
        way = _by_iteration(plain, found, problem, search, checked, swapped=swapped)
    if way is None:
        return None
    (k, n), levels, counts = found.vectors.shape, checked.levels, way.counts
    bounds = bounds_from(values, found.errors, levels[-1].noise, found.offsets, way.gaps, sigma, n)
    B_products = 0 if plain.B is None else k * (1 + swapped)
    counts.monitoring = Tally(k, B_products, 0 if swapped or plain.B is None else k, k * swapped)
    return _made(
        Solution,
        # + 0.0 turns −0.0 into 0.0
        eigenvalues=np.array([value + 0.0 for value in values]),
        eigenvectors=with_signs(found.vectors.T, [1 / root for root in found.roots]),
        residuals=np.array(levels[0].residuals),
        error_bounds=bounds.values,
        angle_bounds=bounds.angles,
        clusters=bounds.clusters,
        converged=True,
        reason=Reason.RESIDUAL if checked.met else Reason.PRECISION,
        steps=way.steps,
        counts=counts,
        seconds=clock.seconds(),
        history=way.history or History(),
        verdict=way.verdict,
        shift=way.shift,
        method=way.method,
        problem=problem,
        decisions=_decisions(plain, problem, way.decision, swapped=swapped),
    )


def _decisions(plain: Plain, problem: Problem, last: Decision, *, swapped: bool) -> tuple[Decision, ...]:
    """The decisions that the pipeline would have taken."""
    k, n, which, dtype = problem.k, plain.A.shape[0], problem.which, plain.A.dtype
    wanted = {
        "k": k,
        "which": which,
        "sigma": problem.sigma,
        "interval": None,
        "n": n,
        "kinds": plain.kinds,
        "dtype": dtype,
    }
    opening: tuple[Decision, ...] = (_made(Decision, choice=Choice.WANTED, figures=wanted),)
    if plain.scaling is not None:
        opening = (*opening, EQUILIBRATED)
    if swapped:
        return *opening, SWAPPED, last
    solver = IDENTITY if plain.B is None else SOLVER
    return (*opening, solver, last) if which == "largest" else (*opening, NEGATED, solver, last)
