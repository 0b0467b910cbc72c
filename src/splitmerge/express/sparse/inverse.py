"""Shift-invert Lanczos: the eigenvalues nearest to σ, and their count from factors of A − τB on both sides of them."""

from __future__ import annotations

import math

import numpy as np

from ...linalg import csr
from ...linalg.rounding import by_distance
from ...sparse_direct.ldl import SparseShifted
from ...typing import Array
from ...verification.bounds import LEAST_DISTANCE
from ...verification.inertia import MAX_BACKWARD_ERROR
from ..found import Found, residuals
from ..process import Course, Spectrum
from .pair import SparsePair
from .search import Search, Window

# Products of one pass at most, and how many more for each pair.
PASS_PRODUCTS, PASS_PRODUCTS_PER_PAIR = 40, 6


class InverseSearch(Search):
    """The eigenvalues of (A, B) nearest to σ, as those of (A − σB)⁻¹B of largest magnitude."""

    sigma: float
    rated = 0.6

    def __init__(
        self, pair: SparsePair, factor: SparseShifted, sigma: float, k: int, tol: float, rng: np.random.Generator
    ) -> None:
        course = Course(tol, Spectrum(inverse=True, sigma=sigma))
        dual = None if pair.DBD is None else csr.matvec(pair.DBD)
        super().__init__(pair, factor.solve, course, rng, k, PASS_PRODUCTS + PASS_PRODUCTS_PER_PAIR * k, dual)
        self.factor, self.sigma, self.known = factor, sigma, factor.lu

    def ratios(self) -> list[float]:
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

    def distances(self, values: list[float]) -> list[float]:
        """|λ − σ|."""
        return [abs(value - self.sigma) for value in values]

    def order(self, values: list[float]) -> list[int]:
        """The nearest to σ first."""
        return by_distance(np.array(values), self.sigma).tolist()  # type: ignore[no-any-return]

    def gap(self, last: float) -> float:
        """The least distance of the eigenvalue that follows from σ beyond that of the last one, or the latter."""
        return min(1 / self.following - last, last) if self.following > 0 else last

    def counted(self, window: Window) -> int | None:
        """How many eigenvalues are in a window around σ."""
        sigma, factor, n = self.sigma, self.factor, self.pair.A.shape[0]
        below = factor.negative if factor.backward_error <= MAX_BACKWARD_ERROR else None
        low = 0 if below == 0 else self.negatives(sigma - window.reach, window)
        high = n if below == n else self.negatives(sigma + window.reach, window)
        return None if low is None or high is None else high - low

    def inverted(self, images: Array) -> Array:
        """The columns (A − σB)⁻¹Bx for rows B x."""
        D = self.pair.D
        X = self.factor.solve(np.asfortranarray((images if D is None else images * D).T))
        return X if D is None else X * D[:, None]

    def figures(self, V: Array) -> Found:
        """The pairs of these columns; error norms are those of 1/(λ − σ), relative to it."""
        pair = self.pair
        X = pair.images(V)
        values, roots, norms = residuals(pair.scaling, X)
        W = self.inverted(X[2])
        BW = W if pair.B is None else pair.B @ W
        squares, products = np.einsum("ij,ij->j", W, BW).tolist(), np.einsum("ji,ij->j", X[1], W).tolist()
        errors = [math.sqrt(max(square, 0.0)) / root for square, root in zip(squares, roots, strict=True)]
        offsets = [abs(product) / (root * root) for product, root in zip(products, roots, strict=True)]
        return Found(X[0], X[1], roots, values, errors, offsets, norms, [0.0] * len(values))

    def gaps(self, found: Found, k: int, window: Window | None) -> list[float]:
        """How far the first k values of θ = 1/(λ − σ) are from those of all other eigenvalues."""
        thetas = [
            math.copysign(1 / max(d, LEAST_DISTANCE), value - self.sigma)
            for d, value in zip(self.distances(found.values), found.values, strict=True)
        ]
        if window is None:
            error = max(error * abs(theta) for error, theta in zip(found.errors, thetas, strict=True))
            return [abs(theta) - min(map(abs, thetas)) - error for theta in thetas[:k]]
        gaps = [abs(theta) - 1 / (window.reach - window.margin / 2) for theta in thetas[:k]]
        for theta, error in zip(thetas[k:], found.errors[k:], strict=True):
            clear = 2 * error * abs(theta)
            gaps = [min(gap, abs(other - theta) - clear) for gap, other in zip(gaps, thetas, strict=False)]
        return gaps
