"""Views from what the user has: arrays, scipy.sparse matrices, memory-mapped files, Dask arrays."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...typing import Array
from .joint import Joint
from .view import View


def is_dask(X: Any) -> bool:
    """Is it a Dask array? Who has one has imported Dask."""
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(X, module.Array)


def joint_of(
    views: Sequence[Any], weights: Any = None, *, scale: bool = False, names: Sequence[str] | None = None
) -> Joint:
    """Views of the same rows, checked; errors call them by their names."""
    names = [f"views[{i}]" for i in range(len(views))] if names is None else names
    if len(views) < 2:
        raise ValueError(f"{len(views)} view was given; at least two are needed")
    if any(is_dask(X) for X in views):
        from ..dask.views import dask_joint

        return dask_joint(views, weights, scale=scale, names=names)
    data = [_samples(X, name) for X, name in zip(views, names, strict=True)]
    same_rows([len_of(X) for X in data], names)
    w = weights_of(weights, len_of(data[0]))
    with np.errstate(invalid="ignore", over="ignore"):
        joint = Joint([View(X, w, scale=scale) for X in data])
    for view, name in zip(joint.views, names, strict=True):
        refuse_infinite(view.mean, view.spread, name)
    return joint


def view_of(X: Any, weights: Any = None, *, center: bool = True, scale: bool = False) -> View:
    """The view of one matrix, wherever its data are."""
    if not is_dask(X):
        return View(X, weights, center=center, scale=scale)
    from ..dask.views import DaskView

    return DaskView(X, weights, center=center, scale=scale)


def len_of(X: Any) -> int:
    """How many rows X has: sparse matrices have no len."""
    return int(X.shape[0])


def same_rows(counts: Sequence[int], names: Sequence[str]) -> None:
    """Do all views have the same number of rows?"""
    if len(set(counts)) > 1:
        told = ", ".join(f"{name} {count}" for name, count in zip(names, counts, strict=True))
        raise ValueError(f"the views have different numbers of rows ({told}); give the same samples in each")


def refuse_infinite(mean: Array, spread: Array, name: str) -> None:
    """NaN, infinity and numbers too large to be squared show in the sums."""
    if not (np.isfinite(mean).all() and np.isfinite(spread).all()):
        raise ValueError(f"{name} holds NaN, infinity or numbers too large to be squared; drop, fill or scale them")


def weights_of(weights: Any, rows: int) -> Array | None:
    """Weights of the rows: not negative, and not all zero."""
    if weights is None:
        return None
    w = np.asarray(weights, np.float64)
    if w.shape != (rows,):
        raise ValueError(f"sample_weight has shape {w.shape} for {rows} rows; give a number for each row")
    if not np.isfinite(w).all() or (w < 0).any():
        raise ValueError("sample_weight holds negative numbers, NaN or infinity; give weights of at least 0")
    if not w.any():
        raise ValueError("sample_weight is zero for all rows; at least two rows need a positive weight")
    return w


def _samples(X: Any, name: str) -> Any:
    data: Any = X if sp.issparse(X) or isinstance(X, np.ndarray) else np.asarray(X)
    if data.ndim != 2 or 0 in data.shape or data.dtype.kind not in "iufb":
        raise ValueError(f"{name} must be a real matrix with samples in rows; it has shape {data.shape}, {data.dtype}")
    if sp.issparse(data):
        data = X.tocsr()
    if data.dtype.kind == "b" or (data.dtype.kind in "iu" and sp.issparse(data)):
        data = data.astype(np.float64)
    return data
