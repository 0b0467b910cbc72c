"""Views of arrays in memory or of Dask arrays, whichever is given. Dask itself is imported on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..data.inputs import is_dask, joint_in_memory
from ..data.joint import Joint
from ..data.view import View


def joint_of(
    views: Sequence[Any],
    weights: Any = None,
    *,
    center: bool = True,
    scale: bool = False,
    names: Sequence[str] | None = None,
) -> Joint:
    """Check two or more views of the same rows and join them; errors refer to them by `names`."""
    names = [f"views[{i}]" for i in range(len(views))] if names is None else names
    if len(views) < 2:
        raise ValueError(f"{len(views)} view was given; at least two are needed")
    if any(is_dask(X) for X in views):
        from .views import dask_joint

        return dask_joint(views, weights, center=center, scale=scale, names=names)
    return joint_in_memory(views, weights, center=center, scale=scale, names=names)


def view_of(X: Any, weights: Any = None, *, center: bool = True, scale: bool = False) -> View:
    """Return the view of one matrix, in memory or a Dask array."""
    if not is_dask(X):
        return View(X, weights, center=center, scale=scale)
    from .views import DaskView

    return DaskView(X, weights, center=center, scale=scale)
