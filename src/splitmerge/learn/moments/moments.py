"""Weights, means and scatter matrices that are updated batch by batch and merged.

Two sets are merged by the update of Chan, Golub and LeVeque (1979): the scatter about the common mean is the sum of
both scatters about their own means, plus ab/(a + b) δδᵀ for weights a and b and the difference δ of the means. It does
not cancel for data with a large mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk

from ...typing import Array
from ..data.joint import Joint
from ..data.view import constant_threshold
from .grouped import Grouped


@dataclass(frozen=True, eq=False)
class Comoments:
    """The sum of the weights, the means, and the co-moments `squares` of all columns or of each column by itself.

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
        """Return the moments of dense rows, each column by itself."""
        w = np.ones(len(X)) if weights is None else weights
        total = float(w.sum())
        if total <= 0:
            return cls(0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0)
        mean = w @ X / total
        return cls(total, mean, w @ (X - mean) ** 2, int(np.count_nonzero(w)))

    @classmethod
    def of(cls, joint: Joint) -> Comoments:
        """Return the co-moments of views that are centred and not scaled."""
        return cls(joint.total, joint.mean, joint.gram() * joint.total, joint.samples)

    def __add__(self, other: Comoments) -> Comoments:
        """Return the moments of both sets of rows together."""
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
        """Return the covariance matrix, with `scale` of columns of unit variance, and the divisors of the columns."""
        C = self.squares / self.total
        deviations = np.sqrt(np.maximum(C.diagonal(), 0.0))
        constant = deviations <= constant_threshold(self.samples) * np.abs(self.mean)
        spread = np.where(constant, 1.0, deviations) if scale else np.ones(len(C))
        return C / spread / spread[:, None], spread


class Moments:
    """Weights (g,), means (g, p) and scatter matrices of g groups of rows with p columns.

    The scatter of all groups about their means is one p×p matrix, of which only the upper triangle is valid; with
    `separate`, each group has a matrix of its own.

    >>> X = np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 1.0], [5.0, 3.0]])
    >>> members = np.array([0, 0, 1, 1])
    >>> whole = Moments(2, 2).add(X, members)
    >>> parts = Moments(2, 2).add(X[:1], members[:1]).add(X[1:], members[1:])
    >>> np.allclose(whole.scatter[0], parts.scatter[0]), np.allclose(whole.means, parts.means)
    (True, True)
    """

    def __init__(self, groups: int, columns: int, *, separate: bool = False) -> None:
        self.weights = np.zeros(groups)
        self.means = np.zeros((groups, columns))
        self.rows = np.zeros(groups, np.int64)
        self.scatter = [np.zeros((columns, columns), order="F") for _ in range(groups if separate else 1)]

    @classmethod
    def of(cls, weights: Array, means: Array, rows: Array, scatter: Array) -> Moments:
        """Return moments that were computed elsewhere; the scatter matrix is not copied."""
        self = cls.__new__(cls)
        self.weights, self.means, self.rows, self.scatter = weights.copy(), means.copy(), rows, [scatter]
        return self

    @property
    def separate(self) -> bool:
        """Whether each group has its own scatter matrix."""
        return len(self.scatter) > 1

    @property
    def total(self) -> float:
        """The sum of the weights of all rows."""
        return float(self.weights.sum())

    @property
    def mean(self) -> Array:
        """The mean of all rows."""
        return np.asarray(self.weights @ self.means / self.total)

    def add(self, X: Any, members: Array, weights: Array | None = None) -> Moments:
        """Add rows in place; `members` has the group index of each row."""
        groups = self.weights.size
        if self.separate:
            for g in range(groups):
                chosen = np.flatnonzero(members == g)
                if chosen.size:
                    few = Grouped(X[chosen], members[chosen], groups, None if weights is None else weights[chosen])
                    few.scatter(self.scatter[g])
                    self._shift(few.totals, few.means, chosen.size * (np.arange(groups) == g))
        else:
            batch = Grouped(X, members, groups, weights)
            batch.scatter(self.scatter[0])
            self._shift(batch.totals, batch.means, np.bincount(members, minlength=groups))
        return self

    def merge(self, other: Moments) -> Moments:
        """Add the rows of other moments in place; `other` does not change."""
        for mine, added in zip(self.scatter, other.scatter, strict=True):
            mine += added
        self._shift(other.weights, other.means, other.rows)
        return self

    def _shift(self, weights: Array, means: Array, rows: Array) -> None:
        """Update means and weights for added rows whose scatter about their own means has been added already."""
        total = self.weights + weights
        # an empty group has no share
        share = weights / np.where(total > 0, total, 1.0)
        apart = means - self.means
        pull = np.sqrt(self.weights * share)[:, None] * apart
        for g in np.flatnonzero(self.weights * weights) if self.separate else range(1):
            lines = pull[g : g + 1] if self.separate else pull
            self.scatter[g] = dsyrk(1.0, lines.T, beta=1.0, c=self.scatter[g], overwrite_c=1)
        self.means += share[:, None] * apart
        self.weights = total
        self.rows = self.rows + rows

    def within(self, shares: Array | None = None) -> Array:
        """Return the upper triangle of Σ shareᵍ Sᵍ / weightᵍ; by default the shares are those of the weights."""
        if shares is None:
            return np.asarray(sum(self.scatter[1:], start=self.scatter[0]) / self.total)
        if not self.separate and self.weights.size > 1:
            raise ValueError("shares other than those of the weights need one scatter per group; give separate=True")
        found = np.zeros_like(self.scatter[0])
        for share, weight, scatter in zip(shares, self.weights, self.scatter, strict=True):
            if weight > 0:
                found += share / weight * scatter
        return found
