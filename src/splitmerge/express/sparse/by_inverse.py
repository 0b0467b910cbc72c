"""The smallest of a plain sparse pair with a definite A, and those nearest to σ, from the arguments to the solution."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from ...linalg.reductions import gram
from ...planning.decision import Choice, Decision
from ...problem.problem import Problem
from ...problem.products import Counts, Tally
from ...problem.start import generator
from ...solution.solution import Solution
from ...sparse_direct.costs import recount_is_cheap
from ...sparse_direct.ldl import SparseShifted
from ...typing import Array
from ...verification.bounds import LEAST_DISTANCE
from ...verification.counts import CLUSTER_FRACTION
from ...verification.residuals import Levels
from ...verification.verdict import COUNTED, CUT, Verdict
from ..found import Found, nearest_first, residuals
from ..plain import EPS, is_shift
from ..result import (
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
from .pair import SparsePair, sparse_pair
from .search import MAX_FURTHER, MAX_PASSES, InverseSearch, Window, counted, window_beyond

# Solves that the counts may cost.
COUNT_SOLVES = 20
# The least pivot of A relative to its diagonal entry; σ on an eigenvalue, where 1/(λ − σ) hides the others.
LEAST_PIVOT, MAX_GROWTH = EPS**0.5, EPS**-0.5
# Below this tolerance, residuals that rounding of A and B excuses are enough; others the pipeline may improve.
EXCUSED_TOL = 1e-10
# How far the vectors may be from B-orthonormal.
ORTHONORMAL_TOL = 1e-11


def by_inverse(asked: dict[str, Any], sigma: Any, rng: Any, began: float) -> Solution | None:
    """The solution; None if the pipeline has to take over."""
    near, k = sigma is not None, asked["k"]
    shift = sigma if near else 0.0
    if asked["which"] != ("largest" if near else "smallest") or not is_shift(shift):
        return None
    pair = sparse_pair(asked["A"], asked["B"], k, near=near)
    factor = None if pair is None else _factor(pair, shift, near=near)
    if pair is None or factor is None:
        return None
    ready = time.perf_counter()
    search = InverseSearch(pair, factor, float(shift), k, asked["tol"], generator(rng))
    if not search.converge() or (near and _hides_others(search)):
        return None
    problem = made(Problem, **USUAL | asked | {"sigma": search.sigma if near else None})
    return _completed(search, problem, began, ready)


def _completed(search: InverseSearch, problem: Problem, began: float, ready: float) -> Solution | None:
    """The solution, once a count shows that there is no other pair; the search goes on where it shows one."""
    for _ in range(MAX_PASSES + MAX_FURTHER):
        clock = Clock(began, ready, time.perf_counter())
        found, met = _verified(search, problem.tol)
        if met is None or not (met.met or problem.tol < EXCUSED_TOL) or not _is_orthonormal(found):
            return None
        window = window_beyond(search, found.values, met.levels[-1].deltas, met.scale)
        count = None if window is None else counted(search, window)
        if window is not None and count == search.count:
            return _counted_solution(search, found, met, window, problem, clock)
        if not _goes_on(search, problem.k, window, count):
            return None
    return None


def _goes_on(search: InverseSearch, k: int, window: Window | None, count: int | None) -> bool:
    """Seek a pair behind which there is a gap, or pairs that a count has shown. Have they converged?"""
    if window is None:
        return search.count < k + MAX_FURTHER and search.seek_further()
    return count is not None and count > search.count and search.seek_missing()


def _factor(pair: SparsePair, sigma: float, *, near: bool) -> SparseShifted | None:
    """Factors of A − σB that counts may follow; for the smallest, of a definite A."""
    if not near and not (pair.A.diagonal() > 0).all():
        return None
    factor = pair.factor(sigma)
    if factor is None or not recount_is_cheap(factor.lu, pair.A.shape[0], COUNT_SOLVES):
        return None
    clear = near or float(factor.lu.least) > LEAST_PIVOT
    return factor if clear else None


def _hides_others(search: InverseSearch) -> bool:
    """Is σ on an eigenvalue?"""
    A_norm, B_norm = search.pair.scales()[-1]
    return bool(search.process.radius * max(abs(search.sigma), A_norm / B_norm) >= MAX_GROWTH)


def _verified(search: InverseSearch, tol: float) -> tuple[Found, Checked | None]:
    """The pairs, nearest first, and what their residuals amount to, after a step of inverse iteration if that helps."""
    pair, sigma = search.pair, search.sigma
    scales, units = pair.scales(), pair.units
    found = nearest_first(_figures(search, search.vectors()), sigma)
    met = checked(found, scales, units, tol, sigma)
    if met is not None and met.met:
        return found, met
    # it removes what rounding leaves of eigenvalues far from σ
    purified = nearest_first(_figures(search, _inverted(search, found.images)), sigma)
    better = checked(purified, scales, units, tol, sigma)
    if better is None or (met is not None and max(better.levels[0].residuals) > max(met.levels[0].residuals)):
        return found, met
    return purified, better


def _inverted(search: InverseSearch, images: Array) -> Array:
    """The columns (A − σB)⁻¹Bx for rows B x."""
    D = search.pair.D
    X = search.factor.solve(np.asfortranarray((images if D is None else images * D).T))
    return X if D is None else X * D[:, None]


def _figures(search: InverseSearch, V: Array) -> Found:
    """The pairs of these columns: residuals recomputed from A and B, error norms of 1/(λ − σ) relative to it."""
    pair = search.pair
    X = np.empty((3, V.shape[1], V.shape[0]))
    for rows, M in zip(X, (None, pair.B, pair.A), strict=True):
        rows[:] = (V if M is None else M @ V).T
    values, roots, norms = residuals(pair.scaling, X)
    W = _inverted(search, X[2])
    BW = W if pair.B is None else pair.B @ W
    squares, products = np.einsum("ij,ij->j", W, BW).tolist(), np.einsum("ji,ij->j", X[1], W).tolist()
    errors = [math.sqrt(max(square, 0.0)) / root for square, root in zip(squares, roots, strict=True)]
    offsets = [abs(product) / (root * root) for product, root in zip(products, roots, strict=True)]
    return Found(X[0], X[1], roots, values, errors, offsets, norms, [0.0] * len(values))


def _is_orthonormal(found: Found) -> bool:
    """Are the vectors B-orthogonal, so that each of them belongs to an eigenvalue of its own?"""
    roots = np.array(found.roots)
    G: Array = gram(found.vectors.T, found.images.T) / roots / roots[:, None]
    return bool(np.abs(G - np.eye(len(G))).max() < ORTHONORMAL_TOL)


def _counted_solution(
    search: InverseSearch, found: Found, met: Checked, window: Window, problem: Problem, clock: Clock
) -> Solution | None:
    """The first k of these pairs, which are all eigenvalues in the window; None where they may be others."""
    k, sigma, values = problem.k, search.sigma, found.values
    distances = [abs(value - sigma) for value in values]
    verdict, gaps = _verdict(values, distances, met.levels[-1].deltas, k), _gaps(found, distances, k, sigma, window)
    if verdict is None:
        return None
    if len(values) > k:
        found = found.taken(list(range(k)))
        met = Checked([Levels(*(column[:k] for column in level)) for level in met.levels], met.scale, met.met)
    pair, products = search.pair, search.process.products
    counts = Counts(B_products=0 if pair.DBD is None else products, K_solves=products)
    monitoring = Tally(k, 0 if pair.B is None else k + k * (pair.DBD is not None), 0, k)
    shift = -0.0 if problem.sigma is None else 0.0
    told_of = told(search.course.rows, found.values, products)
    way = Way(gaps, verdict, _decisions(pair, problem), shift, counts, monitoring, *told_of, ACCELERATED)
    return solution(found, met, way, problem, clock, sigma)


def _verdict(values: list[float], distances: list[float], deltas: list[float], k: int) -> Verdict | None:
    """Are the first k of all eigenvalues in a window surely the nearest ones? None if they may differ by much."""
    lows, highs = ([d + sign * delta for d, delta in zip(distances, deltas, strict=True)] for sign in (-1, 1))
    inner, outer = max(highs[:k]), min(lows[k:], default=math.inf)
    if inner < outer:
        return COUNTED
    cluster = [(low, high) for low, high in zip(lows, highs, strict=True) if high >= outer and low <= inner]
    width = max(high for _, high in cluster) - min(low for low, _ in cluster)
    return CUT if width <= CLUSTER_FRACTION * max(map(abs, values[k - 1 :])) else None


def _gaps(found: Found, distances: list[float], k: int, sigma: float, window: Window) -> list[float]:
    """How far the first k values of θ = 1/(λ − σ) are from those of all other eigenvalues."""
    thetas = [
        math.copysign(1 / max(d, LEAST_DISTANCE), value - sigma)
        for d, value in zip(distances, found.values, strict=True)
    ]
    gaps = [abs(theta) - 1 / (window.reach - window.margin / 2) for theta in thetas[:k]]
    for theta, error in zip(thetas[k:], found.errors[k:], strict=True):
        gaps = [min(gap, abs(other - theta) - 2 * error * abs(theta)) for gap, other in zip(gaps, thetas, strict=False)]
    return gaps


def _decisions(pair: SparsePair, problem: Problem) -> tuple[Decision, ...]:
    """The decisions that the pipeline would have taken."""
    opening: tuple[Decision, ...] = (wanted(problem, pair.A.shape[0], pair.kinds, pair.A.dtype),)
    if pair.measured:
        opening = (*opening, EQUILIBRATED)
    if problem.sigma is None:
        inverse = made(Decision, choice=Choice.SWAPPED, figures={"shift": -0.0, "sign": 1, "backend": "QDLDL"})
    else:
        inverse = made(Decision, choice=Choice.SHIFT_INVERT, figures={"sigma": problem.sigma, "backend": "QDLDL"})
    return *opening, inverse, iteration(problem.tol)
