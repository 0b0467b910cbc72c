"""Rows centred implicitly about the means of their groups.

Z = W^½(X − EM) for weights W, group means M and the indicator matrix E of the groups. X is only multiplied, or copied
in blocks of rows or columns, so that it may be sparse or memory-mapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk

from ...typing import Array
from ..data.rows import Rows

# Numbers of entries that are centred at a time: at most 32 MiB, and 2 MiB, which stay in the cache, if the rows are as
# many as the columns: with fewer, adding to the scatter matrix takes long, and with threads several times as long.
# Groups of up to 64 MiB are centred at once.
BLOCK_ENTRIES, CACHED_ENTRIES, HELD_ENTRIES = 1 << 22, 1 << 18, 1 << 23


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

    def group(self, k: int) -> Grouped:
        """Return the rows of group k about their mean."""
        return _Group(self, np.flatnonzero(self.members == k), self.means[k])

    def one_by_one(self) -> Iterator[Grouped]:
        """Iterate over the groups; small dense ones are centred once, in memory that the next one overwrites."""
        counts = np.bincount(self.members, minlength=self.groups)
        small = not self.sparse and counts.max() * self.columns <= HELD_ENTRIES
        memory = np.empty((counts.max(), self.columns)) if small else None
        for k in range(self.groups):
            yield _Group(self, np.flatnonzero(self.members == k), self.means[k], memory)

    def together(self) -> Grouped:
        """Return all rows about their common mean, as one group."""
        return _Group(self, None, self.totals @ self.means / self.totals.sum())

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Iterate over blocks of rows of Z; each block overwrites the previous one."""
        pieces = list(_pieces(self.rows, self.columns))
        memory = np.empty((max(piece.stop - piece.start for piece in pieces), self.columns))
        for rows in pieces:
            Z = memory[: rows.stop - rows.start]
            self._weighted(rows, Z)
            yield rows, Z

    def _weighted(self, rows: slice, out: Array) -> None:
        """Write the given rows of Z into `out`."""
        self._centre(rows, out)
        if (self.roots[rows] != 1).any():
            out *= self.roots[rows, None]

    def _centre(self, rows: slice, out: Array) -> None:
        """Write the given rows of X − EM into `out`."""
        # mode "clip" writes into `out` without a buffer
        np.take(self.means, self.members[rows], axis=0, out=out, mode="clip")
        part = self.X[rows]
        np.subtract(part.toarray() if self.sparse else part, out, out=out)

    def scatter(self, out: Array | None = None) -> Array:
        """Return the upper triangle of ZᵀZ in Fortran order, added to `out`."""
        found = np.zeros((self.columns, self.columns), order="F") if out is None else out
        for _, Z in self.blocks():
            found = dsyrk(1.0, Z.T, beta=1.0, c=found, overwrite_c=1)
        return found

    def norms(self, scale: Array) -> Array:
        """The squared norms of the rows of ZS for S = diag(`scale`)."""
        squared = scale**2
        return np.concatenate([np.einsum("ij,ij,j->i", Z, Z, squared) for _, Z in self.blocks()])

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
        columns = self._by_columns()
        found = np.zeros((self.rows, self.rows), order="F")
        for some in _pieces(self.columns, self.rows):
            part = columns(some)
            Z = np.take(self.means[:, some], self.members, axis=0)
            np.subtract(part, Z, out=Z)
            Z *= self.roots[:, None]
            Z *= scale[some]
            found = dsyrk(1.0, Z.T, beta=1.0, c=found, trans=1, overwrite_c=1)
        return found

    def _by_columns(self) -> Callable[[slice], Array]:
        """Return a function that gives some columns of X as a dense array."""
        X: Any = self.X.tocsc() if self.sparse else self.X
        return lambda some: X[:, some].toarray() if self.sparse else X[:, some]

    def times(self, V: Array) -> Array:
        """ZV for columns V."""
        return np.asarray(self.roots[:, None] * (np.asarray(self.X @ V) - (self.means @ V)[self.members]))

    def transposed(self, U: Array) -> Array:
        """ZᵀU for columns U."""
        weighted = self.roots[:, None] * U
        sums = self._indicator(np.ones(self.rows), slice(None)).T @ weighted
        return np.asarray(self.X.T @ weighted - self.means.T @ sums)

    def gram_times(self, V: Array) -> Array:
        """ZᵀZV for columns V."""
        return self.transposed(self.times(V))


class _Group(Grouped):
    """Some or all rows about one mean; dense rows are gathered block by block."""

    def __init__(self, whole: Grouped, chosen: Array | None, mean: Array, memory: Array | None = None) -> None:
        self.source, self.chosen, self.memory = whole.X, chosen, memory
        self.weights = whole.weights if chosen is None else whole.weights[chosen]
        self.roots, self.totals = np.sqrt(self.weights), np.array([self.weights.sum()])
        self.rows, self.columns, self.groups = self.weights.size, whole.columns, 1
        self.members, self.means = np.zeros(self.rows, np.intp), mean[None]

    @cached_property
    def X(self) -> Any:
        """The rows, copied if they are not all."""
        return self.source if self.chosen is None else self.source[self.chosen]

    @property
    def sparse(self) -> bool:
        """Whether X is a sparse matrix."""
        return bool(sp.issparse(self.source))

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Iterate over blocks of rows of Z; only one, which stays as it is, if there is memory for it."""
        return super().blocks() if self.memory is None else iter([(slice(0, self.rows), self._centred)])

    @cached_property
    def _centred(self) -> Array:
        assert self.memory is not None
        Z = self.memory[: self.rows]
        for rows in _pieces(self.rows, self.columns):
            self._weighted(rows, Z[rows])
        return Z

    def _centre(self, rows: slice, out: Array) -> None:
        if self.sparse or self.chosen is None:
            part = self.X[rows]
            np.subtract(part.toarray() if self.sparse else part, self.means[0], out=out)
        elif self.source.dtype == out.dtype:
            np.take(self.source, self.chosen[rows], axis=0, out=out, mode="clip")
            out -= self.means[0]
        else:
            np.subtract(self.source[self.chosen[rows]], self.means[0], out=out)

    def _by_columns(self) -> Callable[[slice], Array]:
        if self.sparse or self.chosen is None:
            return super()._by_columns()
        return lambda some: self.source[:, some][self.chosen]


def _pieces(count: int, width: int) -> Iterator[slice]:
    """Slices of `count` rows of the given width."""
    width = max(width, 1)
    step = max(1, min(BLOCK_ENTRIES // width, max(CACHED_ENTRIES // width, width)))
    return (slice(first, min(first + step, count)) for first in range(0, count, step))
