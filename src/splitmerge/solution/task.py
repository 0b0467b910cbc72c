"""What is asked for, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..methods.protocol import Method
from ..objective.state import State
from ..planning.plan import Route
from ..preconditioners import Preconditioner
from ..problem.b_policy import Mended
from ..problem.pencil import Pencil
from ..problem.start import columns, random_vector
from ..run.history import History
from ..run.reason import Reason
from ..run.rules import Rule
from ..typing import Array
from ..verification.residuals import Pairs
from ..verification.verdict import Verdict
from .solution import Problem


@dataclass(frozen=True)
class Warm:
    """What `resume` starts from: the vectors of an earlier solution, best first, and its shift.

    Unlike a start of the user's, it may hold more than k vectors.
    """

    vectors: Array
    shift: float = 0.0


@dataclass(frozen=True)
class Task:
    """A request, checked."""

    pencil: Pencil
    k: int
    which: str
    sigma: float | None
    rule: Rule
    x0: Any
    rng: np.random.Generator
    mended: Mended
    certify: bool
    callback: Callable[[State], Any] | None
    progress: bool
    # a route that the caller has chosen already
    route: Route | None = None
    # what the caller knows of an inverse: of A for the smallest, otherwise of B
    hint: Preconditioner | None = None
    # what a solution has to remember, to be resumed
    problem: Problem | None = None


@dataclass
class Outcome:
    """The pairs of `pencil`, which may be another one than the task's, and how they were found."""

    pencil: Pencil
    pairs: Pairs
    reason: Reason
    verdict: Verdict
    story: list[str]
    ready: float
    method: Method | None = None
    steps: int = 0
    history: History = field(default_factory=History)


def story(task: Task, route: Route, method: Method) -> list[str]:
    """What `explain` tells of a search."""
    return [*route.lines, f"The iteration was {method!r}; it was to stop at {task.rule!r}."]


def starts(task: Task) -> Array:
    """The starts as columns, at most one for each pair."""
    if task.x0 is None:
        return random_vector(task.pencil, task.rng)[:, None]
    given, dual = task.x0, task.mended.dual
    warm = isinstance(given, Warm)
    if warm:
        given = given.vectors
    if dual is not None and np.shape(given)[:1] == dual.shape[:1]:
        # the user's coordinates, before the pair was restricted
        given = dual.conj().T @ np.asarray(given)
    X = columns(given, "x0", task.pencil)
    if X.shape[1] > task.k and not warm:
        shape = np.shape(given)
        raise ValueError(f"x0 has shape {shape}; give at most one column for each of the k = {task.k} pairs")
    return X
