"""The paper's methods from start to end: survey, shift, k pairs by deflation, and their verification in (A, B)."""

from __future__ import annotations

import numpy as np

from ..methods.deflation import Deflation
from ..methods.protocol import Method
from ..objective.state import excusable
from ..preparation.attach import attach
from ..preparation.survey import Survey, survey
from ..problem.pencil import Pencil
from ..solution.task import Outcome, Task, starts
from ..solvers.protocol import InnerSolver
from ..system.progress import Show, progress_bar
from ..typing import Array
from ..verification.residuals import Pairs, verify
from ..verification.verdict import Verdict
from .history import History
from .loop import Driver
from .reason import Reason
from .rules import Rule, visible

MAX_SWEEPS = 4


def deflate(task: Task, method: Method) -> Outcome:
    """The pairs by `method`, one after the other."""
    with progress_bar(task.progress, task.k) as show:
        return _deflate(task, method, show)


def _deflate(task: Task, method: Method, show: Show | None) -> Outcome:
    pencil, rule, rng = task.pencil, task.rule, task.rng
    X = starts(task)
    with pencil.counting(pencil.counts.setup):
        inner = attach(pencil, method.inner)
        check = rule.begin(pencil)
        known = survey(pencil, rng)
        memory = method.setup(pencil, rng)
    ready = pencil.begin()
    driver = Driver(pencil, method, memory, check, History(), task.callback, show)
    reason, pairs = _pairs(Deflation(driver, known, rng), rule, task.k, X, doubt=task.x0 is not None)
    return Outcome(
        pencil,
        pairs,
        reason,
        verdict=_verdict(known, pairs.values.size, reason),
        story=_story(pencil, method, inner, rule, task.which),
        ready=ready,
        method=method,
        steps=driver.steps,
        history=driver.history,
    )


def _pairs(deflation: Deflation, rule: Rule, k: int, starts: Array, *, doubt: bool) -> tuple[Reason, Pairs]:
    """Sweep over the pairs; when their residuals in (A, B) miss the tolerance, again and more tightly.

    The deflated pair carries the errors of the vectors taken out, so a residual that is small there need not be in
    (A, B). The next sweep starts from the vectors of the last one and is short.
    """
    driver, pencil = deflation.driver, deflation.pencil
    starting = [np.ascontiguousarray(x) for x in starts.T]
    tightening = 1.0
    for _ in range(MAX_SWEEPS):
        reason = deflation.sweep(k, starting, doubt=doubt)
        if not deflation.vectors:
            raise KeyboardInterrupt
        try:
            pairs = verify(pencil, np.column_stack(deflation.vectors))
        except KeyboardInterrupt:
            # what was found is worth its residuals; a second Ctrl-C ends it
            return Reason.INTERRUPTED, verify(pencil, np.column_stack(deflation.vectors))
        tol = rule.residual_tol
        if tol is None or reason not in (Reason.RESIDUAL, Reason.PRECISION):
            return reason, pairs
        if (pairs.residuals <= tol).all():
            return Reason.RESIDUAL, pairs
        tol = max(tol, visible(pencil))
        if all(r <= max(tol, excusable(pencil, e)) for r, e in zip(pairs.residuals, pairs.rounding, strict=True)):
            return Reason.PRECISION, pairs
        tightening *= max(0.5 * tol / float(pairs.residuals.max()), 1e-3)
        driver.check = rule.tightened(tightening).begin(pencil)
        doubt = False
        starting = [np.ascontiguousarray(x) for x in pairs.vectors.astype(pencil.dtype).T]
    return Reason.UNCONFIRMED, pairs


def _verdict(known: Survey, count: int, reason: Reason) -> Verdict:
    if reason is Reason.MISSED:
        return Verdict("unchecked", "a Lanczos survey shows that a pair was passed over")
    checked = min(count, known.bounds.size)
    return Verdict(
        "unchecked",
        f"no proof was made that no pair was passed over; the first {checked} are not worse than the bounds of a "
        f"Lanczos survey of {known.bounds.size} steps",
    )


def _story(pencil: Pencil, method: Method, inner: InnerSolver | None, rule: Rule, which: str) -> list[str]:
    """The route in sentences, for `explain`."""
    lines = [f"The {which} pairs were sought with {method!r}."]
    if inner is None:
        lines.append("B is the identity, so no work was done for it.")
    else:
        lines.append(f"Systems with B were solved by {inner.describe(pencil)}.")
    if which == "smallest":
        lines.append("The smallest of (A, B) were found as the largest of (−A, B).")
    if pencil.shift:
        lines.append(
            f"{'−A' if which == 'smallest' else 'A'} is not positive semidefinite, as the objective needs it: "
            f"η = {abs(pencil.shift * pencil.unit):.6g} times B was added, and taken off the eigenvalues again."
        )
    lines.append(f"It was to stop at {rule!r}.")
    return lines
