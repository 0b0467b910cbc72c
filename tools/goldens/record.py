"""The result of a case as a flat dictionary of plain values, because the two processes share no splitmerge classes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import scipy.sparse as sp

TALLY = ("A_products", "B_products", "B_solves", "K_solves", "P_solves")
STATE = ("step", "eigenvalue", "residual", "f", "vector")
# Keys of the JSON output with sentences, times or machine data, which are not compared.
PROSE_KEYS = ("advice", "why", "explain", "how", "findings", "routes", "costs", "seconds", "provenance", "files")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Close:
    """Floating-point numbers, and the scale that errors are relative to."""

    data: np.ndarray
    scale: float


@dataclass(frozen=True)
class Prose:
    """Text whose wording is not compared."""

    text: str


def close(value: Any, scale: float | None = None) -> Any:
    """A floating-point array with its scale, by default its largest magnitude; other arrays unchanged."""
    data = np.asarray(value)
    if data.dtype.kind not in "fc":
        return data
    finite = np.abs(data[np.isfinite(data)])
    own = float(finite.max()) if finite.size else 0.0
    return Close(data, own if scale is None else max(scale, own))


def record(value: Any) -> dict[str, Any]:
    """The value flattened to a dictionary of leaves by path."""
    return dict(_leaves(value, ""))


def failure(error: BaseException) -> dict[str, Any]:
    """The record of an exception: its type and the eigenpairs it carries; its message is not compared."""
    parts: dict[str, Any] = {"raised": type(error).__name__, "message": Prose(str(error))}
    for name in ("solution", "eigenvalues", "eigenvectors"):
        if hasattr(error, name):
            parts[name] = getattr(error, name)
    return record(parts)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if hasattr(value, "eigenvalues") and hasattr(value, "verdict"):
        value = _solution(value)
    elif hasattr(value, "eigenvalue") and hasattr(value, "Bx"):
        value = {name: getattr(value, name) for name in STATE}
    elif hasattr(value, "get_params"):
        value = _estimator(value)
    elif sp.issparse(value):
        whole = sp.csr_array(value)
        value = {part: getattr(whole, part) for part in ("data", "indices", "indptr")}
    if isinstance(value, dict):
        for name, item in value.items():
            item = Prose(item) if name == "why" and isinstance(item, str) else item
            yield from _leaves(item, f"{path}.{name}" if path else str(name))
    elif isinstance(value, (list, tuple)):
        yield f"{path}.length", len(value)
        for i, item in enumerate(value):
            yield from _leaves(item, f"{path}[{i}]")
    elif isinstance(value, Enum):
        yield path, value.name
    elif isinstance(value, (np.ndarray, np.generic, float)):
        yield path, close(value)
    elif value is None or isinstance(value, (bool, int, Close, Prose)):
        yield path, value
    else:
        yield path, str(value)


def _solution(sol: Any) -> dict[str, Any]:
    """The fields of a solution that are compared, without times; sentences are marked as prose."""
    values = close(sol.eigenvalues)
    history = {name: column for name, column in sol.history.to_dict().items() if name != "seconds"}
    if "residual" in history:
        history["residual"] = close(history["residual"], 1.0)
    report = sol.b_report
    return {
        "eigenvalues": values,
        "eigenvectors": sol.eigenvectors,
        "residuals": close(sol.residuals, 1.0),
        "error_bounds": close(sol.error_bounds, values.scale),
        "angle_bounds": close(sol.angle_bounds, 1.0),
        "clusters": sol.clusters,
        "converged": bool(sol.converged),
        "reason": sol.reason.name,
        "reason converged": bool(sol.reason.converged),
        "steps": int(sol.steps),
        "counts": _tally(sol.counts) | {name: _tally(getattr(sol.counts, name)) for name in ("setup", "monitoring")},
        "history": history,
        "verdict": str(sol.verdict),
        "shift": close(sol.shift, values.scale),
        "method": type(sol.method).__name__,
        "b_report": report and {name: getattr(report, name) for name in ("policy", "ridge", "rank", "dropped")},
        "spare": sol.spare,
        "why": Prose(sol.verdict.why),
        "story": Prose("\n".join(sol.story)),
    }


def _tally(tally: Any) -> dict[str, int]:
    return {name: int(getattr(tally, name)) for name in TALLY}


def _estimator(estimator: Any) -> dict[str, Any]:
    """The fitted attributes, including computed properties."""
    names = [name for name in dir(estimator) if name.endswith("_") and not name.startswith("_")]
    found: dict[str, Any] = {}
    for name in names:
        try:
            value = getattr(estimator, name)
        except AttributeError:
            continue
        if not callable(value) or hasattr(value, "shape"):
            found[name] = Prose(str(value)) if name in ("route_", "b_report_", "report_") else value
    return found


def printed(text: str) -> Any:
    """The output of a command: its JSON without prose, or the numbers of its table."""
    try:
        return _without_prose(json.loads(text))
    except ValueError:
        rows = [line for line in text.splitlines() if re.match(r"\s*\d+\s", line) and " pairs after " not in line]
        return {"rows": [np.array([float(x) for x in NUMBER.findall(row)]) for row in rows], "text": Prose(text)}


def _without_prose(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _without_prose(item) for key, item in content.items() if key not in PROSE_KEYS}
    if isinstance(content, list):
        numbers = bool(content) and all(isinstance(item, (int, float)) for item in content)
        return np.array(content) if numbers else [_without_prose(item) for item in content]
    return content
