"""Rows centred implicitly about the means of their groups.

Z = W^½(X − EM) for weights W, group means M and the indicator matrix E of the groups. X is only multiplied, or copied
in blocks of rows or columns, so that it may be sparse or memory-mapped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk

from ...typing import Array
from ..data.rows import Rows

# Largest number of entries that are centred at a time (32 MiB).
BLOCK_ENTRIES = 1 << 22


class Grouped(Rows):
    """Scatter matrix, Gram matrix and products of rows about the means of their groups.

    >>> X = np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 1.0], [5.0, 3.0]])
    >>> rows = Grouped(X, np.array([0, 0, 1, 1]), 2)
    >>> rows.means
    array([[2., 1.],
           [5., 2.]])
    >>> np.triu(rows.scatter())
    array([[2., 2.],
           [0., 4.]])
    """

    def __init__(self, X: Any, members: Array, groups: int, weights: Array | None = None) -> None:
        super().__init__(X)
        self.members, self.groups = np.asarray(members, np.intp), groups
        self.weights = np.ones(self.rows) if weights is None else np.asarray(weights, np.float64)
        self.roots = np.sqrt(self.weights)
        self.totals = np.bincount(self.members, self.weights, groups)
        sums = np.zeros((groups, self.columns))
        for rows in [slice(0, self.rows)] if self.sparse else _pieces(self.rows, self.columns):
            found: Any = self._indicator(self.weights, rows).T @ self.X[rows]
            sums += found.toarray() if self.sparse else found
        self.means = sums / np.where(self.totals > 0, self.totals, 1.0)[:, None]

    def _indicator(self, values: Array, rows: slice) -> Any:
        """The given rows of diag(values) E."""
        chosen = self.members[rows]
        data = (values[rows], chosen, np.arange(chosen.size + 1))
        return sp.csr_array(data, shape=(chosen.size, self.groups))

    def reweighted(self, weights: Array) -> Grouped:
        """Return the same rows about the same means, with other weights."""
        other: Grouped = object.__new__(Grouped)
        other.__dict__.update(self.__dict__)
        other.weights, other.roots = weights, np.sqrt(weights)
        other.totals = np.bincount(self.members, weights, self.groups)
        return other

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Iterate over blocks of rows of Z; each block overwrites the previous one."""
        pieces = list(_pieces(self.rows, self.columns))
        memory = np.empty((max(piece.stop - piece.start for piece in pieces), self.columns))
        for rows in pieces:
            # mode "clip" writes into `out` without a buffer
            Z = np.take(self.means, self.members[rows], axis=0, out=memory[: rows.stop - rows.start], mode="clip")
            part = self.X[rows]
            np.subtract(part.toarray() if self.sparse else part, Z, out=Z)
            Z *= self.roots[rows, None]
            yield rows, Z

    def scatter(self, out: Array | None = None) -> Array:
        """Return the upper triangle of ZᵀZ in Fortran order, added to `out`."""
        found = np.zeros((self.columns, self.columns), order="F") if out is None else out
        for _, Z in self.blocks():
            found = dsyrk(1.0, Z.T, beta=1.0, c=found, overwrite_c=1)
        return found

    def variances(self) -> Array:
        """The diagonal of `scatter`."""
        if self.sparse:
            return self._sparse_variances()
        found = np.zeros(self.columns)
        for _, Z in self.blocks():
            found += np.einsum("ij,ij->j", Z, Z)
        return found

    def _sparse_variances(self) -> Array:
        """Sum over stored entries and, by their weight, over the zeros of each column: no cancellation."""
        X = self.X
        group, weight = (np.repeat(each, np.diff(X.indptr)) for each in (self.members, self.weights))
        found = np.bincount(X.indices, weight * (X.data - self.means[group, X.indices]) ** 2, self.columns)
        place = group * self.columns + X.indices
        stored = np.bincount(place, weight, self.groups * self.columns).reshape(self.means.shape)
        # the difference is only rounding where all entries of a group are stored
        zeros = np.maximum(self.totals[:, None] - stored, 0.0)
        zeros[zeros <= self.rows * np.finfo(float).eps * self.totals[:, None]] = 0.0
        return np.asarray(found + np.einsum("ij,ij,ij->j", zeros, self.means, self.means))

    def gram(self, scale: Array) -> Array:
        """Return the upper triangle of (ZS)(ZS)ᵀ for S = diag(`scale`), in Fortran order."""
        X = self.X.tocsc() if self.sparse else self.X
        found = np.zeros((self.rows, self.rows), order="F")
        for some in _pieces(self.columns, self.rows):
            part = X[:, some].toarray() if self.sparse else X[:, some]
            Z = np.take(self.means[:, some], self.members, axis=0)
            np.subtract(part, Z, out=Z)
            Z *= self.roots[:, None]
            Z *= scale[some]
            found = dsyrk(1.0, Z.T, beta=1.0, c=found, trans=1, overwrite_c=1)
        return found

    def times(self, V: Array) -> Array:
        """ZV for columns V."""
        return np.asarray(self.roots[:, None] * (np.asarray(self.X @ V) - (self.means @ V)[self.members]))

    def transposed(self, U: Array) -> Array:
        """ZᵀU for columns U."""
        weighted = self.roots[:, None] * U
        sums = self._indicator(np.ones(self.rows), slice(None)).T @ weighted
        return np.asarray(self.X.T @ weighted - self.means.T @ sums)


def _pieces(count: int, width: int) -> Iterator[slice]:
    """Slices of `count` rows of the given width, of at most BLOCK_ENTRIES entries."""
    step = max(1, BLOCK_ENTRIES // max(width, 1))
    return (slice(first, min(first + step, count)) for first in range(0, count, step))
