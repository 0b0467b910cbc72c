"""A solution as a table of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..solution import Solution


def to_frame(solution: Solution) -> Any:
    """A row for each pair."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_frame needs pandas, which is not installed; pip install pandas") from None
    columns = {
        "value": solution.eigenvalues,
        "residual": solution.residuals,
        "error_bound": solution.error_bounds,
        "angle_bound": solution.angle_bounds,
        "cluster": solution.clusters,
    }
    return pandas.DataFrame(columns, index=pandas.RangeIndex(solution.eigenvalues.size, name="pair"))
