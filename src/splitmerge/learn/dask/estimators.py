"""Estimators of groups of rows that accept Dask arrays: labelled rows, moments, and methods applied per block."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import validate_data

from ...typing import Array
from ..data.inputs import check_present, check_sortable, is_dask
from ..data.tables import ACCEPTED, check_features
from ..moments.moments import Moments
from .blocks import Blocks


def check_labelled(
    estimator: Any, X: Any, y: Any, *, reset: bool, min_rows: int = 1, finite: bool = True
) -> tuple[Any, Any]:
    """Check X and y with scikit-learn; a Dask array X becomes `Blocks`, and its y is computed.

    Without `finite`, NaN and infinity in X are left to a check of sums over its rows, which saves a pass over X.
    """
    if not is_dask(X):
        options = {"ensure_min_samples": min_rows, "ensure_all_finite": finite, **ACCEPTED}
        X, y = validate_data(estimator, X, check_present(y), reset=reset, **options)
        check_sortable(y)
        return X, y
    rows = Blocks(X)
    check_features(estimator, X, reset=reset)
    y = validate_data(estimator, y=np.asarray(y) if is_dask(y) else check_present(y), reset=False)
    check_consistent_length(X, y)
    check_sortable(y)
    return rows, y


def add_rows(sums: Moments, X: Any, members: Array, weights: Array | None) -> Moments:
    """Add the rows of X, an array or `Blocks`, to the moments."""
    if isinstance(X, Blocks):
        return sums.merge(X.moments(members, weights, sums.weights.size, separate=sums.separate))
    return sums.add(X, members, weights)


def per_block(method: Callable[[Any, Any], Array]) -> Callable[[Any, Any], Any]:
    """Decorate a method of a fitted model such that a Dask array gives a lazy result, computed per row block."""

    @wraps(method)
    def either(self: Any, X: Any) -> Any:
        return _lazy(self, method.__name__, X) if is_dask(X) else method(self, X)

    return either


def _lazy(model: Any, name: str, X: Any) -> Any:
    from .graph import check_known

    return lazily(model, name, check_known(X, "X").rechunk({1: -1}), unused=("_moments", "covariance_"))


def lazily(model: Any, name: str, X: Any, unused: Sequence[str]) -> Any:
    """Return the result of a method for a Dask array, of which each block has whole rows.

    Large attributes that the method does not use, whose names are given, are not sent to the workers.
    """
    light = copy.copy(model)
    for large in unused:
        vars(light).pop(large, None)
    # one row of zeros shows the shape and dtype of the result, and raises if the model or the columns are wrong
    row = np.zeros((1, *X.shape[1:]), np.float32 if X.dtype == np.float32 else np.float64)
    example = np.asarray(getattr(light, name)(row))
    chunks = (X.chunks[0], *((size,) for size in example.shape[1:]))
    axes = list(range(example.ndim, X.ndim))
    options = {"meta": example[:0], "chunks": chunks, "drop_axis": axes}
    return X.map_blocks(_of_block, model=light, name_of=name, empty=example[:0], **options)


def _of_block(block: Any, model: Any, name_of: str, empty: Array) -> Array:
    return np.asarray(getattr(model, name_of)(block)) if block.shape[0] else empty
