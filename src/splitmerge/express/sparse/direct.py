"""Lanczos with A itself: the largest eigenvalues, also by magnitude, of a pair with a diagonal B, and their count."""

from __future__ import annotations

import math

import numpy as np

from ...linalg import csr
from ...methods.krylov.complement import CHECK_FRACTION, MIN_PROBE_STEPS, RESOLVED_FRACTION
from ...methods.probe import unseen_distance
from ...methods.subspace import ROUNDING_SLACK
from ...typing import Array
from ...verification.completeness import BLURRED_EXPONENT
from ..found import Found, residuals
from ..plain import EPS
from ..process import Course, Spectrum
from ..search import shift_of
from .pair import SparsePair
from .search import Search, Window

# Products of one pass at most, and how many more for each pair, at a tolerance of TYPICAL_TOL; as many more as fit
# into the cache with their basis.
PASS_PRODUCTS, PASS_PRODUCTS_PER_PAIR, TYPICAL_TOL = 60, 12, 1e-8
CACHED_NUMBERS = 100_000


class DirectSearch(Search):
    """The largest eigenvalues of (A, B), as those of DAD with DBD = I."""

    rated = 0.45

    def __init__(self, pair: SparsePair, k: int, tol: float, rng: np.random.Generator, *, magnitude: bool) -> None:
        longer = max(1.0, math.log(tol) / math.log(TYPICAL_TOL)) if tol < 1 else 1.0
        usual = max(PASS_PRODUCTS + PASS_PRODUCTS_PER_PAIR * k, CACHED_NUMBERS / pair.A.shape[0])
        room = math.ceil(longer * usual)
        self._shift = 0.0
        # products of probes
        self.probed = 0
        super().__init__(pair, csr.matvec(pair.DAD), Course(tol, Spectrum()), rng, k, room, magnitude=magnitude)

    @property
    def shift(self) -> float:
        """η ≥ 0 for which all Ritz values that were seen are above −η; 0 for those by magnitude, which have none."""
        if self.magnitude:
            return 0.0
        self._shift = max(self._shift, shift_of(self.process.alpha))
        return self._shift

    def ratios(self) -> list[float]:
        """‖D⁻¹v‖/‖D⁻¹y‖ for the next basis vector v and Ritz vectors y, the larger one in both coordinates."""
        S, process, D = self.found[1], self.process, self.pair.D
        if D is None:
            return [1.0] * S.shape[1]
        Y = process.vectors(S)
        ratios = process.call.norm(process.following / D) / np.linalg.norm(Y / D[:, None], axis=0)
        return (np.maximum(ratios, 1.0) if self.pair.measured else ratios).tolist()  # type: ignore[no-any-return]

    def distances(self, values: list[float]) -> list[float]:
        """−λ or −|λ|."""
        return [-size for size in self.sizes(values)]

    def order(self, values: list[float]) -> list[int]:
        """The largest first."""
        distances = self.distances(values)
        return sorted(range(len(values)), key=distances.__getitem__)

    def gap(self, last: float) -> float:
        """How much smaller than the last eigenvalue the one that follows is, at least."""
        return -self.following - last

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
            steps = len(process.alpha)
            self.probed, process.products = self.probed + process.products - before, before
            size, doubt = self.sizes(ritz[0])[0], float(ritz[2][0])
            if size > last + slack:
                return True
            if steps < self._resolving(last - size):
                doubt = max(doubt, unseen_distance(steps, process.V.shape[0], 2 * process.radius))
            if process.exhausted or not (size + doubt > last and doubt > slack):
                return False
            following += max(MIN_PROBE_STEPS // 2, int(CHECK_FRACTION * following))
        return None

    def _resolving(self, gap: float) -> int:
        """How many products the search took to tell its pairs from a value at the distance `gap`."""
        following = self.path[-1][0]
        for products, error in reversed(self.path):
            if not error <= RESOLVED_FRACTION * gap:
                break
            following = products
        return following

    def counted(self, window: Window) -> int | None:
        """How many eigenvalues are in a window, from the largest ones on."""
        edge, n = -window.reach, self.pair.A.shape[0]
        high = self.negatives(edge, window)
        low = self.negatives(-edge, window) if self.magnitude and not self._is_above(-edge) else 0
        return None if high is None or low is None else n - high + low

    def _is_above(self, edge: float) -> bool:
        """Are all circles of Gershgorin above the edge?"""
        K = self.pair.DAD
        diagonal = K.diagonal()
        return float((diagonal + np.abs(diagonal) - csr.row_sums(K)).min()) > edge

    def figures(self, V: Array) -> Found:
        """The pairs of these columns; error norms are √(rᴴB⁻¹r)."""
        pair = self.pair
        X = pair.images(V)
        values, roots, norms = residuals(pair.scaling, X)
        R = X[2] if pair.D is None else X[2] * pair.D
        errors = (np.linalg.norm(R, axis=1) / roots).tolist()
        return Found(X[0], X[1], roots, values, errors, [0.0] * len(values), norms, [0.0] * len(values))

    def gaps(self, found: Found, k: int, window: Window) -> list[float]:
        """How far the first k eigenvalues are from all others."""
        values, edge = found.values, window.reach - window.margin / 2
        gaps = [edge - d for d in self.distances(values[:k])]
        for value, error in zip(values[k:], found.errors[k:], strict=True):
            gaps = [min(gap, abs(other - value) - 2 * error) for gap, other in zip(gaps, values, strict=False)]
        return gaps
