"""Lanczos with A itself: the largest eigenvalues, also by magnitude, of a pair with a diagonal B, and their count."""

from __future__ import annotations

import math

import numpy as np

from ...linalg import csr
from ...typing import Array
from ..found import Found, residuals
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

    def gaps(self, found: Found, k: int, window: Window | None) -> list[float]:
        """How far the first k eigenvalues are from all others."""
        values = found.values
        if window is None:
            distances = self.distances(values)
            return [distances[-1] - d - max(found.errors) for d in distances]
        edge = window.reach - window.margin / 2
        gaps = [edge - d for d in self.distances(values[:k])]
        for value, error in zip(values[k:], found.errors[k:], strict=True):
            gaps = [min(gap, abs(other - value) - 2 * error) for gap, other in zip(gaps, values, strict=False)]
        return gaps
