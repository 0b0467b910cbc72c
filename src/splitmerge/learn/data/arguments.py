"""Checks of what estimators are given besides X and y."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...typing import Array
from .inputs import weights_of as given_weights


def weights_of(sample_weight: Any, rows: int) -> Array:
    """A finite weight of at least zero for each row, not all of them zero; ones if there are none.

    >>> weights_of(None, 2)
    array([1., 1.])
    """
    given = None if sample_weight is None else np.asarray(sample_weight, np.float64)
    if given is not None and given.ndim == 0:
        given = np.full(rows, float(given))
    weights = given_weights(given, rows)
    return np.ones(rows) if weights is None else weights


def keep_positive(X: Any, y: Array, weights: Array) -> tuple[Any, Array, Array]:
    """The rows whose weight is not zero: the others count as absent."""
    if weights.all():
        return X, y, weights
    kept = np.flatnonzero(weights)
    return X[kept], y[kept], weights[kept]
