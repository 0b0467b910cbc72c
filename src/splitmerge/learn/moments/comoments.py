"""Weights, means and co-moments of data that come in pieces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...typing import Array
from ..data.joint import Joint
from ..data.view import rounded_off


@dataclass(frozen=True, eq=False)
class Comoments:
    """The sum of the weights, the means and the co-moments about them: of all columns, or each column's own only.

    >>> one, two = Comoments.of_rows(np.array([[0.0], [2.0]])), Comoments.of_rows(np.array([[7.0]]))
    >>> both = one + two
    >>> both.total, both.mean, both.squares / both.total
    (3.0, array([3.]), array([8.66666667]))
    """

    total: float
    mean: Array
    squares: Array
    samples: int

    @classmethod
    def of_rows(cls, X: Array, weights: Array | None = None) -> Comoments:
        """Of dense rows, each column by itself."""
        w = np.ones(len(X)) if weights is None else weights
        total = float(w.sum())
        if total <= 0:
            return cls(0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0)
        mean = w @ X / total
        return cls(total, mean, w @ (X - mean) ** 2, int(np.count_nonzero(w)))

    @classmethod
    def of(cls, joint: Joint) -> Comoments:
        """Of views that are centred and not scaled."""
        return cls(joint.total, joint.mean, joint.gram() * joint.total, joint.samples)

    def __add__(self, other: Comoments) -> Comoments:
        """Of both data together; differences of the means enter, never of sums of squares (Chan, Golub, LeVeque)."""
        if not other.total:
            return self
        if not self.total:
            return other
        total = self.total + other.total
        step = other.mean - self.mean
        apart = step**2 if self.squares.ndim == 1 else np.multiply.outer(step, step)
        squares = self.squares + other.squares + (self.total * other.total / total) * apart
        return Comoments(total, self.mean + step * (other.total / total), squares, self.samples + other.samples)

    def covariance(self, *, scale: bool) -> tuple[Array, Array]:
        """The covariances, of columns divided by their deviations where that is asked for; and what they went by."""
        C = self.squares / self.total
        deviations = np.sqrt(np.maximum(C.diagonal(), 0.0))
        constant = deviations <= rounded_off(self.samples) * np.abs(self.mean)
        spread = np.where(constant, 1.0, deviations) if scale else np.ones(len(C))
        return C / spread / spread[:, None], spread
