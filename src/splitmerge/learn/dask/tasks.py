"""What runs on the workers: plain functions of blocks of rows, which travel by name."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...typing import Array
from ..moments.comoments import Comoments
from ..moments.moments import Moments

# The mean and the deviations of the columns of a view.
Scale = tuple[Array, Array]


def dense(block: Any) -> Array:
    """In double precision."""
    given: Any = block.toarray() if hasattr(block, "toarray") else block
    return np.asarray(given, np.float64)


def moments_share(blocks: list[Any], weights: Array | None) -> Comoments:
    """Means and squares of the columns."""
    with np.errstate(invalid="ignore", over="ignore"):
        return Comoments.of_rows(dense(blocks[0]), weights)


def _centred(blocks: list[Any], weights: Array | None, scales: Sequence[Scale]) -> list[Array]:
    found = [(dense(X) - mean) / spread for X, (mean, spread) in zip(blocks, scales, strict=True)]
    return found if weights is None else [np.sqrt(weights)[:, None] * Z for Z in found]


def gram_share(blocks: list[Any], weights: Array | None, scales: Sequence[Scale], W: Any) -> Array:
    """The joint covariance, of the views or of the views times W."""
    pieces = _centred(blocks, weights, scales)
    Z = np.hstack(pieces if W is None else [P @ M for P, M in zip(pieces, W, strict=True)])
    return np.asarray(Z.T @ Z)


def cross_share(blocks: list[Any], weights: Array | None, scales: Sequence[Scale]) -> Array:
    """The covariance of two views."""
    Z, Y = _centred(blocks, weights, scales)
    return np.asarray(Z.T @ Y)


def product_share(
    blocks: list[Any], weights: Array | None, V: list[Array], offsets: list[Array], own: bool
) -> tuple[list[Array], list[Array]]:
    """Each view's XᵀWS and the sums of WS: S its own scores, or those of all others."""
    data: list[Any] = [block if sp.issparse(block) else np.asarray(block, np.float64) for block in blocks]
    scores = [np.asarray(X @ U) - offset for X, U, offset in zip(data, V, offsets, strict=True)]
    if not own:
        together = np.add.reduce(scores)
        scores = [together - S for S in scores]
    if weights is not None:
        scores = [weights[:, None] * S for S in scores]
    return [np.asarray(X.T @ S) for X, S in zip(data, scores, strict=True)], [S.sum(axis=0) for S in scores]


def dual_share(blocks: list[Any], weights: Array | None) -> tuple[Array, Array]:
    """XᵀWU and the sums of WU."""
    X, U = blocks
    U = U if weights is None else weights[:, None] * U
    return np.asarray(X.T @ U), U.sum(axis=0)


def groups_share(blocks: list[Any], weights: Array | None, groups: int, separate: bool) -> Moments:
    """Weights, means and scatter of the groups of rows; those of a negative number are left out."""
    X, members = blocks
    X = X.tocsr() if hasattr(X, "tocsr") else X
    X = X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)
    sums = Moments(groups, X.shape[1], separate=separate)
    kept = np.flatnonzero(members >= 0)
    if kept.size < members.size:
        X, members, weights = X[kept], members[kept], None if weights is None else weights[kept]
    with np.errstate(invalid="ignore", over="ignore"):
        return sums.add(X, members, weights) if kept.size else sums


def merged(a: Moments, b: Moments) -> Moments:
    """Both, which stay as they are: when a worker dies, another task may ask for them again."""
    with np.errstate(invalid="ignore", over="ignore"):
        return copy.deepcopy(a).merge(b)


def add(a: Any, b: Any) -> Any:
    """Two shares."""
    return a + b


def add_each(a: Any, b: Any) -> Any:
    """Two shares that are lists or tuples, number by number."""
    if isinstance(a, (list, tuple)):
        return type(a)(add_each(x, y) for x, y in zip(a, b, strict=True))
    return a + b
