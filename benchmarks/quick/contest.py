"""What is compared: a pair, the eigenvalues wanted from it, and the solvers; and how every result is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray
Pairs = tuple[Array, Array]

TOLERANCE = 1e-8
# Factor by which a residual may exceed the tolerance.
SLACK_FACTOR = 1.01
# A residual below this number of rounding errors of A and λB counts as reached, whatever its size relative to λ.
ROUNDING_ERRORS = 10
# Relative distance up to which eigenvalues are equal: ten times the tolerance. The ten largest of bcsst06 lie within
# 3e-7 of each other, and a result that is this far off has missed some.
VALUE_TOLERANCE = 1e-7


@dataclass(frozen=True)
class Wanted:
    """The k "largest" or "smallest" eigenvalues, or those nearest to a number."""

    k: int
    where: str | float

    def cost(self, values: Array) -> Array:
        """A number for each value, the smaller the more wanted."""
        if self.where == "largest":
            return -values
        return values if self.where == "smallest" else np.abs(values - float(self.where))

    def options(self) -> dict[str, Any]:
        """The arguments of `sm.solve`."""
        return {"which": self.where} if isinstance(self.where, str) else {"sigma": self.where}


@dataclass
class Side:
    """A solver: `run(tol)` starts from the plain matrices and returns values and vectors, or a `Solution`.

    `once`: slow, run only once. The other fields are the outcome; `state` is good, wrong (an eigenvalue is missing),
    coarse (the residual is too large), slow (stopped at `seconds`), failed or absent.
    """

    name: str
    run: Callable[[float], Any]
    by_tol: bool = True
    once: bool = False
    tol: float = TOLERANCE
    seconds: float = np.inf
    residual: float = np.nan
    costs: Array | None = None
    state: str = "new"
    note: str = ""
    rounds: int = 0
    solution: Any = None


@dataclass
class Contest:
    """One row: (A, B) is the pair with its entries, by which all results are judged; without A nothing is.

    `plain` names the peer of the headline ratio. Only `counted` peers (default: all) can be the best one. `known` has
    reference values. An eigenvalue below `floor` in size is judged as if it were that large.
    """

    wanted: Wanted
    sides: list[Side]
    A: Any = None
    B: Any = None
    plain: str = "eigsh"
    counted: tuple[str, ...] = ()
    known: Array | None = None
    floor: float = 0.0
    sizes: tuple[float, float] = field(init=False)

    def __post_init__(self) -> None:
        self.sizes = size(self.A), size(self.B)

    @property
    def n(self) -> int | None:
        return None if self.A is None else int(self.A.shape[0])

    def judge(self, values: Array, X: Array) -> tuple[float, bool]:
        """max ‖Au − λBu‖ / (|λ|‖Bu‖), and whether it is sufficient; infinite unless there are k independent pairs."""
        if self.A is None:
            return np.nan, True
        if X.shape != (self.n, self.wanted.k) or not np.isfinite(X).all():
            return np.inf, False
        BX = X if self.B is None else self.B @ X
        gram = X.T @ BX
        length = np.sqrt(gram.diagonal())
        if not (length > 0).all() or np.linalg.eigvalsh(gram / np.outer(length, length))[0] < 0.5:
            return np.inf, False
        scale = np.maximum(np.abs(values), self.floor) * np.linalg.norm(BX, axis=0)
        residual = np.linalg.norm(self.A @ X - BX * values, axis=0)
        rounding = (self.sizes[0] + np.abs(values) * self.sizes[1]) * np.linalg.norm(X, axis=0) * np.finfo(float).eps
        allowed = np.maximum(SLACK_FACTOR * TOLERANCE * scale, ROUNDING_ERRORS * rounding)
        return float((residual / scale).max()), bool((residual <= allowed).all())

    def exceeds(self, costs: Array, least: Array) -> bool:
        """Is one of the sorted costs above the least known, so that an eigenvalue is missing?"""
        base = 0.0 if isinstance(self.wanted.where, str) else abs(self.wanted.where)
        return bool((costs - least > VALUE_TOLERANCE * np.maximum(np.abs(least) + base, self.floor)).any())

    def least(self) -> Array | None:
        """The least costs of all accurate results and of the reference: a solver can only miss eigenvalues."""
        every = [side.costs for side in self.sides if side.state in ("good", "wrong") and side.costs is not None]
        if self.known is not None:
            every.append(np.sort(self.wanted.cost(self.known))[: self.wanted.k])
        return np.min(every, axis=0) if every else None


def size(matrix: Any) -> float:
    """The largest absolute row sum; 1 for the identity."""
    if matrix is None:
        return 1.0
    rows: Any = abs(matrix).sum(axis=1)
    return float(np.max(rows))


@dataclass(frozen=True)
class Row:
    """A row before it is measured; `prepare` raises `Absent` if its data are not there."""

    section: str
    name: str
    target: str
    prepare: Callable[[], Contest]

    @property
    def label(self) -> str:
        return f"{self.section}/{self.name}/{self.target}"
