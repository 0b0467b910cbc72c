"""Functions of row blocks that run on the Dask workers; as module-level functions they are pickled by name."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...typing import Array
from ..moments.moments import Comoments, Moments

# The mean and the spread of the columns of a view.
Scale = tuple[Array, Array]


def dense(block: Any) -> Array:
    """Return the block as a dense float64 array."""
    given: Any = block.toarray() if hasattr(block, "toarray") else block
    return np.asarray(given, np.float64)


def column_moments(blocks: list[Any], weights: Array | None) -> Comoments:
    """Return the mean and the sum of squares of each column."""
    with np.errstate(invalid="ignore", over="ignore"):
        return Comoments.of_rows(dense(blocks[0]), weights)


def _centred(blocks: list[Any], weights: Array | None, scales: Sequence[Scale]) -> list[Array]:
    found = [(dense(X) - mean) / spread for X, (mean, spread) in zip(blocks, scales, strict=True)]
    return found if weights is None else [np.sqrt(weights)[:, None] * Z for Z in found]


def gram(blocks: list[Any], weights: Array | None, scales: Sequence[Scale], W: Any) -> Array:
    """Return the joint Gram matrix of the views, or of the views times W."""
    pieces = _centred(blocks, weights, scales)
    Z = np.hstack(pieces if W is None else [P @ M for P, M in zip(pieces, W, strict=True)])
    return np.asarray(Z.T @ Z)


def cross_gram(blocks: list[Any], weights: Array | None, scales: Sequence[Scale]) -> Array:
    """Return the cross-Gram matrix of two views."""
    Z, Y = _centred(blocks, weights, scales)
    return np.asarray(Z.T @ Y)


def covariance_product(
    blocks: list[Any], weights: Array | None, V: list[Array], offsets: list[Array], own: bool
) -> tuple[list[Array], list[Array]]:
    """Return XᵀWS and the column sums of WS for each view; S are its own scores, or the sum of the other views'."""
    data: list[Any] = [block if sp.issparse(block) else np.asarray(block, np.float64) for block in blocks]
    scores = [np.asarray(X @ U) - offset for X, U, offset in zip(data, V, offsets, strict=True)]
    if not own:
        together = np.add.reduce(scores)
        scores = [together - S for S in scores]
    if weights is not None:
        scores = [weights[:, None] * S for S in scores]
    return [np.asarray(X.T @ S) for X, S in zip(data, scores, strict=True)], [S.sum(axis=0) for S in scores]


def dual_product(blocks: list[Any], weights: Array | None) -> tuple[Array, Array]:
    """Return XᵀWU and the column sums of WU."""
    X, U = blocks
    U = U if weights is None else weights[:, None] * U
    return np.asarray(X.T @ U), U.sum(axis=0)


def group_moments(blocks: list[Any], weights: Array | None, groups: int, separate: bool) -> Moments:
    """Return the moments of the groups; rows with a negative group index are skipped."""
    X, members = blocks
    X = X.tocsr() if hasattr(X, "tocsr") else X
    X = X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)
    sums = Moments(groups, X.shape[1], separate=separate)
    kept = np.flatnonzero(members >= 0)
    if kept.size < members.size:
        X, members, weights = X[kept], members[kept], None if weights is None else weights[kept]
    with np.errstate(invalid="ignore", over="ignore"):
        return sums.add(X, members, weights) if kept.size else sums


def merge_moments(a: Moments, b: Moments) -> Moments:
    """Merge without changing the arguments: after the loss of a worker Dask may use them again."""
    with np.errstate(invalid="ignore", over="ignore"):
        return copy.deepcopy(a).merge(b)


def add(a: Any, b: Any) -> Any:
    """Add two results."""
    return a + b


def add_each(a: Any, b: Any) -> Any:
    """Add two results that are (nested) lists or tuples, item by item."""
    if isinstance(a, (list, tuple)):
        return type(a)(add_each(x, y) for x, y in zip(a, b, strict=True))
    return a + b
