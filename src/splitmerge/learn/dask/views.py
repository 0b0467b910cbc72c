"""Views of Dask arrays: the data stay where they are, and what is summed over their rows travels.

Each sum is one graph: every block of rows makes its share in one task, and the shares are added pairwise on the
workers. A worker that dies takes its shares along, and Dask computes them again. Arrays that fit the memory of the
workers are best given persisted (`X.persist()`): every pass over them reads them anew otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dask.array
import numpy as np
import scipy.sparse as sp
from dask.base import compute
from dask.delayed import delayed

from ...typing import Array
from ..data.inputs import refuse_infinite, same_rows, weights_of
from ..data.joint import Joint
from ..data.view import View, rounded_off
from ..moments.comoments import Comoments
from .tasks import add, add_each, cross_share, dual_share, gram_share, moments_share, product_share

# its functions are not annotated
da: Any = dask.array

# Seconds that the scheduler takes for a pass, beside all arithmetic: a guess.
OVERHEAD = 0.05


class DaskView(View):
    """A view of a Dask array (n, p); weights are (n,), a Dask array or not.

    >>> X = da.from_array(np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 1.0]]), chunks=(2, 1))
    >>> DaskView(X).gram()
    array([[2.66666667, 0.66666667],
           [0.66666667, 0.66666667]])
    """

    def __init__(self, X: Any, weights: Any = None, *, center: bool = True, scale: bool = False) -> None:
        self.X = known(X, "X").rechunk({1: -1})
        self.rows, self.columns = int(X.shape[0]), int(X.shape[1])
        rows = self.X.chunks[0]
        if weights is not None:
            here = not isinstance(weights, da.Array)
            weights = da.from_array(np.asarray(weights), chunks=(rows,)) if here else weights.rechunk((rows,))
        self.weights = weights
        self.blocks_of_rows = row_blocks(self.X)
        self.blocks_of_weights = None if weights is None else row_blocks(self.weights)
        self.moments: Comoments = self.reduce(moments_share, add)
        self.total = self.moments.total
        self.mean = self.moments.mean if center else np.zeros(self.columns)
        self.spread = np.ones(self.columns)
        if scale:
            deviations = np.sqrt(self.variances())
            self.spread = np.where(deviations > rounded_off(self.rows) * np.abs(self.mean), deviations, 1.0)

    def reduce(self, share: Callable[..., Any], combine: Callable[[Any, Any], Any], *arguments: Any) -> Any:
        """The shares of all blocks, combined."""
        return reduce_blocks(share, combine, [self.blocks_of_rows], self.blocks_of_weights, *arguments)

    @property
    def entries(self) -> int:
        """How many numbers a product with X reads."""
        return int(self.rows * self.columns)

    @property
    def samples(self) -> int:
        """Rows that count."""
        return self.moments.samples

    def variances(self) -> Array:
        """The diagonal of `gram`."""
        squares = self.moments.squares / self.total + (self.moments.mean - self.mean) ** 2
        return np.asarray(squares / self.spread**2)

    def gram(self) -> Array:
        """X̃ᵀWX̃ as a matrix."""
        return DaskJoint([self]).gram()

    def cross(self, other: View) -> Array:
        """X̃ᵀWỸ as a matrix, for another view of the same rows with the same weights."""
        assert isinstance(other, DaskView)
        blocks = [self.blocks_of_rows, row_blocks(other.X.rechunk({0: self.X.chunks[0]}))]
        scales = [(self.mean, self.spread), (other.mean, other.spread)]
        return np.asarray(reduce_blocks(cross_share, add, blocks, self.blocks_of_weights, scales)) / self.total

    def times(self, V: Array) -> Any:
        """X̃V, a Dask array that is yet to be computed."""
        V = (V.T / self.spread).T
        return self.X @ V - self.mean @ V

    def dual(self, U: Any) -> Array:
        """X̃ᵀWU over the sum of the weights, for U in memory or a Dask array, with a column for each right-hand side."""
        U = U if isinstance(U, da.Array) else da.from_array(U, chunks=(self.X.chunks[0], -1))
        blocks = [self.blocks_of_rows, row_blocks(U.rechunk({0: self.X.chunks[0], 1: -1}))]
        raw, sums = reduce_blocks(dual_share, add_each, blocks, self.blocks_of_weights)
        return np.asarray((raw - np.multiply.outer(self.mean, sums)) / self.spread[:, None] / self.total)

    def gram_times(self, V: Array) -> Array:
        """X̃ᵀWX̃V without the matrix, in one pass."""
        return DaskJoint([self]).own(V.reshape(self.columns, -1)).reshape(V.shape)


class DaskJoint(Joint):
    """Views of the same rows, in the same blocks of rows: products are made block by block in one pass over them all.

    What travels are the vectors, and a block of their size for each block of rows.
    """

    overhead = OVERHEAD

    def __init__(self, views: Sequence[DaskView]) -> None:
        super().__init__(views)
        self.blocks = [view.blocks_of_rows for view in views]
        self.weights = views[0].blocks_of_weights

    def _reduce(self, share: Callable[..., Any], combine: Callable[[Any, Any], Any], *arguments: Any) -> Any:
        return reduce_blocks(share, combine, self.blocks, self.weights, *arguments)

    def gram(self, W: Sequence[Array] | None = None) -> Array:
        """As of views in memory, in one pass."""
        scales = [(view.mean, view.spread) for view in self.views]
        return np.asarray(self._reduce(gram_share, add, scales, W)) / self.total

    def own(self, V: Array) -> Array:
        """As of views in memory, in one pass."""
        return self._products(V, own=True)

    def others(self, V: Array) -> Array:
        """As of views in memory, in one pass."""
        return self._products(V, own=False)

    def _products(self, V: Array, *, own: bool) -> Array:
        pieces = self.split(V / self.spread[:, None])
        offsets = [view.mean @ U for view, U in zip(self.views, pieces, strict=True)]
        raw, sums = self._reduce(product_share, add_each, pieces, offsets, own)
        # the means that were not taken off X in the second product
        centred = [R - np.multiply.outer(view.mean, s) for view, R, s in zip(self.views, raw, sums, strict=True)]
        return np.concatenate(centred) / self.spread[:, None] / self.total


def reduce_blocks(
    share: Callable[..., Any],
    combine: Callable[[Any, Any], Any],
    arrays: Sequence[Sequence[Any]],
    weights: Sequence[Any] | None,
    *arguments: Any,
) -> Any:
    """Every block's share, combined pairwise on the workers; the arguments are sent once, not with every task."""
    sent = [delayed(argument, pure=False) for argument in arguments]
    of_block, of_two = delayed(share, pure=False), delayed(combine, pure=False)
    shares = [
        of_block(list(blocks), None if weights is None else weights[i], *sent)
        for i, blocks in enumerate(zip(*arrays, strict=True))
    ]
    while len(shares) > 1:
        pairs = [of_two(a, b) for a, b in zip(shares[::2], shares[1::2], strict=False)]
        shares = pairs + shares[len(pairs) * 2 :]
    # an untyped function
    answer: Any = compute(shares[0])  # type: ignore[no-untyped-call]
    return answer[0]


