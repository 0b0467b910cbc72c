"""Labelled rows of a Dask array about the means of their groups: products and sums over rows, block by block.

Neither the rows nor a matrix of the size of the columns are transferred, only vectors and slabs of limited size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...typing import Array
from ..data.inputs import check_finite
from ..moments.grouped import Grouped
from .blocks import Blocks
from .group_tasks import (
    add_columns,
    centred_rows,
    column_sums,
    fourth_powers,
    gram_product,
    product,
    scatter_slab,
    stack,
    transposed_product,
)
from .tasks import add, add_each

# Largest size of the scatter slabs of all groups together.
SLAB_BYTES = 2**27


class BlockGrouped(Grouped):
    """As `Grouped`, for the rows of a Dask array, without what needs the rows themselves.

    Labels and weights are held by the client, too.

    >>> import dask.array as da
    >>> X = da.from_array(np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 1.0], [5.0, 3.0]]), chunks=(3, 2))
    >>> rows = BlockGrouped(Blocks(X), np.array([0, 0, 1, 1]), 2)
    >>> rows.means, rows.gram_times(np.eye(2))
    (array([[2., 1.],
           [5., 2.]]), array([[2., 2.],
           [2., 4.]]))
    """

    def __init__(self, blocks: Blocks, members: Array, groups: int, weights: Array | None = None) -> None:
        from .graph import persisted

        self.source = blocks
        self.rows, self.columns = blocks.shape
        self.members, self.groups = np.asarray(members, np.intp), groups
        self.weights = np.ones(self.rows) if weights is None else np.asarray(weights, np.float64)
        self.roots = np.sqrt(self.weights)
        indices, parts = blocks.labels(self.members, weights, groups)
        # sent to the workers once, not with every pass
        self.labels, self.parts = persisted(indices), None if parts is None else persisted(parts)
        found = self._reduce(column_sums, add_columns)
        self.totals = np.array([each.total for each in found])
        self.means = np.array([each.mean for each in found])
        self.squares = np.array([each.squares for each in found])
        # of the weights relative to those in `squares`, for each group
        self.factors = np.ones(groups)
        check_finite(self.means, self.squares, "X")

    @property
    def sparse(self) -> bool:
        """Products are computed by the workers, whatever their blocks are."""
        return False

    @property
    def entries(self) -> int:
        """Number of entries that a product with X reads."""
        return int(self.rows * self.columns)

    def _reduce(self, task: Callable[..., Any], combine: Callable[[Any, Any], Any], *arguments: Any) -> Any:
        from .graph import reduce_blocks, row_blocks

        arrays = [row_blocks(self.source.X), self.labels]
        return reduce_blocks(task, combine, arrays, self.parts, self.groups, *arguments)

    def reweighted(self, weights: Array) -> BlockGrouped:
        """Return the same rows about the same means, with weights that are changed by one factor for each group."""
        other: BlockGrouped = object.__new__(BlockGrouped)
        other.__dict__.update(self.__dict__)
        other.weights, other.roots = weights, np.sqrt(weights)
        other.totals = np.bincount(self.members, weights, self.groups)
        other.factors = self.factors * other.totals / self.totals
        return other

    def variances(self) -> Array:
        """The diagonal of ZᵀZ."""
        return np.asarray(self.factors @ self.squares)

    def gram_times(self, V: Array) -> Array:
        """ZᵀZV for columns V, in one pass."""
        raw, sums = self._reduce(gram_product, add_each, V, self.means @ V, self.factors)
        return np.asarray(raw - self.means.T @ sums)

    def times(self, V: Array) -> Array:
        """ZV for columns V."""
        XV = self._reduce(product, stack, V)
        return np.asarray(self.roots[:, None] * (XV - (self.means @ V)[self.members]))

    def transposed(self, U: Array) -> Array:
        """ZᵀU for columns U."""
        from .graph import reduce_blocks, row_blocks

        weighted = self.roots[:, None] * U
        sums = self._indicator(np.ones(self.rows), slice(None)).T @ weighted
        arrays = [row_blocks(self.source.X), self.source.split(weighted, 0.0)]
        return np.asarray(reduce_blocks(transposed_product, add, arrays, None) - self.means.T @ sums)

    def gram(self, scale: Array) -> Array:
        """Return (ZS)(ZS)ᵀ for S = diag(`scale`), in Fortran order."""
        from .graph import computed, da

        X = self.source.X if self.source.kept is None else self.source.X[self.source.kept]
        members, roots = (da.from_array(each[:, None], chunks=(X.chunks[0], 1)) for each in (self.members, self.roots))
        Z = da.map_blocks(centred_rows, X, members, roots, means=self.means, scale=scale, dtype=np.float64)
        return np.asfortranarray(computed(Z @ Z.T)[0])

    def slabs(self) -> Iterator[tuple[slice, Array]]:
        """Iterate over slabs of columns of the scatter matrices of all groups, in an array (groups, columns, width)."""
        width = max(1, SLAB_BYTES // (8 * self.groups * self.columns))
        for first in range(0, self.columns, width):
            chosen = slice(first, min(first + width, self.columns))
            yield chosen, np.asarray(self._reduce(scatter_slab, add, self.means, chosen))


def fourths(blocks: Blocks, members: Array, weights: Array | None, groups: int, centres: Array, scales: Array) -> Array:
    """Return Σ w‖(x − centre)/scale‖⁴ for each group, and for all rows with the last centre and scale."""
    from .graph import reduce_blocks, row_blocks

    indices, parts = blocks.labels(members, weights, groups)
    arrays = [row_blocks(blocks.X), indices]
    return np.asarray(reduce_blocks(fourth_powers, add, arrays, parts, groups, centres, scales**-2.0))
