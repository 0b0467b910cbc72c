"""Data in rows with weights, centred and scaled without being touched.

A view stands for X̃ = (X − 1μᵀ)D⁻¹: μ the weighted mean, D the weighted standard deviations where scaling is asked for.
Only products with X are made, so a sparse X stays sparse and a memory-mapped one on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..kernels import Array

# So many rows are centred at a time: enough for BLAS, little beside any X for which it matters.
ROWS = 2048


class View:
    """Covariances and their products for one matrix of data; sums are weighted and divided by the sum of the weights.

    >>> X = np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 1.0]])
    >>> View(X).gram()
    array([[2.66666667, 0.66666667],
           [0.66666667, 0.66666667]])
    """

    def __init__(self, X: Any, weights: Array | None = None, *, center: bool = True, scale: bool = False) -> None:
        self.X, (self.rows, self.columns) = X, X.shape
        self.weights = None if weights is None else np.asarray(weights, np.float64)
        self.total = float(self.rows) if self.weights is None else float(self.weights.sum())
        self.mean = np.zeros(self.columns)
        self.spread = np.ones(self.columns)
        if center:
            self.mean = self._sum(np.ones(self.rows)) / self.total
        if scale:
            deviations = np.sqrt(self.variances())
            # a constant column stays what it is: zero, once it is centred
            self.spread = np.where(deviations > 1e-14 * np.abs(self.mean), deviations, 1.0)

    @property
    def sparse(self) -> bool:
        """Has X zeros that nobody stores?"""
        return bool(sp.issparse(self.X))

    @property
    def entries(self) -> int:
        """How many numbers a product with X reads."""
        return int(self.X.nnz) if self.sparse else self.rows * self.columns

    def _weighted(self, U: Array) -> Array:
        return U if self.weights is None else self.weights[:, None] * U

    def _sum(self, u: Array) -> Array:
        """XᵀWu."""
        return np.asarray(self.X.T @ (u if self.weights is None else self.weights * u)).ravel()

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Some rows of X̃ after the other, dense, times the roots of their weights."""
        for first in range(0, self.rows, ROWS):
            rows = slice(first, min(first + ROWS, self.rows))
            part = self.X[rows]
            dense = part.toarray() if self.sparse else part
            Z = (np.asarray(dense, np.float64) - self.mean) / self.spread
            yield rows, Z if self.weights is None else np.sqrt(self.weights[rows])[:, None] * Z

    def variances(self) -> Array:
        """The diagonal of `gram`."""
        found = np.zeros(self.columns)
        for _, Z in self.blocks():
            found += np.einsum("ij,ij->j", Z, Z)
        return found / self.total

    def gram(self) -> Array:
        """X̃ᵀWX̃ as a matrix."""
        found = np.zeros((self.columns, self.columns))
        for _, Z in self.blocks():
            found += Z.T @ Z
        return found / self.total

    def cross(self, other: View) -> Array:
        """X̃ᵀWỸ as a matrix, for another view of the same rows with the same weights."""
        found = np.zeros((self.columns, other.columns))
        for (_, Z), (_, Y) in zip(self.blocks(), other.blocks(), strict=True):
            found += Z.T @ Y
        return found / self.total

    def times(self, V: Array) -> Array:
        """X̃V."""
        V = (V.T / self.spread).T
        return np.asarray(self.X @ V) - self.mean @ V

    def transposed(self, U: Array) -> Array:
        """X̃ᵀU."""
        raw = np.asarray(self.X.T @ U)
        return np.asarray(((raw.T - np.multiply.outer(U.sum(axis=0), self.mean)) / self.spread).T)

    def dual(self, U: Array) -> Array:
        """X̃ᵀWU over the sum of the weights, for U with a column for each right-hand side."""
        return self.transposed(self._weighted(U)) / self.total

    def gram_times(self, V: Array) -> Array:
        """X̃ᵀWX̃V without the matrix."""
        return self.dual(self.times(V))
