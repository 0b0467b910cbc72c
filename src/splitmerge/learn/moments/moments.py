"""Sums that add up: weights, means and scatter of groups of rows, batch after batch.

Two sets are merged as by Chan, Golub and LeVeque (1979): the scatter about the common mean is the sum of both about
their own, plus ab/(a+b) δδᵀ for weights a and b and the difference δ of the means. Nothing cancels, however far the
data lie from zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk

from ...typing import Array
from ..dask.blocks import Blocks
from .grouped import Grouped


class Moments:
    """Weights (g,), means (g, p) and scatter of g groups of rows with p columns.

    The scatter of all groups is one p×p matrix, of which only the upper triangle counts; with `separate`, each group
    has its own.

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
        """Sums that somebody else has made, copied but for the scatter of all groups."""
        self = cls.__new__(cls)
        self.weights, self.means, self.rows, self.scatter = weights.copy(), means.copy(), rows, [scatter]
        return self

    @property
    def separate(self) -> bool:
        """Has each group a scatter of its own?"""
        return len(self.scatter) > 1

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    @property
    def mean(self) -> Array:
        """The mean of all rows."""
        return np.asarray(self.weights @ self.means / self.total)

    def add(self, X: Any, members: Array, weights: Array | None = None) -> Moments:
        """Take more rows in; `members` numbers the group of each."""
        groups = self.weights.size
        if isinstance(X, Blocks):
            return self.merge(X.moments(members, weights, groups, separate=self.separate))
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
        """Take the rows of other sums in, which stay as they are."""
        for mine, others in zip(self.scatter, other.scatter, strict=True):
            mine += others
        self._shift(other.weights, other.means, other.rows)
        return self

    def _shift(self, weights: Array, means: Array, rows: Array) -> None:
        """Go over to the means with more rows in, whose scatter about their own means is in already."""
        total = self.weights + weights
        # 0/0 for a group that is still empty
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
        """The upper triangle of Σ shareᵍ Sᵍ/weightᵍ; the shares of the weights themselves unless others are given."""
        if shares is None:
            return np.asarray(sum(self.scatter[1:], start=self.scatter[0]) / self.total)
        if not self.separate and self.weights.size > 1:
            raise ValueError("shares other than those of the weights need the scatter of each group: separate=True")
        found = np.zeros_like(self.scatter[0])
        for share, weight, scatter in zip(shares, self.weights, self.scatter, strict=True):
            if weight > 0:
                found += share / weight * scatter
        return found
