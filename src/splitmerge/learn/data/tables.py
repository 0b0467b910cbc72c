"""Tables of samples and features, checked by scikit-learn; Dask arrays are checked without being computed."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .inputs import is_dask

# Other dtypes and sparse formats are converted, which copies the data.
ACCEPTED = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}


def check_features(estimator: Any, X: Any, *, reset: bool, min_rows: int = 1) -> Any:
    """Check X with scikit-learn; with `reset` its feature count and names are stored, otherwise they are compared."""
    if not is_dask(X):
        return validate_data(estimator, X, reset=reset, ensure_min_samples=min_rows, **ACCEPTED)
    if X.ndim != 2:
        raise ValueError(f"X is a Dask array of shape {X.shape}; give samples in rows, features in columns")
    if reset:
        estimator.n_features_in_ = X.shape[1]
        # a Dask array has no feature names
        vars(estimator).pop("feature_names_in_", None)
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
            f"features as input"
        )
    return X


def check_table(Y: Any, name: str, columns: int | None = None, *, vector: bool = False) -> Any:
    """Check another view, with as many columns as the fitted one; `vector` accepts a single column as 1-D."""
    if not is_dask(Y):
        Y = check_array(Y, input_name=name, ensure_2d=not vector, **ACCEPTED)
    if Y.ndim == 1 and vector:
        Y = Y.reshape(-1, 1)
    if Y.ndim != 2:
        raise ValueError(f"{name} has shape {Y.shape}; give samples in rows, features in columns")
    if columns is not None and Y.shape[1] != columns:
        raise ValueError(f"{name} has {Y.shape[1]} features, expected {columns}; give the same columns as in fit")
    return Y


def is_list_of_tables(X: Any) -> bool:
    """Return whether X is a list of tables, or of None for unknown ones, in contrast to one table as a list of rows."""
    return isinstance(X, (list, tuple)) and bool(X) and all(v is None or getattr(v, "ndim", 0) == 2 for v in X)


def check_complete(views: Any) -> Any:
    """Return the views; raise if one of them is None."""
    for i, view in enumerate(views):
        if view is None:
            raise ValueError(f"View {i} is None; give all views (only predict reconstructs views that are not known)")
    return views


def project(X: Any, mean: Any, spread: Any, rotations: Any) -> Any:
    """Return (X − mean) / spread times the rotations without copying X; lazy for a Dask array."""
    W = rotations / spread[:, None]
    return X @ W - mean @ W
