"""Sides of a sparse comparison, timed in turn and judged by the same code.

A side that misses the accuracy is run again with a tighter tolerance, and one that overshoots it with a looser one, so
that everyone is compared at about the same residual.
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

GOAL = 1e-8
# goals are met when they are met to rounding
SLACK = 1.01
# eigenvalues are the same up to this, far above what residuals of GOAL allow and far below the gaps here
SAME = 1e-6
ROUNDS, LONG = 3, 20.0
TIGHTENINGS = 4
MISSED_PAIR = "missed a pair"

Pairs = tuple[np.ndarray, np.ndarray]


class Absent(Exception):
    """The side cannot run here; the text says what is missing."""


@dataclass(frozen=True)
class Timed:
    """Pairs from another process, which took its time itself."""

    pairs: Pairs
    seconds: float


@dataclass(frozen=True)
class Task:
    """k pairs at one end of (A, B); values and vectors are judged with A and B as they are here."""

    A: Any
    B: Any
    k: int
    which: str

    @property
    def n(self) -> int:
        return self.A.shape[0]

    def ordered(self, pairs: Pairs) -> Pairs:
        """Best first."""
        order = np.argsort(pairs[0])[:: 1 if self.which == "smallest" else -1]
        return pairs[0][order], pairs[1][:, order]

    def residual(self, pairs: Pairs) -> float:
        """max ‖Au − λBu‖ / (|λ|‖Bu‖); infinite when there are not k independent pairs."""
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
        """Is one of the values beyond what is known, towards the middle of the spectrum?"""
        sign = 1 if self.which == "smallest" else -1
        return values is not None and bool((sign * (values - known) > SAME * np.abs(known)).any())

    def same(self, one: np.ndarray, other: np.ndarray) -> bool:
        return one.shape == other.shape and bool((np.abs(one - other) <= SAME * np.abs(other)).all())


@dataclass
class Side:
    """One way to the pairs: `run` is a function of a tolerance that starts from the bare matrices."""

    name: str
    variant: str
    run: Callable[[float], Any]
    by_tol: bool = True
    tol: float = GOAL
    seconds: float = np.inf
    error: float = np.inf
    values: np.ndarray | None = None
    state: str = "new"
    notes: list[str] = field(default_factory=list)
    explained: str = ""


def attempt(side: Side, task: Task, tol: float) -> tuple[float, float, Pairs | None]:
    """Seconds, largest residual and pairs of one run; the residual is infinite when the solver gives up."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = side.run(tol)
        except Absent:
            raise
        except Exception as failure:
            # whatever it is, the row shows it
            side.notes.append(f"{type(failure).__name__}: {str(failure).strip().split(chr(10))[0][:90]}")
            return time.perf_counter() - begin, np.inf, None
    seconds = time.perf_counter() - begin
    if isinstance(result, Timed):
        result, seconds = result.pairs, result.seconds
    if hasattr(result, "eigenvectors"):
        # the words of the run that counts
        side.explained = result.explain() if seconds < side.seconds else side.explained
        result = result.eigenvalues, result.eigenvectors
    pairs = task.ordered(result)
    return seconds, task.residual(pairs), pairs


def settle(side: Side, task: Task, known: np.ndarray | None) -> None:
    """Tighten a tolerance that misses, loosen one that overshoots; this warms the side up, too.

    A side misses by its residual, or by a pair that is worse than the `known` ones.
    """
    for _ in range(TIGHTENINGS + 1):
        try:
            side.seconds, side.error, pairs = attempt(side, task, side.tol)
        except Absent as missing:
            side.state = "absent"
            side.notes.append(str(missing))
            return
        side.values = None if pairs is None else pairs[0]
        complete = known is None or not task.worse(side.values, known)
        if side.error <= SLACK * GOAL and complete:
            side.state = "good"
            break
        if not np.isfinite(side.error):
            side.state = "failed"
            return
        side.state = "missed" if complete else MISSED_PAIR
        if not side.by_tol or side.tol < 1e-14:
            return
        side.notes.append(f"tol {side.tol:.1e} left {side.error:.1e}{'' if complete else ' and ' + MISSED_PAIR}")
        side.tol /= max(1.5 * side.error / GOAL, 1.5 if complete else 100)
    for _ in range(2):
        room = GOAL / max(side.error, 1e-16)
        if side.state != "good" or not side.by_tol or side.seconds > LONG or room < 10:
            return
        looser = side.tol * 10 ** np.floor(min(np.log10(room), 3))
        seconds, error, pairs = attempt(side, task, looser)
        if error > SLACK * GOAL or pairs is None or not task.same(pairs[0], side.values):
            return
        side.tol, side.seconds, side.error = looser, min(seconds, side.seconds), error


