"""Plain Lanczos in the complement of Ritz vectors: it keeps two vectors of its basis, and shows Ritz values only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...linalg.lanczos import Tridiagonal
from ...linalg.reductions import extent
from ...problem.start import random_vector
from ...system.processes import agreed
from ...typing import Array

if TYPE_CHECKING:
    from .basis import Basis


class PlainProcess(Tridiagonal):
    """The Lanczos process of T from a random vector, with the columns of U, orthonormal, projected out.

    The components along U are taken out of every new vector: if they were taken out of the products only, the
    recurrence would amplify what rounding leaves of them.
    """

    def __init__(self, basis: Basis, U: Array) -> None:
        transform = self.transform = basis.transform
        self.dot, self.norm, self.axpy = basis.dot, basis.norm, basis.axpy
        self.coefficients, self.gemv, self.trans = basis.coefficients, basis.gemv, basis.trans
        # of the coordinates that are computed first and of the others
        self.own, self.other = U, U
        if not transform.single:
            duals = np.array([transform.dual(np.ascontiguousarray(u)) for u in U.T]).T
            self.own, self.other = (duals, U) if transform.dual_first else (U, duals)
        X, D = transform.random(random_vector(transform, basis.rng)[:, None])
        first = (D if transform.dual_first else X)[:, 0]
        super().__init__(extent(first), basis.eps)
        self.before = first
        # twice, as a random vector may be close to U where B is large
        self._place(*self._completed(self._projected(self._projected(first.copy()))))

    @property
    def broken(self) -> bool:
        """Is the inner product not positive, or not finite, for a vector of the process?"""
        return not self.length >= 0 or math.isinf(self.length)

    def extend(self) -> None:
        """One product with T."""
        transform, v, d = self.transform, self.v, self.d
        own, other = (d, v) if transform.dual_first else (v, d)
        w = transform.apply(v, d)
        alpha = float(self.dot(other, w))
        w = self.axpy(own, w, a=-alpha)
        if self.beta:
            w = self.axpy(self.before, w, a=-self.beta[-1])
        w, d = self._completed(self._projected(w))
        if not self._record(alpha, self.length):
            self.before = own
            self._place(w, d)

    def ends(self) -> tuple[Array, Array]:
        """The least and the largest Ritz value, and their residual norms."""
        places = (0, self.steps - 1)
        pairs = agreed(tuple(self.ritz(place, place) for place in places))
        values = np.array([float(values[0]) for values, _ in pairs])
        return values, self.beta[-1] * np.array([abs(float(S[-1, 0])) for _, S in pairs])

    def _projected(self, w: Array) -> Array:
        """w without its components along U, in the coordinates that are computed first."""
        c = self.coefficients(1.0, self.other, w, trans=self.trans)
        return np.asarray(self.gemv(-1.0, self.own, c, 1.0, w, overwrite_y=1))

    def _completed(self, first: Array) -> tuple[Array, Array]:
        """The vector and its dual; `length` is its norm, NaN where the inner product is not positive."""
        if self.transform.single:
            self.length = float(self.norm(first))
            return first, first
        w, d = self.transform.complete(first)
        square = float(self.dot(d, w))
        self.length = math.sqrt(square) if square >= 0 else math.nan
        return w, d

    def _place(self, w: Array, d: Array) -> None:
        """Let w, with the dual d, be the next vector."""
        scale = 1 / self.length if self.length > 0 else 1.0
        if d is w:
            self.v = self.d = np.multiply(w, scale, out=w)
        else:
            self.v, self.d = w * scale, d * scale
