"""Task graphs over the row blocks of Dask arrays: one task per block, results combined pairwise on the workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dask.array
import numpy as np
import scipy.sparse as sp
from dask.base import compute, persist
from dask.delayed import delayed

# Dask has no type annotations
da: Any = dask.array


def reduce_blocks(
    task: Callable[..., Any],
    combine: Callable[[Any, Any], Any],
    arrays: Sequence[Sequence[Any]],
    weights: Sequence[Any] | None,
    *arguments: Any,
) -> Any:
    """Apply `task` to every row block and combine the results pairwise; the arguments are sent once, not per task."""
    sent = [delayed(argument, pure=False) for argument in arguments]
    of_block, of_two = delayed(task, pure=False), delayed(combine, pure=False)
    partial = [
        of_block(list(blocks), None if weights is None else weights[i], *sent)
        for i, blocks in enumerate(zip(*arrays, strict=True))
    ]
    while len(partial) > 1:
        pairs = [of_two(a, b) for a, b in zip(partial[::2], partial[1::2], strict=False)]
        partial = pairs + partial[len(pairs) * 2 :]
    return computed(partial[0])[0]


def computed(*lazy: Any) -> Any:
    """Compute Dask objects together."""
    answer: Any = compute(*lazy)  # type: ignore[no-untyped-call]
    return answer


def persisted(arrays: Sequence[Any]) -> list[Any]:
    """Return delayed objects for arrays that are sent to the workers now and stay there."""
    held: Any = persist(*(delayed(array, pure=False) for array in arrays))  # type: ignore[no-untyped-call]
    return list(held)


def check_known(X: Any, name: str, dimensions: int = 2) -> Any:
    """Return an array of known shape; anything but a Dask array is converted to a dense one."""
    dense: Any = X
    if not isinstance(X, da.Array):
        dense = np.asarray(dense.toarray() if sp.issparse(X) else X)
    if dense.ndim != dimensions or dense.dtype.kind not in "iufb":
        raise ValueError(
            f"{name} must be real with {dimensions} dimension{'s' * (dimensions > 1)}; it has shape {dense.shape}, "
            f"{dense.dtype}"
        )
    if any(np.isnan(size) for size in dense.shape):
        raise ValueError(f"{name} is a Dask array with chunks of unknown size; call {name}.compute_chunk_sizes() first")
    if 0 in dense.shape:
        raise ValueError(f"{name} is empty (shape {dense.shape}); give samples in rows")
    return dense


def row_blocks(X: Any) -> list[Any]:
    """Return one delayed object per row block."""
    return list(X.to_delayed().ravel())
