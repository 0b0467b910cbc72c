"""A solution as a table of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...system.packages import missing

if TYPE_CHECKING:
    from ..solution import Solution


def to_frame(solution: Solution) -> Any:
    """A row for each pair."""
    try:
        import pandas
    except ImportError:
        raise ImportError(missing("to_frame", "pandas")) from None
    columns = {
        "value": solution.eigenvalues,
        "residual": solution.residuals,
        "error_bound": solution.error_bounds,
        "angle_bound": solution.angle_bounds,
        "cluster": solution.clusters,
    }
    return pandas.DataFrame(columns, index=pandas.RangeIndex(solution.eigenvalues.size, name="pair"))
