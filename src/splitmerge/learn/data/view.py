"""Weighted data, centred and scaled implicitly.

A view represents X̃ = (X − 1μᵀ)D⁻¹ with the weighted mean μ and, with `scale`, the weighted standard deviations D.
Only products with X are computed, so that sparse data stay sparse and memory-mapped data stay on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...typing import Array
from .rows import Rows, real_matrix

# Largest number of rows that are centred at a time, and of entries in such a block (32 MiB) unless one row has more.
BLOCK_ROWS = 2048
BLOCK_ENTRIES = 2**22


def constant_threshold(rows: int) -> float:
    """Return the ratio of standard deviation to mean up to which a column is constant except for rounding."""
    return float(np.finfo(np.float64).eps * max(100.0, rows**0.5))


class View(Rows):
    """The covariance matrix of a data matrix and products with it; all sums are divided by the sum Σw of the weights.

    NaN and infinity in X are not looked for: they are in the results. `view_pair` and the estimators refuse them.

    >>> X = np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 1.0]])
    >>> View(X).gram()
    array([[2.66666667, 0.66666667],
           [0.66666667, 0.66666667]])
    """

    def __init__(self, X: Any, weights: Array | None = None, *, center: bool = True, scale: bool = False) -> None:
        super().__init__(real_matrix(X, "X", 0))
        self.weights = None if weights is None else np.asarray(weights, np.float64)
        self.total = float(self.rows) if self.weights is None else float(self.weights.sum())
        self.mean = np.zeros(self.columns)
        self.spread = np.ones(self.columns)
        if center:
            self.mean = self._sum(np.ones(self.rows)) / self.total
        if scale:
            deviations = np.sqrt(self.variances())
            # a constant column is not scaled
            self.spread = np.where(deviations > constant_threshold(self.rows) * np.abs(self.mean), deviations, 1.0)

    @property
    def samples(self) -> int:
        """Number of rows with positive weight."""
        return self.rows if self.weights is None else int(np.count_nonzero(self.weights))

    def _weighted(self, U: Array) -> Array:
        return U if self.weights is None else self.weights[:, None] * U

    def _sum(self, u: Array) -> Array:
        """XᵀWu."""
        return self._raw_transposed(u if self.weights is None else self.weights * u)

    def _slices(self) -> Iterator[slice]:
        height = max(1, min(BLOCK_ROWS, BLOCK_ENTRIES // max(self.columns, 1)))
        for first in range(0, self.rows, height):
            yield slice(first, min(first + height, self.rows))

    def centred(self, rows: slice, out: Array | None = None) -> Array:
        """Rows of W^½X̃ as a dense array, written to `out` if it is given."""
        part = self.X[rows]
        part = part.toarray() if self.sparse else np.asarray(part)
        Z: Array = np.subtract(part, self.mean, out=out, dtype=np.float64)
        Z /= self.spread
        if self.weights is not None:
            Z *= np.sqrt(self.weights[rows])[:, None]
        return Z

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Iterate over blocks of rows of W^½X̃ as dense arrays."""
        for rows in self._slices():
            yield rows, self.centred(rows)

    def variances(self) -> Array:
        """The diagonal of `gram`."""
        if self.sparse:
            return self._sparse_variances()
        found = np.zeros(self.columns)
        for _, Z in self.blocks():
            found += np.einsum("ij,ij->j", Z, Z)
        return found / self.total

    def _sparse_variances(self) -> Array:
        """Sum over stored entries and, by their weight, over the zeros of each column: no cancellation."""
        stored = sp.coo_array(self.X)
        rows, columns = stored.coords
        w = np.ones(len(columns)) if self.weights is None else self.weights[rows]
        squares = np.bincount(columns, w * (stored.data - self.mean[columns]) ** 2, minlength=self.columns)
        absent = np.maximum(self.total - np.bincount(columns, w, minlength=self.columns), 0.0)
        return np.asarray((squares + absent * self.mean**2) / self.total / self.spread**2)

    def gram(self) -> Array:
        """X̃ᵀWX̃ / Σw as a matrix."""
        found = np.zeros((self.columns, self.columns))
        for _, Z in self.blocks():
            found += Z.T @ Z
        return found / self.total

    def cross(self, other: View) -> Array:
        """X̃ᵀWỸ / Σw as a matrix, for another view of the same rows with the same weights."""
        found = np.zeros((self.columns, other.columns))
        for rows, Z in self.blocks():
            found += Z.T @ other.centred(rows)
        return found / self.total

    def times(self, V: Array) -> Array:
        """X̃V."""
        V = (V.T / self.spread).T
        return self._raw_times(V) - self.mean @ V

    def transposed(self, U: Array) -> Array:
        """X̃ᵀU."""
        raw = self._raw_transposed(U)
        return np.asarray(((raw.T - np.multiply.outer(U.sum(axis=0), self.mean)) / self.spread).T)

    def dual(self, U: Array) -> Array:
        """X̃ᵀWU / Σw for columns U."""
        return self.transposed(self._weighted(U)) / self.total

    def gram_times(self, V: Array) -> Array:
        """X̃ᵀWX̃V / Σw without forming the matrix."""
        return self.dual(self.times(V))

    @property
    def _direct(self) -> bool:
        """Whether X can be multiplied as a whole; NumPy would convert other data to float64 in one large copy."""
        return self.sparse or (self.X.dtype == np.float64 and not isinstance(self.X, np.memmap))

    def _raw_times(self, V: Array) -> Array:
        if self._direct:
            return np.asarray(self.X @ V)
        return np.concatenate([np.asarray(self.X[rows], np.float64) @ V for rows in self._slices()])

    def _raw_transposed(self, U: Array) -> Array:
        if self._direct:
            return np.asarray(self.X.T @ U)
        found = np.zeros((self.columns, *U.shape[1:]))
        for rows in self._slices():
            found += np.asarray(self.X[rows], np.float64).T @ U[rows]
        return found
