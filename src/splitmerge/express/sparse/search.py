"""Shift-invert Lanczos for a plain sparse pair, in one basis: the eigenvalues nearest to σ, and their count.

A − σB is factorised, and so is A − τB on each side of the pairs that were found. Of a multiple eigenvalue a Krylov
space shows one copy; where a count shows that some are missing, the search goes on in the complement of the others.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...linalg import csr
from ...linalg.reductions import random_vector
from ...linalg.rounding import Scale
from ...solvers.estimate import resolution_of
from ...sparse_direct.ldl import SparseShifted
from ...typing import Array
from ...verification.inertia import MAX_BACKWARD_ERROR
from ..process import SAFE_FRACTION, Course, Process, Spectrum, is_hopeless, is_settled
from .pair import SparsePair

# Products of one pass at most, and how many more for each pair; those before the first projection of a pass.
PASS_PRODUCTS, PASS_PRODUCTS_PER_PAIR, FIRST_PRODUCTS = 40, 6, 8
# From this fraction of them on, a pass that is expected to need many more is given up.
HOPELESS_FRACTION = 0.6
# Passes for copies of multiple eigenvalues, and further pairs where the last one has no gap behind it.
MAX_PASSES, MAX_FURTHER = 4, 6
# A count is made at this fraction of the gap beyond the pairs.
GAP_FRACTION = 0.1


class InverseSearch:
    """The eigenvalues of (A, B) nearest to σ, as those of (A − σB)⁻¹B of largest magnitude; `count` are sought."""

    def __init__(
        self, pair: SparsePair, factor: SparseShifted, sigma: float, k: int, tol: float, rng: np.random.Generator
    ) -> None:
        self.pair, self.factor, self.sigma, self.count, self.rng = pair, factor, sigma, k, rng
        n = pair.A.shape[0]
        self.room = min(PASS_PRODUCTS + PASS_PRODUCTS_PER_PAIR * k, n - 1)
        dual = None if pair.DBD is None else csr.matvec(pair.DBD)
        room = min(self.room + (k + MAX_FURTHER) * (MAX_PASSES - 1), n - 1)
        self.process = Process(factor.solve, random_vector(n, pair.A.dtype, rng), room, dual)
        self.course = Course(tol, Spectrum(inverse=True, sigma=sigma))
        # 1/|λ − σ| of the locked pairs, in the order of their columns
        self.locked: list[float] = []
        # 1/(λ − σ) of the pairs of the present pass that are sought, and their coefficients
        self.found: tuple[Array, Array] = np.zeros(0), np.zeros((0, 0))
        # a bound on 1/|λ − σ| for the eigenvalue that follows
        self.following = math.inf

    def converge(self) -> bool:
        """Run until the pairs sought have converged, and none that follows can be more wanted."""
        process, course, room = self.process, self.course, min(self.room, self.process.room + len(self.process.alpha))
        first = FIRST_PRODUCTS + (self.count if self.locked else 2 * (self.count - 1))
        following = max(first, len(process.alpha))
        while following <= room:
            process.extend(following - len(process.alpha))
            ritz = process.ritz(min(self.count + 1, len(process.alpha)), magnitude=True)
            if ritz is None or process.exhausted or not math.isfinite(process.radius):
                return False
            excess = self._excess(*ritz)
            if excess <= SAFE_FRACTION and self._settled(*ritz):
                return True
            made = len(process.alpha)
            expected, following = course.expected(made, excess, room)
            if is_hopeless(expected, made, room, HOPELESS_FRACTION):
                return False
        return False

    def _excess(self, values: Array, S: Array, errors: Array) -> float:
        """The largest residual of the pairs of this pass that are sought, over the tolerance."""
        sizes = np.abs(values).tolist()
        merged = sorted([*self.locked, *sizes], reverse=True)
        last = merged[min(self.count, len(merged)) - 1]
        # one of them follows
        fresh = min(sum(size >= last for size in sizes), len(sizes) - 1)
        self.found = values[:fresh], S[:, :fresh]
        if fresh == 0:
            return 0.0
        places = [i + sum(size >= sizes[i] for size in self.locked) for i in range(fresh)]
        return self.course.excess(self.process, values[:fresh], errors[:fresh], self._ratios, places=places)

    def _settled(self, values: Array, S: Array, errors: Array) -> bool:
        """Is the next Ritz value less wanted than the pairs sought, whatever its error?"""
        fresh, sizes = self.found[0].size, np.abs(values).tolist()
        merged = sorted([*self.locked, *sizes[:fresh]], reverse=True)
        if len(merged) < self.count:
            return False
        next_size, next_error = sizes[fresh], float(errors[fresh])
        self.following = max([next_size + next_error, *merged[self.count :]])
        worst = float(errors[:fresh].max(initial=0.0))
        return is_settled(next_size, next_error, merged[self.count - 1], worst, merged[0])

    def _ratios(self) -> list[float]:
        """|θ| ‖(A − σB)v‖/‖Bx‖ for the next basis vector v and Ritz vectors x, the larger one in both coordinates.

        With the residual norm e of θ, ‖Ax − λBx‖ is e/|θ| ‖(A − σB)v‖.
        """
        (theta, S), process, pair = self.found, self.process, self.pair
        residual, images = self.factor.times(process.following), process.vectors(S, dual=True)
        systems = []
        if pair.D is None or pair.measured:
            systems.append((residual, images))
        if pair.D is not None:
            systems.append((residual / pair.D, images / pair.D[:, None]))
        ratios = np.max([process.call.norm(r) / np.linalg.norm(Y, axis=0) for r, Y in systems], axis=0)
        return (np.abs(theta) * ratios).tolist()  # type: ignore[no-any-return]

    def vectors(self) -> Array:
        """The vectors sought, in the coordinates of the user."""
        theta, S = self.found
        X = np.column_stack([self.process.V[:, : self.process.first], self.process.vectors(S)])
        sizes = np.r_[self.locked, np.abs(theta)]
        X = X[:, np.argsort(-sizes, kind="stable")[: self.count]]
        return X if self.pair.D is None else X * self.pair.D[:, None]

    def gap(self, last: float) -> float:
        """The least distance of the eigenvalue that follows from σ, beyond that of the last one."""
        return 1 / self.following - last if self.following > 0 else math.inf

    def seek_further(self) -> bool:
        """Seek one pair more. Has it converged?"""
        self.count += 1
        return self.converge()

    def seek_missing(self) -> bool:
        """Lock the pairs, and go on in their complement. Have the pairs sought converged?"""
        theta, S = self.found
        first = self.process.first + theta.size
        if theta.size == 0 or first + FIRST_PRODUCTS + self.count >= self.process.V.shape[1]:
            return False
        X = random_vector(self.process.V.shape[0], self.process.V.dtype, self.rng)
        self.process.lock(S, X)
        # in the order of the columns
        self.locked += np.abs(theta).tolist()
        self.course.begin_pass()
        return self.converge()


class Window(NamedTuple):
    """The distances from σ up to `reach`, from which eigenvalues are to be clear by `margin`.

    For a count, factors may be off by `growth` units of rounding.
    """

    reach: float
    margin: float
    growth: float


def window_beyond(search: InverseSearch, values: list[float], deltas: list[float], scale: Scale) -> Window | None:
    """A window around σ with these values, each within its delta of an eigenvalue, and not the one that follows.

    None where rounding leaves no room for it.
    """
    distances = [abs(value - search.sigma) for value in values]
    last = max(distances)
    A_norm, B_norm = search.pair.factored_scale()
    # in the coordinates of the factors, in which the longest vector is known
    scale = scale._replace(A_norm=A_norm, B_norm=B_norm)
    rounding = resolution_of(scale, search.pair.longest, max(map(abs, values)))
    margin = GAP_FRACTION * min(search.gap(last), last)
    reach = last + margin
    if margin < 2 * rounding or any(d + delta >= reach for d, delta in zip(distances, deltas, strict=True)):
        return None
    # the factors may be off by half of the margin
    return Window(reach, margin, 0.5 * MAX_BACKWARD_ERROR * margin / rounding)


def counted(search: InverseSearch, window: Window) -> int | None:
    """How many eigenvalues are in a window; None where factors do not tell."""
    pair, sigma, factor, n = search.pair, search.sigma, search.factor, search.pair.A.shape[0]
    below = factor.negative if factor.backward_error <= MAX_BACKWARD_ERROR else None
    counts = []
    for edge, outside in ((sigma - window.reach, 0), (sigma + window.reach, n)):
        if below == outside:
            counts.append(outside)
            continue
        other = pair.factor(edge, factor.lu)
        if other is None or other.backward_error > window.growth:
            return None
        counts.append(other.negative)
    return counts[1] - counts[0]
