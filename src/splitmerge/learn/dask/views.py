"""Views of Dask arrays: the data stay on the workers, only sums over their rows are transferred.

Each sum is one task graph: one task per row block, results added pairwise on the workers. If a worker is lost, Dask
recomputes its results. Arrays that fit into the memory of the workers should be persisted (`X.persist()`); otherwise
every pass loads them again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...typing import Array
from ..data.inputs import check_finite, check_same_rows, check_weights
from ..data.joint import Joint
from ..data.view import View, constant_threshold
from ..moments.moments import Comoments
from .graph import check_known, computed, da, reduce_blocks, row_blocks
from .tasks import add, add_each, column_moments, covariance_product, cross_gram, dual_product, gram

# Estimated scheduling overhead of one pass over the data.
PASS_SECONDS = 0.05


class DaskView(View):
    """A view of a Dask array (n, p); the weights (n,) may be a Dask array, too.

    >>> X = da.from_array(np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 1.0]]), chunks=(2, 1))
    >>> DaskView(X).gram()
    array([[2.66666667, 0.66666667],
           [0.66666667, 0.66666667]])
    """

    def __init__(self, X: Any, weights: Any = None, *, center: bool = True, scale: bool = False) -> None:
        self.X = check_known(X, "X").rechunk({1: -1})
        self.rows, self.columns = int(X.shape[0]), int(X.shape[1])
        rows = self.X.chunks[0]
        if weights is not None:
            here = not isinstance(weights, da.Array)
            weights = da.from_array(np.asarray(weights), chunks=(rows,)) if here else weights.rechunk((rows,))
        self.weights = weights
        self.blocks_of_rows = row_blocks(self.X)
        self.blocks_of_weights = None if weights is None else row_blocks(self.weights)
        self.moments: Comoments = self.reduce(column_moments, add)
        self.total = self.moments.total
        self.mean = self.moments.mean if center else np.zeros(self.columns)
        self.spread = np.ones(self.columns)
        if scale:
            deviations = np.sqrt(self.variances())
            self.spread = np.where(deviations > constant_threshold(self.rows) * np.abs(self.mean), deviations, 1.0)

    def reduce(self, task: Callable[..., Any], combine: Callable[[Any, Any], Any], *arguments: Any) -> Any:
        """Apply `task` to every row block and combine the results."""
        return reduce_blocks(task, combine, [self.blocks_of_rows], self.blocks_of_weights, *arguments)

    @property
    def entries(self) -> int:
        """Number of entries that a product with X reads."""
        return int(self.rows * self.columns)

    @property
    def samples(self) -> int:
        """Number of rows with positive weight."""
        return self.moments.samples

    def variances(self) -> Array:
        """The diagonal of `gram`."""
        squares = self.moments.squares / self.total + (self.moments.mean - self.mean) ** 2
        return np.asarray(squares / self.spread**2)

    def gram(self) -> Array:
        """X̃ᵀWX̃ / Σw as a matrix."""
        return DaskJoint([self]).gram()

    def cross(self, other: View) -> Array:
        """X̃ᵀWỸ / Σw as a matrix, for another view of the same rows with the same weights."""
        assert isinstance(other, DaskView)
        blocks = [self.blocks_of_rows, row_blocks(other.X.rechunk({0: self.X.chunks[0]}))]
        scales = [(self.mean, self.spread), (other.mean, other.spread)]
        return np.asarray(reduce_blocks(cross_gram, add, blocks, self.blocks_of_weights, scales)) / self.total

    def times(self, V: Array) -> Any:
        """X̃V, as a lazy Dask array."""
        V = (V.T / self.spread).T
        return self.X @ V - self.mean @ V

    def dual(self, U: Any) -> Array:
        """X̃ᵀWU / Σw for columns U, in memory or a Dask array."""
        U = U if isinstance(U, da.Array) else da.from_array(U, chunks=(self.X.chunks[0], -1))
        blocks = [self.blocks_of_rows, row_blocks(U.rechunk({0: self.X.chunks[0], 1: -1}))]
        raw, sums = reduce_blocks(dual_product, add_each, blocks, self.blocks_of_weights)
        return np.asarray((raw - np.multiply.outer(self.mean, sums)) / self.spread[:, None] / self.total)

    def gram_times(self, V: Array) -> Array:
        """X̃ᵀWX̃V / Σw without forming the matrix, in one pass."""
        return DaskJoint([self]).own(V.reshape(self.columns, -1)).reshape(V.shape)


def signed_gram(view: Any, values: Array) -> Array:
    """Return Σ w v x̃x̃ᵀ / Σw for one value per row, of either sign: two passes with weights of one sign."""
    rows, scales = view.X.chunks[0], [(view.mean, view.spread)]
    values = values if view.weights is None else values * np.asarray(view.weights)
    parts = [da.from_array(np.maximum(sign * values, 0.0), chunks=(rows,)) for sign in (1, -1)]
    plus, minus = (reduce_blocks(gram, add, [view.blocks_of_rows], row_blocks(w), scales, None) for w in parts)
    return np.asarray((plus - minus) / view.total)


class DaskJoint(Joint):
    """Views with the same row blocks; each product is one pass over all views.

    Transferred are the vectors, and a block of their size per row block.
    """

    pass_seconds = PASS_SECONDS

    def __init__(self, views: Sequence[DaskView]) -> None:
        super().__init__(views)
        self.blocks = [view.blocks_of_rows for view in views]
        self.weights = views[0].blocks_of_weights

    def _reduce(self, task: Callable[..., Any], combine: Callable[[Any, Any], Any], *arguments: Any) -> Any:
        return reduce_blocks(task, combine, self.blocks, self.weights, *arguments)

    def gram(self, W: Sequence[Array] | None = None) -> Array:
        """As for views in memory, in one pass."""
        scales = [(view.mean, view.spread) for view in self.views]
        return np.asarray(self._reduce(gram, add, scales, W)) / self.total

    def own(self, V: Array) -> Array:
        """As for views in memory, in one pass."""
        return self._products(V, own=True)

    def others(self, V: Array) -> Array:
        """As for views in memory, in one pass."""
        return self._products(V, own=False)

    def _products(self, V: Array, *, own: bool) -> Array:
        pieces = self.split(V / self.spread[:, None])
        offsets = [view.mean @ U for view, U in zip(self.views, pieces, strict=True)]
        raw, sums = self._reduce(covariance_product, add_each, pieces, offsets, own)
        # the second product used X without subtracting the means
        centred = [R - np.multiply.outer(view.mean, s) for view, R, s in zip(self.views, raw, sums, strict=True)]
        return np.concatenate(centred) / self.spread[:, None] / self.total


def dask_joint(
    views: Sequence[Any], weights: Any, *, center: bool = True, scale: bool, names: Sequence[str]
) -> DaskJoint:
    """Check views of which at least one is a Dask array and join them, in the row blocks of the first Dask array."""
    arrays = [check_known(X, name) for X, name in zip(views, names, strict=True)]
    check_same_rows([int(X.shape[0]) for X in arrays], names)
    rows = next(X.chunks[0] for X in arrays if isinstance(X, da.Array))
    arrays = [
        X.rechunk({0: rows, 1: -1}) if isinstance(X, da.Array) else da.from_array(X, chunks=(rows, -1)) for X in arrays
    ]
    w = _weights(weights, rows)
    joint = DaskJoint([DaskView(X, w, center=center, scale=scale) for X in arrays])
    for view, name in zip(joint.views, names, strict=True):
        check_finite(view.mean, view.variances(), name)
    return joint


def _weights(weights: Any, rows: Sequence[int]) -> Any:
    """Return the weights as a Dask array; only the extremes of a Dask array are computed, to check it."""
    if not isinstance(weights, da.Array):
        w = check_weights(weights, sum(rows))
        return None if w is None else da.from_array(w, chunks=(rows,))
    weights = check_known(weights, "sample_weight", dimensions=1)
    check_same_rows([sum(rows), int(weights.shape[0])], ["the views", "sample_weight"])
    least, most, total = computed(weights.min(), weights.max(), weights.sum())
    check_weights([least, most, total], 3)
    return weights
