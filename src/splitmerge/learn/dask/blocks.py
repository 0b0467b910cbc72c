"""Moments of groups of the rows of a Dask array, computed block by block on the workers.

Each row block computes its `Moments` in one task, and these are merged pairwise on the workers: no row is transferred.
Labels and weights are one number per row; they are held by the client, which sends each block its part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...typing import Array
from ..data.inputs import check_finite
from ..moments.moments import Moments


class Blocks:
    """The rows of a Dask array, or those with the increasing indices `kept`, which are selected on the workers.

    >>> import dask.array as da
    >>> rows = Blocks(da.ones((6, 2), chunks=(3, 1)))[np.array([0, 1, 5])]
    >>> rows.shape, rows.moments(np.array([0, 1, 1]), np.ones(3), 2, separate=False).weights
    ((3, 2), array([1., 2.]))
    """

    def __init__(self, X: Any, kept: Array | None = None) -> None:
        from .graph import check_known

        self.X, self.kept = check_known(X, "X").rechunk({1: -1}), kept
        self.shape = (int(X.shape[0]) if kept is None else kept.size, int(X.shape[1]))

    def __getitem__(self, kept: Array) -> Blocks:
        return Blocks(self.X, kept if self.kept is None else self.kept[kept])

    def moments(self, members: Array, weights: Array | None, groups: int, *, separate: bool) -> Moments:
        """Return the moments of the groups; `members` has the group index of each row."""
        from .graph import reduce_blocks, row_blocks
        from .tasks import group_moments, merge_moments

        indices, parts = self.labels(members, weights, groups)
        arrays = [row_blocks(self.X), indices]
        sums: Moments = reduce_blocks(group_moments, merge_moments, arrays, parts, groups, separate)
        check_finite(sums.means, np.array([scatter.diagonal() for scatter in sums.scatter]), "X")
        return sums

    def labels(self, members: Array, weights: Array | None, groups: int) -> tuple[list[Array], list[Array] | None]:
        """Return the group indices and the weights of each row block; None for weights of 1."""
        # the smallest integer type reduces the transfer
        indices = self.split(members.astype(np.min_scalar_type(-groups)), -1)
        return indices, None if weights is None or (weights == 1).all() else self.split(weights, 0.0)

    def split(self, values: Array, absent: float) -> list[Array]:
        """Return the part of each row block; rows that are not kept get `absent`."""
        return np.split(self.full(values, absent), np.cumsum(self.X.chunks[0])[:-1])

    def full(self, values: Array, absent: float = 0.0) -> Array:
        """Return the values of all rows of the Dask array; rows that are not kept get `absent`."""
        if self.kept is None:
            return values
        whole = np.full((self.X.shape[0], *values.shape[1:]), absent, values.dtype)
        whole[self.kept] = values
        return whole
