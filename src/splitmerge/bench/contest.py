"""Comparison of methods on one pair: ours, the paper's, its competitors and external solvers, at equal residuals."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import NotConverged
from ..methods.first_order.gradient_descent import GradientDescent
from ..methods.first_order.mirror_descent import MirrorDescent
from ..methods.first_order.power import Power
from ..methods.first_order.split_merge import SplitMerge
from ..methods.krylov.accelerated import Accelerated
from ..methods.krylov.lanczos import Lanczos
from ..methods.protocol import Method
from ..problem.problem import Which
from ..run.reason import Reason
from ..run.rules import MaxSeconds, Residual
from ..solution.solution import Solution
from ..solve import solve
from ..typing import Array
from . import rivals
from .external import EXTERNALS, External, Failed, at_accuracy
from .measure import COUNTS
from .report import Cell, Column, Table
from .summary import milliseconds

OURS: dict[str, Method | None] = {"splitmerge (default)": None, "Accelerated": Accelerated()}
PAPER: dict[str, Method] = {
    "Split-Merge": SplitMerge(),
    "Power": Power(),
    "Mirror Descent": MirrorDescent(),
    "Gradient Descent": GradientDescent(),
    "Lanczos": Lanczos(),
}
# Error of an eigenvalue, relative to the largest reference eigenvalue, up to which it counts as correct.
EIGENVALUE_TOLERANCE = 1e-6
# Rows of the largest pair that is passed to dense solvers.
DENSE_SOLVER_MAX_ROWS = 5000
MARKS: dict[str, Any] = {"right": "good", "WRONG": "bad", "not converged": "partly", "absent": "missing"}


@dataclass(frozen=True)
class Challenge:
    """The common problem: the k largest or smallest eigenpairs to a relative residual `tol` within `max_seconds`."""

    A: Any
    B: Any
    k: int = 1
    which: Which = "largest"
    tol: float = 1e-8
    seed: int = 0
    max_seconds: float = 60.0


@dataclass(frozen=True)
class Entry:
    """The result of one method. `outcome` is "right", "WRONG", "not converged" or "absent"; `why` gives the reason.

    The time of an external solver includes its set-up; its products are counted in a second run.
    """

    name: str
    kind: str
    outcome: str
    why: str = ""
    seconds: float = math.nan
    setup: float = math.nan
    steps: int = 0
    A_products: int = 0
    B_products: int = 0
    B_solves: int = 0
    P_solves: int = 0
    K_solves: int = 0
    residual: float = math.nan
    error: float = math.nan

    def to_dict(self) -> dict[str, Any]:
        """The entry as a dictionary for JSON."""
        return asdict(self)


def names() -> list[str]:
    """The names of all methods."""
    return [name for name, _ in _contestants()]


def spelled(name: str) -> str:
    """The name of a class, split into words.

    >>> spelled("JacobiDavidson"), spelled("LazyEV")
    ('Jacobi Davidson', 'LazyEV')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", name)


def contest(task: Challenge, chosen: Sequence[str] | None = None) -> Iterator[Entry]:
    """Run the `chosen` methods, or all, and yield one entry after the other.

    The reference eigenvalues are computed first, by the default method and verified by inertia counts.
    """
    reference = solve(task.A, task.B, task.k, which=task.which, tol=min(task.tol, 1e-10), certify=True, rng=task.seed)
    for name, run in _contestants():
        if chosen is None or name in chosen:
            yield run(task, reference.eigenvalues)


def _contestants() -> Iterator[tuple[str, Callable[[Challenge, Array], Entry]]]:
    families: dict[str, dict[str, Method | None]] = {
        "ours": OURS,
        "paper": dict(PAPER),
        "rival": {spelled(name): getattr(rivals, name)() for name in rivals.__all__},
    }
    for kind, methods in families.items():
        for name, method in methods.items():
            yield name, partial(_by_method, name, kind, method)
    for external in EXTERNALS:
        yield external.name, partial(_by_external, external)


def _by_method(name: str, kind: str, method: Method | None, task: Challenge, values: Array) -> Entry:
    rule = Residual(task.tol) | MaxSeconds(task.max_seconds)
    try:
        found = solve(task.A, task.B, task.k, which=task.which, method=method, stop=rule, rng=task.seed)
    except NotConverged as failure:
        found = failure.solution
    except ValueError as error:
        # the method does not apply to this pair, and its message gives the reason
        return Entry(name, kind, "not converged", str(error))
    if found.reason is Reason.INTERRUPTED:
        raise KeyboardInterrupt
    residual, error_ = _judge(task, values, found.eigenvalues, found.eigenvectors)
    return Entry(
        name,
        kind,
        _outcome(found.converged, error_),
        _why(found),
        found.seconds.iteration,
        found.seconds.setup,
        found.steps,
        **{count: getattr(found.counts, count) for count in COUNTS},
        residual=residual,
        error=error_,
    )


