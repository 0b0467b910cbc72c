"""Functions of labelled row blocks that run on the Dask workers; rows with a negative group index are skipped."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...typing import Array
from ..moments.moments import Comoments
from .tasks import dense


def _present(blocks: list[Any], weights: Array | None) -> tuple[Any, Array, Array]:
    """Return the rows, the group indices and the weights."""
    X, members = blocks
    X = X.tocsr() if hasattr(X, "tocsr") else X
    w = np.ones(members.size) if weights is None else weights
    kept = np.flatnonzero(members >= 0)
    return (X[kept], members[kept], w[kept]) if kept.size < members.size else (X, members, w)


def column_sums(blocks: list[Any], weights: Array | None, groups: int) -> list[Comoments]:
    """Return the moments of the columns in each group."""
    X, members, w = _present(blocks, weights)
    with np.errstate(invalid="ignore", over="ignore"):
        return [Comoments.of_rows(dense(X[members == k]), w[members == k]) for k in range(groups)]


def add_columns(a: list[Comoments], b: list[Comoments]) -> list[Comoments]:
    """Merge the moments of two blocks."""
    with np.errstate(invalid="ignore", over="ignore"):
        return [one + other for one, other in zip(a, b, strict=True)]


def fourth_powers(blocks: list[Any], weights: Array | None, groups: int, centres: Array, inverse: Array) -> Array:
    """Return Σ w‖·‖⁴ of centred and scaled rows for each group and for all rows; `inverse` are squared reciprocals."""
    X, members, w = _present(blocks, weights)
    found = np.zeros(groups + 1)
    for k in range(groups + 1):
        chosen = slice(None) if k == groups else members == k
        found[k] = w[chosen] @ ((dense(X[chosen]) - centres[k]) ** 2 @ inverse[k]) ** 2
    return found


def scatter_slab(blocks: list[Any], weights: Array | None, groups: int, means: Array, columns: slice) -> Array:
    """Return some columns of the scatter matrix of each group."""
    X, members, w = _present(blocks, weights)
    found = np.zeros((groups, means.shape[1], columns.stop - columns.start))
    for k in np.unique(members):
        Z = dense(X[members == k]) - means[k]
        found[k] = Z.T @ (w[members == k][:, None] * Z[:, columns])
    return found


def gram_product(
    blocks: list[Any], weights: Array | None, groups: int, V: Array, offsets: Array, factors: Array
) -> tuple[Array, Array]:
    """Return XᵀWS and the sums of WS over each group, for scores S = XV minus the offset of the group.

    W are the weights times the factor of the group.
    """
    X, members, w = _present(blocks, weights)
    S = (w * factors[members])[:, None] * (_times(X, V) - offsets[members])
    sums = np.zeros(offsets.shape)
    np.add.at(sums, members, S)
    return _times(X.T, S), sums


def product(blocks: list[Any], weights: Array | None, groups: int, V: Array) -> Array:
    """Return XV."""
    return _times(_present(blocks, weights)[0], V)


def transposed_product(blocks: list[Any], weights: Array | None) -> Array:
    """Return XᵀU; rows that are skipped are zero in U."""
    X, U = blocks
    return _times((X.tocsr() if hasattr(X, "tocsr") else X).T, U)


def centred_rows(X: Any, members: Array, roots: Array, means: Array, scale: Array) -> Array:
    """Return the rows of ZS for S = diag(`scale`)."""
    return np.asarray(roots * (dense(X) - means[members[:, 0]]) * scale)


def stack(a: Array, b: Array) -> Array:
    """Put the rows of the second block below those of the first."""
    return np.concatenate([a, b])


def _times(X: Any, V: Array) -> Array:
    return np.asarray(X @ V if hasattr(X, "tocsr") else np.asarray(X, np.float64) @ V)
