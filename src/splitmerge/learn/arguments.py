"""Checks of what estimators are given besides X and y."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import Array


def weights_of(sample_weight: Any, rows: int) -> Array:
    """A finite weight of at least zero for each row, not all of them zero; ones if there are none.

    >>> weights_of(None, 2)
    array([1., 1.])
    """
    if sample_weight is None:
        return np.ones(rows)
    weights = np.asarray(sample_weight, np.float64)
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.shape != (rows,):
        raise ValueError(f"sample_weight has shape {weights.shape} and X has {rows} rows; give a number for each row")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight has NaN, infinite or negative numbers; give numbers of at least zero")
    if not weights.any():
        raise ValueError("sample_weight is zero for all rows, so there is nothing to fit to")
    return weights


def keep_positive(X: Any, y: Array, weights: Array) -> tuple[Any, Array, Array]:
    """The rows whose weight is not zero: the others count as absent."""
    if weights.all():
        return X, y, weights
    kept = np.flatnonzero(weights)
    return X[kept], y[kept], weights[kept]
