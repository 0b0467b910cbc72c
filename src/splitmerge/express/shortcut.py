"""LAPACK or a short search for a plain pair, from the arguments to the solution."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..linalg.extreme import Extreme
from ..linalg.rounding import ROUNDING_UNITS, TERMS_PER_UNIT_DENSE
from ..methods.direct import hides_others
from ..planning.costs import prefers_short_search
from ..planning.decision import Choice, Decision
from ..problem.problem import Problem
from ..problem.products import Counts, Tally
from ..problem.start import generator
from ..run.reason import Reason
from ..solution.solution import Solution
from ..typing import Array
from ..verification.verdict import BY_LAPACK, COUNTED, RANDOM_START
from .complete import clearance
from .found import Found, by_lapack, in_order, near_by_lapack, nearest_first, standard, swapped
from .plain import EPS, Plain, is_shift, plain_pair
from .result import (
    ACCELERATED,
    EQUILIBRATED,
    USUAL,
    Checked,
    Clock,
    Way,
    checked,
    iteration,
    made,
    solution,
    told,
    wanted,
)
from .search import Searched, searched
from .sparse.by_inverse import by_inverse
from .sparse.by_products import by_products
from .start import is_replaced

# Decisions whose figures are always the same.
IDENTITY, NEGATED = map(Decision, (Choice.IDENTITY, Choice.NEGATED))
SOLVER = Decision(Choice.SOLVER, {"solver": "a Cholesky factorisation of B", "backend": None})
SWAPPED = Decision(Choice.SWAPPED, {"shift": -0.0, "sign": 1, "backend": None})


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
    asked = {"A": A, "B": B, "k": k, "which": which, "tol": tol, "certify": bool(certify)}
    if x0 is None:
        found = of_sparse(asked, sigma, rng, began) if sp.issparse(A) else None
        if found is not None or which == "magnitude":
            return found
        return _at_end(asked, began, rng) if sigma is None else _near(asked, sigma, began)
    replaced = sigma is None and k == 1 and which == "largest" and is_replaced(x0, A, B)
    found = _at_end(asked, began, rng, x0) if replaced else None
    if found is not None:
        # the products with the start
        found.counts.setup = Tally(1, int(B is not None))
    return found


def of_sparse(asked: dict[str, Any], sigma: Any, rng: Any, began: float) -> Solution | None:
    """The solution for sparse matrices, in one basis."""
    return by_inverse(asked, sigma, rng, began) or (None if sigma is not None else by_products(asked, rng, began))


def _at_end(asked: dict[str, Any], began: float, rng: Any, x0: Any = None) -> Solution | None:
    """The solution for k pairs at an end, from a random vector that differs from the start."""
    k, which = asked["k"], asked["which"]
    plain = plain_pair(asked["A"], asked["B"], k, smallest=which == "smallest")
    # the pipeline compares a start with eigenvectors of the scaled pair
    if plain is None or not (x0 is None or plain.scaling is None):
        return None
    ready = time.perf_counter()
    # (B, A) has the small eigenvalues of a definite A to high relative accuracy
    K = plain.definite() if which == "smallest" else None
    if K is None and (plain.semidefinite or plain.hides(which)):
        return None
    problem = made(Problem, **USUAL, **asked)
    if plain.searched and prefers_short_search(plain.A.shape[0], k):
        by_search = _by_search(plain, K, problem, generator(rng, x0), began, ready)
        if by_search is not None:
            return by_search
    found = _decomposed(plain, K, by_lapack(plain, K, k, largest=which == "largest"))
    if found is None:
        return None
    clock = Clock(began, ready, time.perf_counter())
    return _solution(plain, in_order(found, which), problem, clock, swapped=K is not None)


def _figures(plain: Plain, K: Array | None, extreme: Extreme | None) -> Found | None:
    """The pairs with their figures; None where there are none."""
    if extreme is None:
        return None
    return standard(plain, extreme) if K is None else swapped(plain, K, extreme)


def _decomposed(plain: Plain, K: Array | None, extreme: Extreme | None) -> Found | None:
    """The same of a decomposition; None where rounding of the largest 1/λ hides others, which those of λ may not."""
    found = _figures(plain, K, extreme)
    if found is None or K is None:
        return found
    return None if 0.0 in found.values or hides_others([1 / value for value in found.values]) else found


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
    return _solution(plain, in_order(found, problem.which), problem, clock, swapped=K is not None, search=search)


def _near(asked: dict[str, Any], sigma: Any, began: float) -> Solution | None:
    """The same next to σ; None also where a factorisation of A − σB makes better pairs than rounding of A allows."""
    if not is_shift(sigma) or asked["which"] != "largest":
        return None
    k = asked["k"]
    plain = plain_pair(asked["A"], asked["B"], k, smallest=True, near=True)
    if plain is None:
        return None
    ready = time.perf_counter()
    # a singular B serves as the matrix of (B, A)
    K = plain.definite() if plain.semidefinite else None
    if K is None and (plain.semidefinite or plain.hides("nearest")):
        return None
    found = _decomposed(plain, K, near_by_lapack(plain, K, k, float(sigma)))
    if found is None:
        return None
    problem = made(Problem, **USUAL | asked | {"sigma": float(sigma)})
    clock = Clock(began, ready, time.perf_counter())
    near = _solution(plain, nearest_first(found, sigma), problem, clock, swapped=K is not None)
    return None if near is None or near.reason is not Reason.RESIDUAL else near


def _is_understood(k: Any, which: Any, tol: Any) -> bool:
    """Are these arguments right beyond doubt, for pairs at one end?"""
    usual = type(k) is int and type(tol) is float and type(which) is str
    return usual and 0 < tol < math.inf and which in ("largest", "smallest", "magnitude")


def _are_finite(found: Found, B_norm: float) -> bool:
    """Is no vector in the null space of a singular B?"""
    n = found.vectors.shape[1]
    return all(n * EPS * B_norm * length * length < 1 for length in found.norms[0][1])


def _by_decomposition(plain: Plain, found: Found, problem: Problem, *, swapped: bool) -> Way:
    """Of LAPACK nothing is told but the size."""
    k, n = found.vectors.shape
    lapack = made(Decision, choice=Choice.LAPACK, figures={"k": k, "n": n})
    decisions, monitoring = _decisions(plain, problem, lapack, swapped=swapped), _monitored(plain, k, swapped=swapped)
    return Way(found.gaps, BY_LAPACK, decisions, -0.0 if swapped else 0.0, Counts(), monitoring)


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
    products = search.products
    solves = 0 if plain.B is None else products
    counts = Counts(B_products=solves, K_solves=products) if swapped else Counts(products, B_solves=solves)
    decisions = _decisions(plain, problem, iteration(problem.tol), swapped=swapped)
    monitoring = _monitored(plain, problem.k, swapped=swapped)
    shift, steps_and_history = -0.0 if swapped else search.shift, told(search.rows, found.values, products)
    return Way(gaps, verdict, decisions, shift, counts, monitoring, *steps_and_history, ACCELERATED)


def _monitored(plain: Plain, k: int, *, swapped: bool) -> Tally:
    """Products and solves of the verification."""
    B_products = 0 if plain.B is None else k * (1 + swapped)
    return Tally(k, B_products, 0 if swapped or plain.B is None else k, k * swapped)


def _solution(
    plain: Plain, found: Found, problem: Problem, clock: Clock, *, swapped: bool, search: Searched | None = None
) -> Solution | None:
    """The solution, if the residuals and a search, where one was made, stand."""
    sigma, n = 0.0 if swapped else None, plain.A.shape[0]
    scales, units = plain.scales(), max(ROUNDING_UNITS, n / TERMS_PER_UNIT_DENSE)
    met = checked(found, scales, units, problem.tol, sigma)
    if met is None or (search is not None and not met.met):
        return None
    if plain.semidefinite and not _are_finite(found, scales[0][1]):
        return None
    if search is None:
        way: Way | None = _by_decomposition(plain, found, problem, swapped=swapped)
    else:
        way = _by_iteration(plain, found, problem, search, met, swapped=swapped)
    return None if way is None else solution(found, met, way, problem, clock, sigma)


def _decisions(plain: Plain, problem: Problem, last: Decision, *, swapped: bool) -> tuple[Decision, ...]:
    """The decisions that the pipeline would have taken."""
    opening: tuple[Decision, ...] = (wanted(problem, plain.A.shape[0], plain.kinds, plain.A.dtype),)
    if plain.scaling is not None:
        opening = (*opening, EQUILIBRATED)
    if swapped:
        return *opening, SWAPPED, last
    solver = IDENTITY if plain.B is None else SOLVER
    return (*opening, solver, last) if problem.which == "largest" else (*opening, NEGATED, solver, last)