def dask_joint(views: Sequence[Any], weights: Any, *, scale: bool, names: Sequence[str]) -> DaskJoint:
    """Views of which at least one is a Dask array, checked; the blocks of rows are those of the first that is."""
    arrays = [known(X, name) for X, name in zip(views, names, strict=True)]
    same_rows([int(X.shape[0]) for X in arrays], names)
    rows = next(X.chunks[0] for X in arrays if isinstance(X, da.Array))
    arrays = [
        X.rechunk({0: rows, 1: -1}) if isinstance(X, da.Array) else da.from_array(X, chunks=(rows, -1)) for X in arrays
    ]
    w = _weights(weights, rows)
    joint = DaskJoint([DaskView(X, w, scale=scale) for X in arrays])
    for view, name in zip(joint.views, names, strict=True):
        refuse_infinite(view.mean, view.variances(), name)
    return joint


def _weights(weights: Any, rows: Sequence[int]) -> Any:
    """As a Dask array; one that is given is looked at where it is."""
    if not isinstance(weights, da.Array):
        w = weights_of(weights, sum(rows))
        return None if w is None else da.from_array(w, chunks=(rows,))
    weights = known(weights, "sample_weight", dimensions=1)
    same_rows([sum(rows), int(weights.shape[0])], ["the views", "sample_weight"])
    least, most, total = compute(weights.min(), weights.max(), weights.sum())  # type: ignore[no-untyped-call]
    # what is said of weights in memory holds for these
    weights_of([least, most, total], 3)
    return weights


def known(X: Any, name: str, dimensions: int = 2) -> Any:
    """An array whose shape is known; one that is not Dask's becomes dense."""
    dense: Any = X
    if not isinstance(X, da.Array):
        dense = np.asarray(dense.toarray() if sp.issparse(X) else X)
    if dense.ndim != dimensions or dense.dtype.kind not in "iufb":
        raise ValueError(
            f"{name} must hold real numbers in {dimensions} dimensions; it has {dense.ndim}, {dense.dtype}"
        )
    if any(np.isnan(size) for size in dense.shape):
        raise ValueError(f"{name} is a Dask array with chunks of unknown size; call {name}.compute_chunk_sizes() first")
    if 0 in dense.shape:
        raise ValueError(f"{name} is empty (shape {dense.shape}); give samples in rows")
    return dense


def row_blocks(X: Any) -> list[Any]:
    """A task for each block of rows."""
    return list(X.to_delayed().ravel())
