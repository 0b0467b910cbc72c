"""Checks of the data, the sample weights and the views that a user gives."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...typing import Array
from .joint import Joint
from .rows import real_matrix
from .view import View

# Limits of the sum of the weights: products of weights and data overflow or underflow outside.
MIN_WEIGHT, MAX_WEIGHT = 1e-150, 1e150


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask array, without importing Dask: a Dask array implies that it has been imported."""
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(X, module.Array)


def joint_in_memory(
    views: Sequence[Any], weights: Any, *, center: bool = True, scale: bool, names: Sequence[str]
) -> Joint:
    """Check arrays with the same rows, in memory or memory-mapped, and join them; errors refer to them by `names`."""
    data = [real_matrix(X, name) for X, name in zip(views, names, strict=True)]
    check_same_rows([int(X.shape[0]) for X in data], names)
    w = check_weights(weights, int(data[0].shape[0]))
    with np.errstate(invalid="ignore", over="ignore"):
        joint = Joint([View(X, w, center=center, scale=scale) for X in data])
    for view, name in zip(joint.views, names, strict=True):
        check_finite(view.mean, view.spread, name)
    return joint


def check_same_rows(counts: Sequence[int], names: Sequence[str]) -> None:
    """Raise unless all views have the same number of rows."""
    if len(set(counts)) > 1:
        told = ", ".join(f"{name} {count}" for name, count in zip(names, counts, strict=True))
        raise ValueError(f"the views have different numbers of rows ({told}); give the same samples in each")


def check_finite(mean: Array, spread: Array, name: str) -> None:
    """Raise if the sums over the columns show NaN, infinity or squares that overflow."""
    if not (np.isfinite(mean).all() and np.isfinite(spread).all()):
        raise ValueError(
            f"{name} contains NaN, infinity or values whose squares overflow; remove, impute or rescale them"
        )


def check_weights(weights: Any, rows: int) -> Array | None:
    """Return finite, non-negative weights of the rows that are not all zero, or None for None."""
    if weights is None:
        return None
    w = _real_weights(weights)
    if w.shape != (rows,):
        raise ValueError(f"sample_weight has shape {w.shape} for {rows} rows; give one weight per row")
    if not np.isfinite(w).all():
        raise ValueError("sample_weight contains NaN or infinity; give weights of at least 0")
    if (w < 0).any():
        raise ValueError("Negative values in data passed to sample_weight; give weights of at least 0")
    if not w.any():
        raise ValueError("sample_weight is zero for all rows; at least two rows need a positive weight")
    with np.errstate(over="ignore"):
        total = float(w.sum())
    if not MIN_WEIGHT < total < MAX_WEIGHT:
        raise ValueError(f"sample_weight has the sum {total:g}: products with it overflow or underflow; rescale it")
    return w


def _real_weights(weights: Any) -> Array:
    given = np.asarray(weights)
    try:
        if given.dtype.kind not in "biufO":
            raise TypeError
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight has entries of the type {given.dtype}; give real numbers") from None


def check_present(y: Any) -> Any:
    """Return y; raise if it is a pandas object with missing values, of which not all are found by scikit-learn."""
    if type(y).__module__.partition(".")[0] == "pandas" and bool(np.asarray(y.isna()).any()):
        raise ValueError("Input y contains NaN; remove the rows in which y is missing")
    return y


def check_sortable(y: Array) -> None:
    """Raise for labels of different types, which have no order."""
    if y.dtype.kind != "O":
        return
    try:
        np.unique(y)
    except TypeError:
        types = ", ".join(sorted({type(label).__name__ for label in y}))
        raise ValueError(f"y has labels of the types {types}, which have no order; give labels of one type") from None


def weights_or_ones(sample_weight: Any, rows: int) -> Array:
    """Return checked weights, ones for None; a scalar weight applies to every row.

    >>> weights_or_ones(None, 2)
    array([1., 1.])
    """
    given = None if sample_weight is None else _real_weights(sample_weight)
    if given is not None and given.ndim == 0:
        given = np.full(rows, float(given))
    weights = check_weights(given, rows)
    return np.ones(rows) if weights is None else weights


def drop_zero_weights(X: Any, y: Array, weights: Array) -> tuple[Any, Array, Array]:
    """Drop the rows with zero weight."""
    if weights.all():
        return X, y, weights
    kept = np.flatnonzero(weights)
    return X[kept], y[kept], weights[kept]
