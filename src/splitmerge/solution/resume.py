"""Going on from a solution: the same problem again, with what is known as the start."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from .solution import Absent, Problem, Solution
from .task import Warm


def resume(solution: Solution, k: int | None, tol: float | None, options: dict[str, Any]) -> Solution:
    """`solve` with the arguments of then, unless they are given anew, and the vectors of `solution` as a start."""
    # solve imports the solution, and the solution this
    from ..solve import solve

    if solution.problem is None:
        raise ValueError("this solution does not know the problem that it solves; call solve with x0=eigenvectors")
    asked = {field.name: getattr(solution.problem, field.name) for field in fields(Problem)}
    if k is not None:
        asked["k"] = k
    if tol is not None:
        # a rule of then would stop before, or go on beyond, the tolerance of now
        asked |= {"tol": tol, "stop": None}
    asked |= options
    for name, value in asked.items():
        if isinstance(value, Absent):
            also = f"splitmerge.load(path, {name}=…) or " if name in ("A", "B") else ""
            raise ValueError(f"{name} was {value.what}, which is not in the file: give {also}resume({name}=…)")
    if "x0" not in asked:
        looser = tol is None or (isinstance(tol, (int, float)) and tol >= solution.problem.tol)
        same = "which" not in options and "sigma" not in options
        asked["x0"] = _start(solution, asked["k"] if solution.converged and looser else None, same=same)
    return solve(**asked)


def _start(solution: Solution, k: Any, *, same: bool) -> Warm | None:
    """The vectors and the spare ones behind them, at most k in all if that is given; what went astray is no start."""
    parts = [solution.eigenvectors] if solution.spare is None else [solution.eigenvectors, solution.spare]
    X = np.hstack(parts)
    if isinstance(k, (int, np.integer)):
        # the others would cost their products for nothing
        X = X[:, : max(k, 1)]
    X = X[:, np.isfinite(X).all(axis=0) & X.any(axis=0)]
    return Warm(X, solution.shift if same else 0.0) if X.shape[1] else None