def race(sides: list[Side], task: Task, rounds: int = ROUNDS) -> None:
    """The best time of every side over interleaved rounds, and who has the right pairs; the first side is ours."""
    for side in sides:
        settle(side, task, truth(sides, task))
        print(f"    {side.name}, {side.variant}: {side.state} {side.seconds:.2f} s", flush=True)
    racing = [side for side in sides if side.state == "good"]
    for turn in range(rounds - 1 if racing else 0):
        # everyone follows everyone else at some time
        for side in racing[turn % len(racing) :] + racing[: turn % len(racing)]:
            if side.seconds > LONG:
                continue
            seconds, error, _ = attempt(side, task, side.tol)
            if error <= SLACK * GOAL:
                side.seconds = min(side.seconds, seconds)
            else:
                side.notes.append(f"one run left {error:.1e}")
    best = truth(sides, task)
    for side in racing:
        if best is not None and not task.same(side.values, best):
            side.state = MISSED_PAIR


def truth(sides: list[Side], task: Task) -> np.ndarray | None:
    """The best values that anyone has so far: a side can miss eigenvalues but not invent better ones."""
    every = np.array([side.values for side in sides if side.state == "good"])
    if not every.size:
        return None
    return every.min(axis=0) if task.which == "smallest" else every.max(axis=0)


def symmetric_lu(K: Any) -> tuple[Any, np.ndarray]:
    """SuperLU without pivoting in the best order at hand, and that order."""
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
    """Do as many eigenvalues lie before the last one as were found there? By Sylvester's law at τ just before it."""
    if values is None:
        return "inertia: nobody has arrived"
    sign = 1 if task.which == "smallest" else -1
    tau = values[-1] - sign * SAME * abs(values[-1])
    lu = symmetric_lu(task.A - tau * task.B)[0]
    assert (lu.perm_r == lu.perm_c).all(), "SuperLU has pivoted"
    count, found = int((sign * lu.U.diagonal() < 0).sum()), int((sign * values < sign * tau).sum())
    word = "as found" if count == found else f"BUT {found} WERE FOUND"
    return f"inertia: {count} eigenvalues {'below' if sign > 0 else 'above'} {tau:.8g}, {word}"


def report(sides: list[Side], title: str, inertias: str = "") -> list[dict[str, Any]]:
    """A line for every side; above 1 we are faster."""
    mine = sides[0]
    print(f"  {title}: seconds, and each side's time / ours")
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
    """The best of every family, and where we lose."""
    mine, others = sides[0], sides[1:]
    if mine.state != "good":
        return f"WE DID NOT ARRIVE: {mine.state}"
    best: dict[str, Side] = {}
    for side in others:
        if side.state == "good" and side.seconds < best.get(side.name, Side("", "", print)).seconds:
            best[side.name] = side
    if not best:
        return "nobody else arrived"
    parts = [f"{name} {side.seconds / mine.seconds:.2f}" for name, side in best.items()]
    fastest = min(best.values(), key=lambda side: side.seconds)
    word = "" if fastest.seconds >= mine.seconds else f"; WE LOSE to {fastest.name}, {fastest.variant}"
    return f"best of each / ours: {', '.join(parts)}{word}"
