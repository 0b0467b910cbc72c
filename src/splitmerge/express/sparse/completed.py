"""From a search that has converged to a solution that is certified by a count."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ...linalg.multiply import product
from ...linalg.reductions import gram
from ...linalg.rounding import Levels
from ...planning.decision import Decision
from ...problem.problem import Problem
from ...problem.products import Counts, Tally
from ...solution.solution import Solution
from ...typing import Array
from ...verification.counts import CLUSTER_FRACTION
from ...verification.verdict import COUNTED, CUT, RANDOM_START, Verdict, probed
from ..found import Found, chosen
from ..result import ACCELERATED, Checked, Clock, Way, checked, solution, told
from .pair import SparsePair
from .search import MAX_FURTHER, MAX_PASSES, Search, Window, window_beyond

# Below this tolerance, residuals that rounding of A and B excuses are enough; others the pipeline may improve.
EXCUSED_TOL = 1e-10
# How far the vectors may be from B-orthonormal.
ORTHONORMAL_TOL = 1e-11


class Told(NamedTuple):
    """What a solution tells of a search: the shift of A, the products of the search and of the verification."""

    shift: float
    counts: Counts
    monitoring: Tally
    decisions: tuple[Decision, ...]


class Completion(NamedTuple):
    """A search for a problem, when it began and was ready, and what is told of it.

    `purified` makes better vectors of pairs whose residuals miss the tolerance, if anything does. `probe` tells if a
    pair is missing, in place of a count.
    """

    search: Search
    problem: Problem
    began: float
    ready: float
    told: Callable[[], Told]
    purified: Callable[[Found], Array] | None = None
    probe: Callable[[], bool | None] | None = None

    def solution(self) -> Solution | None:
        """The solution, once a count or a probe shows no other pair; the search goes on where it shows one."""
        search, tol = self.search, self.problem.tol
        for passes in range(1, 1 + MAX_PASSES + MAX_FURTHER):
            clock = Clock(self.began, self.ready, time.perf_counter())
            found, met = self._verified()
            if met is None or not (met.met or tol < EXCUSED_TOL) or not _is_orthonormal(found):
                return None
            complete, window = self._looked(found.values, met)
            if complete:
                return self._solution(found, met, window, clock, passes)
            if complete is None or not search.converge():
                return None
        return None

    def _looked(self, values: list[float], met: Checked) -> tuple[bool | None, Window | None]:
        """Is no pair missing, and the window of the count that shows it; None where the search cannot go on."""
        search = self.search
        if self.probe is not None:
            more = not self.is_alone and self.probe()
            return None if more is None else not more, None
        window = window_beyond(search, values, met.levels[-1].deltas, met.scale)
        if window is None:
            # seek one more, behind which there may be a gap
            search.count += 1
            return False if search.count <= self.problem.k + MAX_FURTHER else None, None
        count = search.counted(window)
        if count is None or count <= search.count:
            return True if count == search.count else None, window
        return False if search.lock() else None, window

    @property
    def is_alone(self) -> bool:
        """Is it a single pair at an end, for which a random start is as good as a probe?"""
        return self.problem.k == 1 and self.problem.sigma is None

    def _verified(self) -> tuple[Found, Checked | None]:
        """The pairs, the most wanted first, and what their residuals amount to, purified if that helps."""
        search, tol = self.search, self.problem.tol
        scales, units = search.pair.scales(), search.pair.units
        V = search.vectors()
        found = self._ordered(_ritz_vectors(search.pair, V) if search.locked else V)
        met = checked(found, scales, units, tol, search.sigma)
        if self.purified is None or (met is not None and met.met):
            return found, met
        # it removes what rounding leaves of eigenvalues far from σ
        purified = self._ordered(self.purified(found))
        better = checked(purified, scales, units, tol, search.sigma)
        if better is None or (met is not None and max(better.levels[0].residuals) > max(met.levels[0].residuals)):
            return found, met
        return purified, better

    def _ordered(self, V: Array) -> Found:
        found = self.search.figures(V)
        return chosen(found, self.search.order(found.values))

    def _solution(
        self, found: Found, met: Checked, window: Window | None, clock: Clock, passes: int = 0
    ) -> Solution | None:
        """The first k of these pairs, which are all eigenvalues in the window; None where they may be others."""
        k, search, distances = self.problem.k, self.search, self.search.distances(found.values)
        if window is None:
            verdict: Verdict | None = RANDOM_START if self.is_alone else Verdict("probed", probed(passes))
        else:
            verdict = _verdict(found.values, distances, met.levels[-1].deltas, k)
        gaps = search.gaps(found, k, window)
        if verdict is None:
            return None
        if len(found.values) > k:
            found = found.taken(list(range(k)))
            met = Checked([Levels(*(column[:k] for column in level)) for level in met.levels], met.scale, met.met)
        shift, counts, monitoring, decisions = self.told()
        steps_and_history = told(search.course.rows, found.values, search.process.products)
        way = Way(gaps, verdict, decisions, shift, counts, monitoring, *steps_and_history, ACCELERATED)
        return solution(found, met, way, self.problem, clock, search.sigma)


def _ritz_vectors(pair: SparsePair, V: Array) -> Array:
    """Ritz vectors on the span of V, whose columns of different passes are B-orthogonal but not yet A-orthogonal."""
    X, BX, AX = (rows.T for rows in pair.images(V))
    H, G = gram(X, AX), gram(X, BX)
    try:
        return product(V, eigh((H + H.T) / 2, (G + G.T) / 2, check_finite=False)[1])
    except np.linalg.LinAlgError:
        # columns that are not independent are refused later
        return V


def _is_orthonormal(found: Found) -> bool:
    """Are the vectors B-orthogonal, so that each of them belongs to an eigenvalue of its own?"""
    roots = np.array(found.roots)
    G: Array = gram(found.vectors.T, found.images.T) / roots / roots[:, None]
    return bool(np.abs(G - np.eye(len(G))).max() < ORTHONORMAL_TOL)


def _verdict(values: list[float], distances: list[float], deltas: list[float], k: int) -> Verdict | None:
    """Are the first k of all eigenvalues in a window surely the most wanted? None if they may differ by much."""
    lows, highs = ([d + sign * delta for d, delta in zip(distances, deltas, strict=True)] for sign in (-1, 1))
    inner, outer = max(highs[:k]), min(lows[k:], default=float("inf"))
    if inner < outer:
        return COUNTED
    cluster = [(low, high) for low, high in zip(lows, highs, strict=True) if high >= outer and low <= inner]
    width = max(high for _, high in cluster) - min(low for low, _ in cluster)
    return CUT if width <= CLUSTER_FRACTION * max(map(abs, values[k - 1 :])) else None
