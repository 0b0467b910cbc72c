"""The smallest of a plain sparse pair with a definite A, and those nearest to σ, from the arguments to the solution."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from ...planning.costs import prefers_inverse_search
from ...planning.decision import Choice, Decision
from ...problem.problem import Problem
from ...problem.products import Counts, Tally
from ...problem.start import generator
from ...solution.solution import Solution
from ...sparse_direct.costs import recount_is_cheap
from ...sparse_direct.ldl import SparseShifted
from ...verification.completeness import LOOSE_TOL
from ..found import Found
from ..plain import EPS, is_shift
from ..result import USUAL, iteration, made
from .completed import Completion, Told
from .inverse import InverseSearch
from .pair import SparsePair, factorable_pair

# Solves that the counts may cost.
COUNT_SOLVES = 20
# The least pivot of A relative to its diagonal entry; σ on an eigenvalue, where 1/(λ − σ) hides the others.
LEAST_PIVOT, MAX_GROWTH = EPS**0.5, EPS**-0.5


def by_inverse(asked: dict[str, Any], sigma: Any, rng: Any, began: float) -> Solution | None:
    """The solution; None if the pipeline has to take over."""
    near, k = sigma is not None, asked["k"]
    shift = sigma if near else 0.0
    if asked["which"] != ("largest" if near else "smallest") or not is_shift(shift):
        return None
    factorised = _factorised(asked, shift, near=near)
    if factorised is None:
        return None
    pair, factor, counted = factorised
    ready = time.perf_counter()
    search = InverseSearch(pair, factor, float(shift), k, asked["tol"], generator(rng))
    if not search.converge() or (near and _hides_others(search)):
        return None
    problem = made(Problem, **USUAL | asked | {"sigma": search.sigma if near else None})
    figures, purified = partial(_told, search, problem), partial(_purified, search)
    probe = None if counted else search.probe
    return Completion(search, problem, began, ready, figures, purified, probe).solution()


def _factorised(asked: dict[str, Any], shift: float, *, near: bool) -> tuple[SparsePair, SparseShifted, bool] | None:
    """The pair, factors of A − σB, and whether its eigenvalues are to be counted; None if the pipeline takes over."""
    A, B, k = asked["A"], asked["B"], asked["k"]
    preferred = 0 < k < A.shape[0] and prefers_inverse_search(A.shape[0], k, near=near)
    pair = factorable_pair(A, B, near=near) if preferred else None
    factor = None if pair is None else _factor(pair, shift, near=near)
    if pair is None or factor is None:
        return None
    counted = pair.countable and recount_is_cheap(factor.lu, A.shape[0], COUNT_SOLVES)
    return (pair, factor, counted) if counted or _may_be_probed(asked) else None


def _may_be_probed(asked: dict[str, Any]) -> bool:
    """Is a probe enough? At a loose tolerance it does not see what has hardly begun to converge."""
    return not asked["certify"] and asked["tol"] <= LOOSE_TOL


def _purified(search: InverseSearch, found: Found) -> Any:
    """The vectors after a step of inverse iteration."""
    return search.inverted(found.images)


def _factor(pair: SparsePair, sigma: float, *, near: bool) -> SparseShifted | None:
    """Factors of A − σB; for the smallest, of a definite A."""
    factor = pair.factor(sigma)
    return factor if factor is not None and (near or float(factor.lu.least) > LEAST_PIVOT) else None


def _hides_others(search: InverseSearch) -> bool:
    """Is σ on an eigenvalue?"""
    A_norm, B_norm = search.pair.scales()[-1]
    return bool(search.process.radius * max(abs(search.sigma), A_norm / B_norm) >= MAX_GROWTH)


def _told(search: InverseSearch, problem: Problem) -> Told:
    pair, products, k = search.pair, search.process.products, problem.k
    probed, masses = search.probed, pair.DBD is not None
    counts = Counts(B_products=masses * products, K_solves=products)
    monitoring = Tally(k, 0 if pair.B is None else k + masses * (k + probed), 0, k + probed)
    return Told(-0.0 if problem.sigma is None else 0.0, counts, monitoring, _decisions(pair, problem))


def _decisions(pair: SparsePair, problem: Problem) -> tuple[Decision, ...]:
    """The decisions that the pipeline would have taken."""
    if problem.sigma is None:
        inverse = made(Decision, choice=Choice.SWAPPED, figures={"shift": -0.0, "sign": 1, "backend": "QDLDL"})
    else:
        inverse = made(Decision, choice=Choice.SHIFT_INVERT, figures={"sigma": problem.sigma, "backend": "QDLDL"})
    return *pair.opening(problem), inverse, iteration(problem.tol)
