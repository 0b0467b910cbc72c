"""Tables that scikit-learn has checked, in a form that views can be made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import validate_data

from ..dask.blocks import Blocks
from .inputs import is_dask

# What is stored in another precision, or in columns, is copied.
ACCEPTED = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}


def features(estimator: Any, X: Any, *, reset: bool, at_least: int = 1) -> Any:
    """X as checked by scikit-learn; the number and the names of its columns are kept, or compared."""
    if not is_dask(X):
        return validate_data(estimator, X, reset=reset, ensure_min_samples=at_least, **ACCEPTED)
    if X.ndim != 2:
        raise ValueError(f"X is a Dask array of shape {X.shape}; give samples in rows, features in columns")
    if reset:
        estimator.n_features_in_ = X.shape[1]
        # names of an earlier fit are not those of this one
        vars(estimator).pop("feature_names_in_", None)
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
            f"features as input"
        )
    return X


def labelled(estimator: Any, X: Any, y: Any, *, reset: bool, at_least: int = 1) -> tuple[Any, Any]:
    """X and a y for each row, as checked by scikit-learn; the y of a Dask array X comes here, the rows do not."""
    if not is_dask(X):
        return tuple(validate_data(estimator, X, y, reset=reset, ensure_min_samples=at_least, **ACCEPTED))
    rows = Blocks(X)
    features(estimator, X, reset=reset)
    y = validate_data(estimator, y=np.asarray(y) if is_dask(y) else y, reset=False)
    check_consistent_length(X, y)
    return rows, y


def table(Y: Any, name: str, columns: int | None = None, *, vector: bool = False) -> Any:
    """Another view, with as many columns as were fitted; `vector` lets a single column come as a vector."""
    if not is_dask(Y):
        Y = check_array(Y, input_name=name, ensure_2d=not vector, **ACCEPTED)
    if Y.ndim == 1 and vector:
        Y = Y.reshape(-1, 1)
    if Y.ndim != 2:
        raise ValueError(f"{name} has shape {Y.shape}; give samples in rows, features in columns")
    if columns is not None and Y.shape[1] != columns:
        raise ValueError(f"{name} has {Y.shape[1]} columns, but the fitted one had {columns}")
    return Y


def scored(X: Any, mean: Any, spread: Any, rotations: Any) -> Any:
    """(X − mean) / spread times the rotations, with X left as it is; lazy for a Dask array."""
    W = rotations / spread[:, None]
    return X @ W - mean @ W
