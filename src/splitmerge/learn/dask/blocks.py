"""Groups of the rows of a Dask array: their sums are made where the rows are, and merged; no row travels.

Every block of rows makes its `Moments` in one task, and these are merged pairwise on the workers. The labels and the
weights are a number for each row: they come here, and each block is sent its own. Dask is imported by who has an array.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from ...typing import Array
from ..data.inputs import is_dask, refuse_infinite

if TYPE_CHECKING:
    from ..moments.moments import Moments


class Blocks:
    """The rows of a Dask array, or those `kept` (increasing numbers), which are picked where they are.

    >>> import dask.array as da
    >>> rows = Blocks(da.ones((6, 2), chunks=(3, 1)))[np.array([0, 1, 5])]
    >>> rows.shape, rows.moments(np.array([0, 1, 1]), np.ones(3), 2, separate=False).weights
    ((3, 2), array([1., 2.]))
    """

    def __init__(self, X: Any, kept: Array | None = None) -> None:
        from .views import known

        self.X, self.kept = known(X, "X").rechunk({1: -1}), kept
        self.shape = (int(X.shape[0]) if kept is None else kept.size, int(X.shape[1]))

    def __getitem__(self, kept: Array) -> Blocks:
        return Blocks(self.X, kept if self.kept is None else self.kept[kept])

    def moments(self, members: Array, weights: Array | None, groups: int, *, separate: bool) -> Moments:
        """The sums of the groups of which `members` has the numbers."""
        from .tasks import groups_share, merged
        from .views import reduce_blocks, row_blocks

        if weights is not None and (weights == 1).all():
            weights = None
        # small integers travel faster
        numbers = self._cut(members.astype(np.min_scalar_type(-groups)), -1)
        cut = None if weights is None else self._cut(weights, 0.0)
        sums: Moments = reduce_blocks(groups_share, merged, [row_blocks(self.X), numbers], cut, groups, separate)
        refuse_infinite(sums.means, np.array([scatter.diagonal() for scatter in sums.scatter]), "X")
        return sums

    def _cut(self, values: Array, absent: float) -> list[Array]:
        """What each block is to have of them."""
        if self.kept is not None:
            whole = np.full(self.X.shape[0], absent, values.dtype)
            whole[self.kept] = values
            values = whole
        return np.split(values, np.cumsum(self.X.chunks[0])[:-1])


def per_block(method: Callable[[Any, Any], Array]) -> Callable[[Any, Any], Any]:
    """A method of a fitted model that a Dask array has for each block of rows, once it is computed."""

    @wraps(method)
    def either(self: Any, X: Any) -> Any:
        return _lazily(self, method.__name__, X) if is_dask(X) else method(self, X)

    return either


def _lazily(model: Any, name: str, X: Any) -> Any:
    from .views import known

    X = known(X, "X").rechunk({1: -1})
    light = copy.copy(model)
    # of no use there, and large
    for large in ("_moments", "covariance_"):
        vars(light).pop(large, None)
    # says what the answers are like, or what is wrong with the model or the columns
    example = np.asarray(getattr(light, name)(np.zeros((1, X.shape[1]))))
    shape = {"drop_axis": 1} if example.ndim == 1 else {"chunks": (X.chunks[0], (example.shape[1],))}
    return X.map_blocks(_of_block, model=light, name_of=name, empty=example[:0], meta=example[:0], **shape)


def _of_block(block: Any, model: Any, name_of: str, empty: Array) -> Array:
    return np.asarray(getattr(model, name_of)(block)) if block.shape[0] else empty
