"""Writing a solution: one npz without pickles, a JSON header inside it, in one go."""

from __future__ import annotations

import json
from dataclasses import asdict
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...problem.problem import Problem
from ...typing import Array
from ..solution import Absent, Solution
from .options import encoded
from .parts import ARRAYS, FORMAT, OPTIONS, VERSION, WORDS
from .replacement import replaced

SCALARS = ("converged", "steps", "shift", "story")


def save(solution: Solution, path: str | PathLike[str]) -> None:
    """What `Solution.save` does."""
    arrays: dict[str, Array] = {name: getattr(solution, name) for name in ARRAYS}
    if solution.spare is not None:
        arrays["spare"] = solution.spare
    arrays |= {f"history.{name}": column for name, column in solution.history.to_dict().items()}
    header = {"format": FORMAT, "version": VERSION} | {name: getattr(solution, name) for name in SCALARS}
    header |= {
        "reason": solution.reason.name,
        "verdict": [str(solution.verdict), solution.verdict.why],
        "counts": asdict(solution.counts),
        "seconds": asdict(solution.seconds),
        "method": encoded(solution.method),
        "b_report": None if solution.b_report is None else asdict(solution.b_report),
        "problem": None if solution.problem is None else _taken_down(solution.problem, arrays),
    }
    text = json.dumps(header, default=plain_number).encode()
    with replaced(path) as file:
        np.savez(file, allow_pickle=False, header=np.frombuffer(text, np.uint8), **arrays)


def _taken_down(problem: Problem, arrays: dict[str, Array]) -> dict[str, Any]:
    """The problem for the header; the entries of A and B go to `arrays`."""
    return options_of(problem) | {name: _entries(getattr(problem, name), name, arrays) for name in ("A", "B")}


def options_of(problem: Problem) -> dict[str, Any]:
    """What was asked for, without A and B."""
    said = {name: getattr(problem, name) for name in WORDS}
    return said | {name: encoded(getattr(problem, name)) for name in OPTIONS}


def _entries(M: Any, name: str, arrays: dict[str, Array]) -> Any:
    if M is None or isinstance(M, Absent):
        return None if M is None else {"absent": M.what}
    if sp.issparse(M):
        rows = sp.csr_array(M)  # type: ignore[call-overload]
        arrays |= {f"{name}.{part}": getattr(rows, part) for part in ("data", "indices", "indptr")}
        return {"sparse": rows.shape}
    if isinstance(M, (np.ndarray, list, tuple)) or hasattr(M, "__array__"):
        arrays[name] = np.asarray(M)
        return "dense"
    return {"absent": f"a {type(M).__name__} of shape {tuple(M.shape)} without entries"}


def plain_number(value: Any) -> Any:
    """For json: NumPy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written to a file")
