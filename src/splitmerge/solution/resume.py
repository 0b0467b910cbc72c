"""Resume from a solution: the same problem again, with its vectors as the start."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem.problem import Problem
from ..problem.start import Warm
from ..typing import Array
from .solution import Absent, Solution

# The arguments of `solve` that a solution remembers.
REMEMBERED = (
    *("A", "B", "k", "which", "sigma", "method", "tol", "stop", "max_steps"),
    *("b_policy", "certify", "preconditioner", "interval"),
)

# Each of these says which pairs are wanted, so that a new one takes the place of all of them.
WANTED: dict[str, Any] = {"which": "largest", "sigma": None, "interval": None}


def resume(solution: Solution, k: int | None, tol: float | None, options: dict[str, Any]) -> Solution:
    """`solve` with the remembered arguments unless they are given again, and the vectors of `solution` as the start."""
    if solution.problem is None:
        raise ValueError("this solution does not know the problem that it solves; call solve with x0=eigenvectors")
    asked = asked_again(solution.problem, k, tol, options)
    if asked["interval"] is not None:
        # all of them are computed again, however many they are
        asked["k"] = 1 if k is None else k
    elif "x0" not in asked:
        looser = tol is None or (isinstance(tol, (int, float)) and tol >= solution.problem.tol)
        same = "which" not in options and "sigma" not in options
        asked["x0"] = _start(solution, asked["k"] if solution.converged and looser else None, same=same)
    return solved_again(asked)


def asked_again(problem: Problem, k: int | None, tol: float | None, options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `solve`: those of the problem, unless they are given again."""
    asked = {name: getattr(problem, name) for name in REMEMBERED}
    if k is not None:
        asked["k"] = k
    if tol is not None:
        # the remembered rule would stop before, or go on beyond, the new tolerance
        asked |= {"tol": tol, "stop": None}
    if any(options.get(name) is not None for name in WANTED):
        asked |= WANTED
    asked |= options
    _check_present(asked)
    return asked


def solved_again(asked: dict[str, Any]) -> Solution:
    """`solve` with these arguments."""
    # an upward import: solve imports the solution, and the solution this
    from ..solve import solve

    return solve(**asked)


def _check_present(asked: dict[str, Any]) -> None:
    """Refuse to resume without what a file could not hold."""
    for name, value in asked.items():
        if isinstance(value, Absent):
            also = f"splitmerge.load(path, {name}=…) or " if name in ("A", "B") else ""
            raise ValueError(f"{name} was {value.what}, which is not in the file: give {also}resume({name}=…)")


def _start(solution: Solution, k: Any, *, same: bool) -> Warm | None:
    """The vectors and the spare ones behind them, at most k in all if that is given, without those that diverged."""
    parts = [solution.eigenvectors] if solution.spare is None else [solution.eigenvectors, solution.spare]
    X = np.hstack(parts)
    if isinstance(k, (int, np.integer)):
        # further ones would only cost their products
        X = X[:, : max(k, 1)]
    # whether a column is usable, one process alone cannot tell
    X = X if solution.distributed else usable(X)
    return Warm(X, solution.shift if same else 0.0) if X.shape[1] else None


def usable(X: Array) -> Array:
    """The columns that can be a start: finite, and not zero."""
    return np.asarray(X[:, np.isfinite(X).all(axis=0) & X.any(axis=0)])
