"""Interleaved timing of solvers on sparse pairs, with residuals evaluated by the same code.

A solver that misses the accuracy is run again with a tighter tolerance, and one that exceeds it with a looser one, so
that all are compared at about the same residual.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

try:
    import pymetis
except ImportError:
    pymetis = None

RESIDUAL_TOLERANCE = 1e-8
# Factor by which a residual may exceed its tolerance, to allow for rounding.
RESIDUAL_SLACK_FACTOR = 1.01
# Relative distance up to which eigenvalues are equal: far above the error at RESIDUAL_TOLERANCE, far below the gaps.
EIGENVALUE_TOLERANCE = 1e-6
# Interleaved rounds; runs longer than LONG_RUN_SECONDS are timed once.
TIMING_ROUNDS, LONG_RUN_SECONDS = 3, 20.0
# Repetitions with a tighter tolerance.
MAX_TIGHTENINGS = 4
MISSED_PAIR = "missed a pair"

Pairs = tuple[np.ndarray, np.ndarray]


class Absent(Exception):
    """A solver is not available; the message names the missing package."""


@dataclass(frozen=True)
class Timed:
    """Eigenpairs from another process, with the time measured there."""

    pairs: Pairs
    seconds: float


@dataclass(frozen=True)
class Task:
    """The problem: k eigenpairs at one end of the spectrum of (A, B); results are evaluated with these A and B."""

    A: Any
    B: Any
    k: int
    which: str

    @property
    def n(self) -> int:
        return self.A.shape[0]

    def ordered(self, pairs: Pairs) -> Pairs:
        """The pairs sorted best first."""
        order = np.argsort(pairs[0])[:: 1 if self.which == "smallest" else -1]
        return pairs[0][order], pairs[1][:, order]

    def residual(self, pairs: Pairs) -> float:
        """max ‖Au − λBu‖ / (|λ|‖Bu‖); infinite if there are not k linearly independent pairs."""
        values, X = pairs
        if X.shape != (self.n, self.k) or not np.isfinite(X).all():
            return np.inf
        BX = self.B @ X
        gram = X.T @ BX
        length = np.sqrt(gram.diagonal())
        if np.linalg.eigvalsh(gram / np.outer(length, length))[0] < 0.5:
            return np.inf
        R = self.A @ X - BX * values
        return float((np.linalg.norm(R, axis=0) / (np.abs(values) * np.linalg.norm(BX, axis=0))).max())

    def worse(self, values: np.ndarray | None, known: np.ndarray) -> bool:
        """Is one of the values farther inside the spectrum than the known ones, so that an eigenvalue is missing?"""
        sign = 1 if self.which == "smallest" else -1
        return values is not None and bool((sign * (values - known) > EIGENVALUE_TOLERANCE * np.abs(known)).any())

    def same(self, one: np.ndarray, other: np.ndarray) -> bool:
        return one.shape == other.shape and bool((np.abs(one - other) <= EIGENVALUE_TOLERANCE * np.abs(other)).all())


@dataclass
class Side:
    """A solver: `run` is a function of a tolerance that starts from the plain matrices."""

    name: str
    variant: str
    run: Callable[[float], Any]
    by_tol: bool = True
    tol: float = RESIDUAL_TOLERANCE
    seconds: float = np.inf
    error: float = np.inf
    values: np.ndarray | None = None
    state: str = "new"
    notes: list[str] = field(default_factory=list)
    explained: str = ""


def attempt(side: Side, task: Task, tol: float) -> tuple[float, float, Pairs | None]:
    """Seconds, largest residual and eigenpairs of one run; the residual is infinite if the solver fails."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = side.run(tol)
        except Absent:
            raise
        except Exception as failure:
            # report any failure in the notes of the row
            side.notes.append(f"{type(failure).__name__}: {str(failure).strip().split(chr(10))[0][:90]}")
            return time.perf_counter() - begin, np.inf, None
    seconds = time.perf_counter() - begin
    if isinstance(result, Timed):
        result, seconds = result.pairs, result.seconds
    if hasattr(result, "eigenvectors"):
        # keep the explanation of the fastest run
        side.explained = result.explain() if seconds < side.seconds else side.explained
        result = result.eigenvalues, result.eigenvectors
    pairs = task.ordered(result)
    return seconds, task.residual(pairs), pairs


def settle(side: Side, task: Task, known: np.ndarray | None) -> None:
    """Tighten a tolerance that is not sufficient, loosen one that is too strict; this is also the warm-up.

    A solver misses if its residual is too large, or if an eigenvalue of the `known` ones is missing.
    """
    for _ in range(MAX_TIGHTENINGS + 1):
        try:
            side.seconds, side.error, pairs = attempt(side, task, side.tol)
        except Absent as missing:
            side.state = "absent"
            side.notes.append(str(missing))
            return
        side.values = None if pairs is None else pairs[0]
        complete = known is None or not task.worse(side.values, known)
        if side.error <= RESIDUAL_SLACK_FACTOR * RESIDUAL_TOLERANCE and complete:
            side.state = "good"
            break
        if not np.isfinite(side.error):
            side.state = "failed"
            return
        side.state = "missed" if complete else MISSED_PAIR
        if not side.by_tol or side.tol < 1e-14:
            return
        side.notes.append(f"tol {side.tol:.1e} left {side.error:.1e}{'' if complete else ' and ' + MISSED_PAIR}")
        side.tol /= max(1.5 * side.error / RESIDUAL_TOLERANCE, 1.5 if complete else 100)
    for _ in range(2):
        room = RESIDUAL_TOLERANCE / max(side.error, 1e-16)
        if side.state != "good" or not side.by_tol or side.seconds > LONG_RUN_SECONDS or room < 10:
            return
        looser = side.tol * 10 ** np.floor(min(np.log10(room), 3))
        seconds, error, pairs = attempt(side, task, looser)
        if error > RESIDUAL_SLACK_FACTOR * RESIDUAL_TOLERANCE or pairs is None or not task.same(pairs[0], side.values):
            return
        side.tol, side.seconds, side.error = looser, min(seconds, side.seconds), error


