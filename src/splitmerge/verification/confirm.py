"""The only retry: residuals recomputed from A and B, and further runs to a tighter tolerance where they miss it."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..methods.setup import Setup
from ..run.iteration import Retry
from ..run.loop import Run
from ..run.reason import Reason
from ..typing import Array
from .residuals import Pairs, measured

# The tightened tolerance is at least this fraction of the one before.
MAX_TIGHTENING = 1e-3


def pairs_of(run: Run, setup: Setup) -> Pairs:
    """The Ritz pairs of the iteration as they are now, with recomputed residuals."""
    return measured(run.iteration.products, run.iteration.block(), setup.shift_invert)


def confirmed_from(run: Run, setup: Setup, X: Array) -> tuple[Reason, Pairs]:
    """`confirmed` after a run from the columns X."""
    return confirmed(run, setup, run.until_end(lambda: run.iteration.start(X)))


def confirmed(run: Run, setup: Setup, reason: Reason) -> tuple[Reason, Pairs]:
    """The pairs and why their run ended; a run that ended with success is held to its tolerance.

    The residuals that an iteration monitors rest on recurrences, which rounding separates from A and B.
    """
    tol, retry = run.rule.residual_tol, run.iteration.retry
    tightening, last = 1.0, np.inf
    for attempt in range(retry.attempts + 1):
        pairs = pairs_of(run, setup)
        held = reason.converged and (retry.angles or reason is not Reason.ANGLE)
        if tol is None or not held:
            return reason, pairs
        if (pairs.residuals <= tol).all():
            return Reason.RESIDUAL, pairs
        if _at_rounding(pairs, tol, retry):
            return Reason.PRECISION, pairs
        worst = float(pairs.residuals.max())
        if attempt == retry.attempts or not np.isfinite(worst):
            break
        goal = max(tol, pairs.scale.attainable) if retry.capped else tol
        tightening *= max(0.5 * goal / worst, MAX_TIGHTENING)
        run.tighten(tightening)
        again = partial(run.iteration.tightened, tol * tightening, pairs, stalled=worst > 0.5 * last)
        reason = run.until_end(again)
        last = worst
    floor = retry.last_allowance * np.maximum(pairs.scale.attainable, pairs.rounding)
    return Reason.PRECISION if (pairs.residuals <= floor).all() else Reason.UNCONFIRMED, pairs


def _at_rounding(pairs: Pairs, tol: float, retry: Retry) -> bool:
    """Are the residuals as small as rounding allows?"""
    levels = pairs.rounding
    if retry.capped:
        levels = np.array([pairs.scale.excusable(level) for level in levels.tolist()])
    allowed = np.maximum(tol, retry.allowance * np.maximum(pairs.scale.attainable, levels))
    return bool((pairs.residuals <= allowed).all())