def _why(found: Solution) -> str:
    return f"{found.verdict}: {found.verdict.why}" if found.converged else found.reason.advice


def _by_external(external: External, task: Challenge, values: Array) -> Entry:
    if external.absent:
        return Entry(external.name, "external", "absent", external.absent)
    n = task.A.shape[0]
    if external.name == "eigh" and n > DENSE_SOLVER_MAX_ROWS:
        return Entry(
            external.name, "external", "absent", f"skipped: needs dense matrices, and n = {n} > {DENSE_SOLVER_MAX_ROWS}"
        )
    if task.which not in external.ends:
        return Entry(external.name, "external", "absent", f"skipped: only for the {external.ends[0]} eigenvalues")
    which: Any = task.which
    try:
        reached = at_accuracy(external, task.A, task.B, task.k, which, lambda w, V: _residual(task, w, V) / task.tol)
        counted = external.counted(task.A, task.B, task.k, which, reached.tol).products
    except Failed as failure:
        return Entry(external.name, "external", "not converged", str(failure))
    answer = reached.answer
    residual, error = _judge(task, values, answer.values, answer.vectors)
    return Entry(
        external.name,
        "external",
        _outcome(True, error),
        f"{external.meaning}; tol = {reached.tol:g}",
        answer.seconds,
        A_products=counted.get("A_products", 0),
        B_products=counted.get("B_products", 0),
        B_solves=counted.get("B_solves", 0),
        K_solves=counted.get("A_solves", 0),
        residual=residual,
        error=error,
    )


def _residual(task: Challenge, values: Array, vectors: Array) -> float:
    """The largest relative residual ‖Au − λBu‖ / (max(|λ|, √eps Λ) ‖Bu‖), where Λ = max |λ|."""
    B = sp.eye_array(task.A.shape[0], format="csr") if task.B is None else task.B
    BU = B @ vectors
    top = np.abs(values).max(initial=0.0)
    sizes = np.maximum(np.abs(values), math.sqrt(np.finfo(float).eps) * top) * np.linalg.norm(BU, axis=0)
    errors = np.linalg.norm(task.A @ vectors - BU * values, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.max(np.where(errors == 0, 0.0, errors / sizes), initial=0.0))


def _judge(task: Challenge, reference: Array, values: Array, vectors: Array) -> tuple[float, float]:
    """The relative residual and the relative error of the eigenvalues, infinite if some are missing."""
    residual = _residual(task, values, vectors)
    if values.shape != reference.shape:
        return residual, math.inf
    top = np.abs(reference).max()
    return residual, float(np.abs(values - reference).max() / (top if top > 0 else 1.0))


def _outcome(converged: bool, error: float) -> str:
    if not converged:
        return "not converged"
    return "right" if error <= EIGENVALUE_TOLERANCE else "WRONG"


def table(entries: Sequence[Entry], caption: str, name: str = "") -> Table:
    """A table of the entries, for a report or a terminal."""
    heads = {
        "steps": "",
        "A": "products with A",
        "B": "products with B",
        "solves": "solves with B, or with the preconditioner",
        "shifted": "solves with A − μB or A − σB (shift-invert)",
        "residual": "largest relative residual, computed by the same code for all methods",
        "error": "largest error of the eigenvalues, relative to the largest eigenvalue",
        "ms": "milliseconds of the iteration; for external solvers, of the whole",
        "set-up, ms": "milliseconds for checks, factorisation and spectral survey",
    }
    columns = (
        *(Column(head, numeric=False) for head in ("method", "kind", "outcome")),
        *(Column(*head) for head in heads.items()),
    )
    return Table(caption, columns, tuple(_row(entry) for entry in entries), name)


def _row(entry: Entry) -> tuple[Cell, ...]:
    def number(value: float, form: str) -> Cell:
        return Cell(format(value, form), value) if math.isfinite(value) else Cell("–")

    counts = (entry.steps, entry.A_products, entry.B_products, entry.B_solves + entry.P_solves, entry.K_solves)
    known = entry.outcome != "absent"
    return (
        Cell(entry.name, entry.name, why=entry.why),
        Cell(entry.kind, entry.kind),
        Cell(entry.outcome, entry.outcome, MARKS[entry.outcome], why=entry.why),
        *(Cell(f"{count:,}", count) if known else Cell("–") for count in counts),
        number(entry.residual, ".1e"),
        number(entry.error, ".1e"),
        *(Cell(milliseconds(time), 1e3 * time if known else None) for time in (entry.seconds, entry.setup)),
    )
