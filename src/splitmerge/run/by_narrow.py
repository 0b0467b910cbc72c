"""One pair in two precisions: a search in single, polished in double. The result is judged as any other is."""

from __future__ import annotations

import numpy as np

from ..methods.krylov.accelerated import Accelerated
from ..methods.krylov.search import Search
from ..methods.mixed_precision import Corrector, Polish
from ..objective.state import State
from ..planning.plan import Route
from ..problem.pencil import Pencil
from ..solution.task import Outcome, Task, story
from ..system.progress import Show
from ..transforms.standard import domain_of
from ..typing import Array
from ..verification.residuals import Pairs, judge, verify
from ..verification.verdict import BY_CHANCE, UNFINISHED
from .history import History
from .loop import Driver
from .reason import Reason
from .rules import Check, Rule, visible

# The least residual and the least sine that polishing reaches in few enough steps to pay.
LEAST_RESIDUAL, LEAST_SINE = 1e-9, 1e-7
# The search is to leave this share of the residual; the rest is for the rounding of single precision.
SHARE = 0.5
# The dimension of the space: twice that of double precision, in as much memory.
ROOM = 72
# The angle of a Ritz vector, as its residual and the gap tell it, at which only that rounding can be in the way.
FLOOR = 0.6


def suits_single(task: Task) -> bool:
    """Could single precision do what is asked for?"""
    residual, angle = task.rule.residual_tol, task.rule.angle_tol
    if task.k > 1 or task.x0 is not None or task.certify or (residual is None and angle is None):
        return False
    return (residual is None or residual >= LEAST_RESIDUAL) and (angle is None or angle >= LEAST_SINE)


def pursue_in_single(
    task: Task, route: Route, method: Accelerated, X: Array, check: Check, ready: float, show: Show | None
) -> Outcome | None:
    """The pair; None if double precision has to find it."""
    narrow, pencil = route.narrow, route.pencil
    assert narrow is not None
    narrow.clock = ready
    search = Search(narrow, domain_of(narrow), 1, route.wanted, task.rng, method.max_basis or ROOM)
    search.blind = True
    rule = task.rule.tightened(SHARE)
    search.aim(rule.residual_tol, rule.angle_tol)
    driver = Driver(narrow, method, search, _floored(rule, search), History(), task.callback, show)
    try:
        state, reason = driver.iterate(X, 0)
        if reason.converged:
            x = state.x.astype(pencil.dtype)
            _compare_alike(pencil, narrow)
            driver.pencil, driver.method, driver.memory, driver.check = pencil, Polish(), Corrector(search), check
            search.basis.release()
            state, reason = driver.iterate(x, 0, step=state.step + 1)
        if reason is Reason.EXHAUSTED:
            return None
    except KeyboardInterrupt:
        if driver.last is None and not search.salvage():
            raise
        state, reason = driver.last or search.pair(0), Reason.INTERRUPTED
    _compare_alike(pencil, narrow)
    if reason.converged:
        pairs = judge(pencil, np.array([state.value - pencil.shift]), (state.x / state.b**0.5)[:, None])
    else:
        # the value may be one of single precision still
        pairs = verify(pencil, state.x[:, None])
    if not _stands(reason, pairs, pencil, task.rule.residual_tol):
        return None
    pairs.gaps = search.gaps(1)
    if search.basis.V.shape[1]:
        pairs.spare = search.spare(converged=False)
    return Outcome(
        pencil,
        pairs,
        reason,
        BY_CHANCE if reason.converged else UNFINISHED,
        story(task, route, method),
        ready,
        method,
        driver.steps,
        driver.history,
    )


def _stands(reason: Reason, pairs: Pairs, pencil: Pencil, tol: float | None) -> bool:
    """Does the residual, recomputed, bear the reason out? That rounding is reached is none for an angle."""
    if reason not in (Reason.RESIDUAL, Reason.PRECISION):
        return True
    if tol is None:
        return False
    least = tol if reason is Reason.RESIDUAL else max(tol, visible(pencil), float(pairs.rounding[0]))
    return bool(pairs.residuals[0] <= least)


def _compare_alike(pencil: Pencil, narrow: Pencil) -> None:
    """Let residuals in double precision be relative to what they were relative to in single."""
    pencil.transform(shift=narrow.shift, found=pencil.found, B_found=pencil.B_found, radius=narrow.radius)


def _floored(rule: Rule, search: Search) -> Check:
    """The rule; or that an angle, which the rounding of single precision may hold up, should have been reached."""
    check, angle = rule.begin(search.pencil), rule.angle_tol

    def floored(state: State) -> Reason | None:
        reason = check(state)
        if reason is None and angle is not None and search.values.size > 1:
            gap = abs(float(search.values[0] - search.values[1]))
            return Reason.PRECISION if float(search.errors[0]) <= FLOOR * angle * gap else None
        return reason

    return floored
