"""Formulas such as "y ~ x1 + x2" for the columns of a DataFrame, read by formulaic or by patsy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from ...system.packages import missing

INTERCEPT = "Intercept"


@dataclass(frozen=True)
class Design:
    """The right side of a formula, applied to further data; a table of its result is returned as it is."""

    columns: tuple[str, ...]
    spec: Any
    apply: Callable[[Any, Any], Any]

    def __call__(self, X: Any) -> Any:
        """Return the table of the right side."""
        if not hasattr(X, "columns") or tuple(X.columns) == self.columns:
            return X
        return self.apply(self.spec, X)[list(self.columns)]


def read_formula(formula: Any, data: Any) -> tuple[Any, Any, Design]:
    """Return the response, the table of the right side without a constant column, and the way to repeat it."""
    if not isinstance(formula, str) or formula.count("~") != 1:
        raise ValueError(f"formula is {formula!r}; give a text such as 'y ~ x1 + x2'")
    if not hasattr(data, "columns") or not hasattr(data, "iloc"):
        raise ValueError(f"data is of type {type(data).__name__}; give a pandas DataFrame")
    left, right = (side.strip() for side in formula.split("~"))
    if not left:
        raise ValueError(f"formula is {formula!r}, without a response; give a text such as 'y ~ x1 + x2'")
    data = data.reset_index(drop=True)
    package, module = _reader()
    response = None
    if left in data.columns and data[left].dtype.kind not in "iufb":
        # a column of labels, which a formula would expand to indicators
        data = data[data[left].notna()]
        response, formula = data[left], right
    table, spec = _READERS[package](module, formula, data)
    if response is None:
        lhs, table = table
        if lhs.shape[1] != 1:
            raise ValueError(f"the left side {left!r} has {lhs.shape[1]} columns; give one column as response")
        response = lhs.iloc[:, 0]
    else:
        response = response.loc[table.index]
    columns = [name for name in table.columns if name != INTERCEPT]
    if not columns:
        raise ValueError(f"formula is {formula!r}, without columns of X; give a text such as 'y ~ x1 + x2'")
    return response.to_numpy(), table[columns], Design(tuple(columns), spec, _APPLY[package])


def _reader() -> tuple[str, Any]:
    for name in ("formulaic", "patsy"):
        try:
            return name, import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
    raise ImportError(missing("from_formula", "formulaic") + ", or patsy")


def _with_formulaic(module: Any, formula: str, data: Any) -> tuple[Any, Any]:
    found = module.model_matrix(formula, data)
    if "~" not in formula:
        return found, found.model_spec
    return (found.lhs, found.rhs), found.rhs.model_spec


def _with_patsy(module: Any, formula: str, data: Any) -> tuple[Any, Any]:
    names = module.EvalEnvironment([{"np": np}])
    if "~" not in formula:
        found = module.dmatrix(formula, data, names, return_type="dataframe")
        return found, found.design_info
    left, right = module.dmatrices(formula, data, names, return_type="dataframe")
    return (left, right), right.design_info


def _again_with_formulaic(spec: Any, X: Any) -> Any:
    return spec.get_model_matrix(X, na_action="raise")


def _again_with_patsy(spec: Any, X: Any) -> Any:
    return import_module("patsy").build_design_matrices([spec], X, NA_action="raise", return_type="dataframe")[0]


_READERS = {"formulaic": _with_formulaic, "patsy": _with_patsy}
_APPLY = {"formulaic": _again_with_formulaic, "patsy": _again_with_patsy}