def race(sides: list[Side], task: Task, rounds: int = TIMING_ROUNDS) -> None:
    """The best time of every solver over interleaved rounds, and a check of their eigenvalues; the first is ours."""
    for side in sides:
        settle(side, task, truth(sides, task))
        print(f"    {side.name}, {side.variant}: {side.state} {side.seconds:.2f} s", flush=True)
    racing = [side for side in sides if side.state == "good"]
    for turn in range(rounds - 1 if racing else 0):
        # rotate the order, so that each solver runs after different ones
        for side in racing[turn % len(racing) :] + racing[: turn % len(racing)]:
            if side.seconds > LONG_RUN_SECONDS:
                continue
            seconds, error, _ = attempt(side, task, side.tol)
            if error <= RESIDUAL_SLACK_FACTOR * RESIDUAL_TOLERANCE:
                side.seconds = min(side.seconds, seconds)
            else:
                side.notes.append(f"one run left {error:.1e}")
    best = truth(sides, task)
    for side in racing:
        if best is not None and not task.same(side.values, best):
            side.state = MISSED_PAIR


def truth(sides: list[Side], task: Task) -> np.ndarray | None:
    """The most extreme eigenvalues found so far: a solver can miss eigenvalues but not find spurious extreme ones."""
    every = np.array([side.values for side in sides if side.state == "good"])
    if not every.size:
        return None
    return every.min(axis=0) if task.which == "smallest" else every.max(axis=0)


def symmetric_lu(K: Any) -> tuple[Any, np.ndarray]:
    """SuperLU without pivoting, with the best available fill-reducing ordering, and that ordering."""
    n = K.shape[0]
    order = np.arange(n)
    if pymetis is not None:
        graph = sp.csr_array(K - sp.diags_array(K.diagonal()))
        graph.eliminate_zeros()
        order = np.array(pymetis.nested_dissection(adjacency=pymetis.CSRAdjacency(graph.indptr, graph.indices))[0])
    return (
        splu(
            sp.csc_array(K)[order][:, order],
            permc_spec="MMD_AT_PLUS_A" if pymetis is None else "NATURAL",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        ),
        order,
    )


def inertia(task: Task, values: np.ndarray | None) -> str:
    """Compare the inertia count at τ, just before the last eigenvalue, with the number of eigenvalues found."""
    if values is None:
        return "inertia: no solver reached the accuracy"
    sign = 1 if task.which == "smallest" else -1
    tau = values[-1] - sign * EIGENVALUE_TOLERANCE * abs(values[-1])
    lu = symmetric_lu(task.A - tau * task.B)[0]
    assert (lu.perm_r == lu.perm_c).all(), "SuperLU has pivoted"
    count, found = int((sign * lu.U.diagonal() < 0).sum()), int((sign * values < sign * tau).sum())
    word = "all found" if count == found else f"BUT {found} WERE FOUND"
    return f"inertia: {count} eigenvalues {'below' if sign > 0 else 'above'} {tau:.8g}, {word}"


def report(sides: list[Side], title: str, inertias: str = "") -> list[dict[str, Any]]:
    """Print one line per solver and return the rows; a ratio above 1 means that we are faster."""
    mine = sides[0]
    print(f"  {title}: seconds, and each solver's time / ours")
    rows = []
    for side in sides:
        ratio = side.seconds / mine.seconds if side.state == mine.state == "good" else None
        shown = f"{side.seconds:9.3f}" if np.isfinite(side.seconds) else " " * 9
        text = f"    {side.name:<16}{side.variant:<34}{side.state if side.state != 'good' else '':<14}{shown}"
        text += f"{'' if ratio is None else format(ratio, '.2f'):>9}"
        text += f"  residual {side.error:.1e}, tol {side.tol:.1e}" if np.isfinite(side.error) else ""
        print(text + (f"  ({'; '.join(side.notes)})" if side.notes else ""))
        rows.append(
            {
                "task": title,
                "side": side.name,
                "variant": side.variant,
                "state": side.state,
                "seconds": side.seconds if np.isfinite(side.seconds) else None,
                "ratio": ratio,
                "residual": side.error if np.isfinite(side.error) else None,
                "tol": side.tol,
                "notes": side.notes,
                "values": None if side.values is None else [float(value) for value in side.values],
            }
        )
    if inertias:
        print(f"    {inertias}")
    print(f"    {verdict(sides)}", flush=True)
    return rows


def verdict(sides: list[Side]) -> str:
    """The fastest variant of every solver, and whether one is faster than ours."""
    mine, others = sides[0], sides[1:]
    if mine.state != "good":
        return f"OUR RESULT MISSES THE ACCURACY: {mine.state}"
    best: dict[str, Side] = {}
    for side in others:
        if side.state == "good" and side.seconds < best.get(side.name, Side("", "", print)).seconds:
            best[side.name] = side
    if not best:
        return "no other solver reached the accuracy"
    parts = [f"{name} {side.seconds / mine.seconds:.2f}" for name, side in best.items()]
    fastest = min(best.values(), key=lambda side: side.seconds)
    word = "" if fastest.seconds >= mine.seconds else f"; WE LOSE to {fastest.name}, {fastest.variant}"
    return f"best of each / ours: {', '.join(parts)}{word}"
