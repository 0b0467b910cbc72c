"""Lanczos for a plain sparse pair, in one basis: its most wanted eigenvalues, and every copy of them.

Of a multiple eigenvalue a Krylov space shows one copy; where a count shows that some are missing, the search goes on in
the complement of the others.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...linalg.reductions import random_vector
from ...linalg.rounding import Scale
from ...methods.krylov.complement import CHECK_FRACTION, MIN_PROBE_STEPS, RESOLVED_FRACTION
from ...methods.probe import unseen_distance
from ...methods.subspace import ROUNDING_SLACK
from ...solvers.estimate import resolution_of
from ...sparse_direct.backends.qdldl import QDLDL
from ...typing import Array
from ...verification.completeness import BLURRED_EXPONENT
from ...verification.inertia import MAX_BACKWARD_ERROR
from ..found import Found
from ..plain import EPS
from ..process import SAFE_FRACTION, Course, Process, is_hopeless, is_settled, ritz_pairs
from .pair import SparsePair

# Products before the first projection of a pass.
FIRST_PRODUCTS = 8
# A pass that is nearly done may take this multiple of the products planned for.
OVERRUN = 1.4
# Passes for copies of multiple eigenvalues, and further pairs where the last one has no gap behind it.
MAX_PASSES, MAX_FURTHER = 4, 6
# A count is made at this fraction of the gap beyond the pairs.
GAP_FRACTION = 0.1


class Window(NamedTuple):
    """The eigenvalues up to the distance `reach`, from which they are to be clear by `margin`.

    For a count, factors may be off by `growth` units of rounding.
    """

    reach: float
    margin: float
    growth: float


class Search(ABC):
    """The eigenvalues θ of an operator that are largest, or largest by magnitude; `count` are sought.

    How wanted an eigenvalue of the pair is, its distance tells: the smaller, the more.
    """

    # the shift of the inverse, if the operator is one
    sigma: float | None = None
    # from this fraction of the products planned for on, a pass that is expected to need many more is given up
    rated: float

    def __init__(
        self,
        pair: SparsePair,
        times: Callable[[Array], Array],
        course: Course,
        rng: np.random.Generator,
        k: int,
        room: int,
        dual: Callable[[Array], Array] | None = None,
        *,
        magnitude: bool = True,
    ) -> None:
        self.pair, self.count, self.course, self.rng, self.magnitude = pair, k, course, rng, magnitude
        n = pair.A.shape[0]
        # products of one pass that are planned for, and those at most
        self.room, self.most = min(room, n - 1), min(math.ceil(OVERRUN * room), n - 1)
        whole = min(self.most + (k + MAX_FURTHER) * (MAX_PASSES - 1), n - 1)
        self.process = Process(times, random_vector(n, pair.A.dtype, rng), whole, dual)
        # θ of the locked pairs, in the order of their columns
        self.locked: list[float] = []
        # θ of the pairs of the present pass that are sought, and their coefficients
        self.found: tuple[Array, Array] = np.zeros(0), np.zeros((0, 0))
        # a bound on the size of θ for the eigenvalue that follows
        self.following = math.inf
        # the largest errors of θ of the pairs sought in this pass, and of those locked
        self.worst = self.worst_locked = 0.0
        # the former after how many products of the first pass
        self.path: list[tuple[int, float]] = []
        # the coefficients of the first pass, and how many pairs it sought
        self.first_pass: tuple[list[float], list[float], int] = [], [], 0
        # products of probes
        self.probed = 0
        # factors whose ordering serves others
        self.known: QDLDL | None = None

    @property
    def shift(self) -> float:
        """η ≥ 0 for which all Ritz values that were seen are above −η, where these are eigenvalues of the pair."""
        return 0.0

    @abstractmethod
    def ratios(self) -> list[float]:
        """The residual norms of the pairs sought over those of θ."""

    @abstractmethod
    def distances(self, values: list[float]) -> list[float]:
        """How far the eigenvalues of the pair are from the most wanted ones."""

    @abstractmethod
    def order(self, values: list[float]) -> list[int]:
        """The most wanted first."""

    @abstractmethod
    def gap(self, last: float) -> float:
        """The least distance of the eigenvalue that follows beyond that of the last one."""

    @abstractmethod
    def counted(self, window: Window) -> int | None:
        """How many eigenvalues are in a window; None where factors do not tell."""

    @abstractmethod
    def figures(self, V: Array) -> Found:
        """The pairs of these columns, with residuals and error norms that are recomputed from A and B."""

    @abstractmethod
    def gaps(self, found: Found, k: int, window: Window | None) -> list[float]:
        """How far the first k eigenvalues are from all others, where those found are all in the window.

        Without a window nothing is known of those that follow.
        """

    def converge(self) -> bool:
        """Run until the pairs sought have converged, and none that follows can be more wanted."""
        process, course = self.process, self.course
        most = min(self.most, process.room + len(process.alpha))
        first = FIRST_PRODUCTS + (self.count if self.locked else 2 * (self.count - 1))
        following = max(first, len(process.alpha))
        while following <= most:
            process.extend(following - len(process.alpha))
            ritz = process.ritz(min(self.count + 1, len(process.alpha)), magnitude=self.magnitude)
            if ritz is None or process.exhausted or not math.isfinite(process.radius):
                return False
            excess = self._excess(*ritz)
            if excess <= SAFE_FRACTION and self._settled(*ritz):
                return True
            made = len(process.alpha)
            expected, following = course.expected(made, excess, most)
            if expected > most and is_hopeless(expected, made, self.room, self.rated):
                return False
        return False

    def sizes(self, thetas: Array | list[float]) -> list[float]:
        """What ranks them."""
        return [abs(float(theta)) if self.magnitude else float(theta) for theta in thetas]

    def _excess(self, values: Array, S: Array, errors: Array) -> float:
        """The largest residual of the pairs of this pass that are sought, over the tolerance."""
        sizes, locked = self.sizes(values), self.sizes(self.locked)
        merged = sorted([*locked, *sizes], reverse=True)
        last = merged[min(self.count, len(merged)) - 1]
        # one of them follows
        fresh = min(sum(size >= last for size in sizes), len(sizes) - 1)
        self.found = values[:fresh], S[:, :fresh]
        worst = float(errors[:fresh].max(initial=0.0))
        self.worst = worst
        if not self.locked:
            self.path.append((self.process.products, worst))
        if fresh == 0:
            return 0.0
        places = [i + sum(size >= sizes[i] for size in locked) for i in range(fresh)]
        return self.course.excess(self.process, values[:fresh], errors[:fresh], self.ratios, self.shift, places)

    def _settled(self, values: Array, S: Array, errors: Array) -> bool:
        """Is the next Ritz value less wanted than the pairs sought, whatever its error?"""
        fresh, sizes = self.found[0].size, self.sizes(values)
        merged = sorted([*self.sizes(self.locked), *sizes[:fresh]], reverse=True)
        if len(merged) < self.count:
            return False
        next_size, next_error = sizes[fresh], float(errors[fresh])
        self.following = max([next_size + next_error, *merged[self.count :]])
        worst = float(errors[:fresh].max(initial=0.0))
        return is_settled(next_size, next_error, merged[self.count - 1], worst, self.process.radius)

    def vectors(self) -> Array:
        """The vectors sought, in the coordinates of the user."""
        theta, S = self.found
        X = np.column_stack([self.process.V[:, : self.process.first], self.process.vectors(S)])
        sizes = np.array(self.sizes([*self.locked, *theta]))
        X = X[:, np.argsort(-sizes, kind="stable")[: self.count]]
        return X if self.pair.D is None else X * self.pair.D[:, None]

    def lock(self) -> bool:
        """Lock the pairs, and begin again in their complement; False where the basis has no room for it."""
        theta, S = self.found
        if not self.locked:
            self.first_pass = self.process.alpha, self.process.beta, theta.size
        first = self.process.first + theta.size
        if theta.size == 0 or first + FIRST_PRODUCTS + self.count >= self.process.V.shape[1]:
            return False
        X = random_vector(self.process.V.shape[0], self.process.V.dtype, self.rng)
        self.process.lock(S, X)
        # in the order of the columns
        self.locked += theta.tolist()
        self.worst_locked = max(self.worst_locked, self.worst)
        self.found = np.zeros(0), np.zeros((0, 0))
        self.course.begin_pass()
        return True

    def probe(self) -> bool | None:
        """Lock the pairs, and search their complement from another random vector. Is there one that is more wanted?

        None if many products did not decide it. The search made as many products as resolve its own pairs; as many
        show a copy of one of them, unless the random vector has hardly any component along it.
        """
        process, worst = self.process, max(self.worst, self.worst_locked)
        slack = worst + ROUNDING_SLACK * EPS * process.radius
        last = sorted(self.sizes([*self.locked, *self.found[0]]), reverse=True)[self.count - 1]
        following, before = MIN_PROBE_STEPS, process.products
        # beside far larger values rounding hides those next to the last one
        if abs(last) < EPS**BLURRED_EXPONENT * process.radius or not self.lock():
            return None
        while following <= process.room + len(process.alpha):
            process.extend(following - len(process.alpha))
            ritz = process.ritz(1, magnitude=self.magnitude)
            if ritz is None or not math.isfinite(process.radius):
                return None
            self.probed, process.products = self.probed + process.products - before, before
            size, doubt = self.sizes(ritz[0])[0], float(ritz[2][0])
            if size > last + slack:
                return True
            steps = self._steps_left(size, doubt, last, slack)
            if process.exhausted or steps == 0:
                return False
            following += steps
        return None

    def _steps_left(self, size: float, doubt: float, last: float, slack: float) -> int:
        """How many more steps of a probe may tell if its largest value is less wanted than the last pair; 0 if it is.

        None are left after as many as the search took, or if so many see all eigenvalues.
        """
        process = self.process
        made = len(process.alpha)
        if not (size + doubt <= last or doubt <= slack):
            return max(MIN_PROBE_STEPS // 2, int(CHECK_FRACTION * made))
        unseen = unseen_distance(made, process.V.shape[0], 2 * process.radius)
        seen = size + unseen <= last or unseen <= slack
        return 0 if seen else max(self._resolving(last - size) - made, 0)

    def _resolving(self, gap: float) -> int:
        """How many products the search took to tell its pairs from a value at the distance `gap`."""
        following, least = self.path[-1][0], 0
        for products, error in reversed(self.path):
            if not error <= RESOLVED_FRACTION * gap:
                least = products
                break
            following = products
        # between two projections, where products cost more than these
        while self.sigma is not None and following - least > 1:
            middle = (least + following) // 2
            if self._error_after(middle) <= RESOLVED_FRACTION * gap:
                following = middle
            else:
                least = middle
        return following

    def _error_after(self, products: int) -> float:
        """The largest error of the pairs sought after this many products of the first pass."""
        alpha, beta, count = self.first_pass
        ritz = ritz_pairs(alpha[:products], beta[:products], count, magnitude=self.magnitude)
        return math.inf if ritz is None else float(ritz[2].max())

    def negatives(self, edge: float, window: Window) -> int | None:
        """How many eigenvalues are below the edge of a window; None where factors do not tell."""
        factor = self.pair.factor(edge, self.known)
        if factor is None or factor.backward_error > window.growth:
            return None
        self.known = factor.lu
        return factor.negative


def window_beyond(search: Search, values: list[float], deltas: list[float], scale: Scale) -> Window | None:
    """A window with these values, each within its delta of an eigenvalue, and not the one that follows.

    None where rounding leaves no room for it.
    """
    distances = search.distances(values)
    last = max(distances)
    A_norm, B_norm = search.pair.factored_scale()
    # in the coordinates of the factors, in which the longest vector is known
    scale = scale._replace(A_norm=A_norm, B_norm=B_norm)
    rounding = resolution_of(scale, search.pair.longest, max(map(abs, values)))
    margin = GAP_FRACTION * search.gap(last)
    reach = last + margin
    if not margin >= 2 * rounding or any(d + delta >= reach for d, delta in zip(distances, deltas, strict=True)):
        return None
    # the factors may be off by half of the margin
    return Window(reach, margin, 0.5 * MAX_BACKWARD_ERROR * margin / rounding)
