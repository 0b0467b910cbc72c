"""The only retry: residuals recomputed from A and B, and further runs to a tighter tolerance where they miss it."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..linalg.reductions import column_norms
from ..methods.setup import Setup
from ..run.loop import Run
from ..run.reason import Reason
from ..system.processes import everywhere
from ..typing import Array
from .bounds import LEAST_DISTANCE
from .graded import sharpened
from .residuals import Pairs, measured, measured_columns, ritz_block

# The tightened tolerance is at least this fraction of the one before.
MAX_TIGHTENING = 1e-3
# No further run follows once the others made more products than the first and this many per unknown: an inner solver or
# rounding is the limit then.
RETRY_PRODUCTS = 10
# Nor after this many runs that did not halve an excess of their residuals as large as this.
MAX_STALLED, HOPELESS_EXCESS = 2, 1e6
# Steps of inverse iteration that may improve pairs from an inverse of A − σB, and the least that each must gain.
PURIFICATIONS, LEAST_GAIN = 6, 0.8
# Inverse iteration reaches residuals down to this fraction of what rounding of A and B excuses.
REACHABLE_FRACTION = 1e-4


def pairs_of(run: Run, setup: Setup) -> Pairs:
    """The Ritz pairs of the iteration as they are now, with recomputed residuals."""
    return measured(setup, run.iteration.block())


def confirmed_from(run: Run, setup: Setup, X: Array) -> tuple[Reason, Pairs]:
    """`confirmed` after a run from the columns X."""
    return confirmed(run, setup, run.until_end(lambda: run.iteration.start(X)))


def confirmed(run: Run, setup: Setup, reason: Reason) -> tuple[Reason, Pairs]:
    """The pairs and why their run ended; one that ended with residuals below its tolerance is held to that.

    The residuals that an iteration monitors rest on recurrences, which rounding separates from A and B, and may be
    relative to a shifted eigenvalue.
    """
    tol, retry = run.rule.residual_tol, run.iteration.retry
    tightening, last, stalls = 1.0, np.inf, 0
    enough = 2 * _work(run) + RETRY_PRODUCTS * setup.products.n
    for attempt in range(retry.attempts + 1):
        pairs = pairs_of(run, setup)
        if tol is None or not reason.converged or reason is Reason.ANGLE:
            return _unless_dependent(reason, pairs), pairs
        pairs.floors *= retry.slack
        pairs, excess = _improved(setup, pairs, tol)
        if excess <= 1:
            return _success(pairs, tol), pairs
        stalled = excess > 0.5 * last
        stalls += stalled
        if attempt == retry.attempts or _work(run) > enough or _is_hopeless(excess, stalls):
            break
        tightening *= max(0.5 / excess, MAX_TIGHTENING)
        run.tighten(tightening)
        again = partial(run.iteration.tightened, tol * tightening, pairs, stalled=stalled)
        reason = run.until_end(again)
        last = excess
    assert tol is not None
    if setup.last and pairs.excess(tol, lenient=True) > 1:
        pairs = sharpened(setup, pairs, tol, last=True)
    if pairs.excess(tol, lenient=True) <= 1:
        return _success(pairs, tol), pairs
    return Reason.UNCONFIRMED, pairs


def _unless_dependent(reason: Reason, pairs: Pairs) -> Reason:
    """Success only for independent vectors: the same one several times may be at no angle to a reference."""
    return Reason.UNCONFIRMED if reason.converged and not np.isfinite(pairs.norms).all() else reason


def _is_hopeless(excess: float, stalls: int) -> bool:
    """Are residuals infinite, or far above the tolerance after several runs that did not halve them?"""
    return not np.isfinite(excess) or (stalls >= MAX_STALLED and excess > HOPELESS_EXCESS)


def _work(run: Run) -> int:
    """The products with A and B, those of conjugate gradients included, and solves with A − σB so far."""
    counts = run.iteration.products.counts
    return counts.products + counts.B_products


def _success(pairs: Pairs, tol: float) -> Reason:
    """Do the residuals meet the tolerance, or only what rounding leaves of it?"""
    return Reason.RESIDUAL if pairs.met(tol) else Reason.PRECISION


def narrowed(run: Run, setup: Setup, pairs: Pairs, tol: float, factor: float) -> tuple[Reason, Pairs]:
    """The pairs after a run to `factor` times the tolerance, whose error intervals are narrower."""
    run.tighten(factor)
    reason = run.until_end(partial(run.iteration.tightened, tol * factor, pairs, stalled=False))
    return confirmed(run, setup, reason)


def _improved(setup: Setup, pairs: Pairs, tol: float) -> tuple[Pairs, float]:
    """The pairs, improved where their residuals miss the tolerance, and the factor by which these exceed it."""
    if setup.inverse is not None:
        pairs = _cleansed(setup, pairs, tol)
    if pairs.norms.shape[0] > 1:
        pairs = sharpened(setup, pairs, tol)
    return pairs, pairs.excess(tol)


def _cleansed(setup: Setup, pairs: Pairs, tol: float) -> Pairs:
    """The pairs, purified as long as that gains something and their residuals miss the tolerance."""
    excess, refined = pairs.excess(tol), False
    if excess <= 1:
        return _unexcused(setup, pairs, tol)
    for _ in range(PURIFICATIONS):
        better = purified(setup, pairs, refined=refined)
        reduced = better.excess(tol)
        gained = reduced < LEAST_GAIN * excess
        if reduced < excess:
            pairs, excess = better, reduced
        if excess <= 1 or (refined and not gained):
            break
        refined = not gained
    return pairs


def _unexcused(setup: Setup, pairs: Pairs, tol: float) -> Pairs:
    """Pairs that rounding of A and B excuses, purified where they meet the tolerance then."""
    for refined in (False, True):
        if not _is_excused(pairs, tol):
            break
        better = purified(setup, pairs, refined=refined)
        if better.excess(tol) <= 1 and better.missed(tol) < pairs.missed(tol):
            pairs = better
    return pairs


def _is_excused(pairs: Pairs, tol: float) -> bool:
    """Do residuals miss a tolerance that inverse iteration might reach, and are excused by rounding of A and B?"""
    reachable = tol * pairs.sizes[0] > REACHABLE_FRACTION * pairs.floors[0]
    return bool((reachable & (pairs.norms[0] > tol * pairs.sizes[0])).any())


def purified(setup: Setup, pairs: Pairs, *, refined: bool = False) -> Pairs:
    """The pairs after one step of inverse iteration, which removes what rounding leaves of eigenvalues far from σ.

    Its solves are `refined` by one step where factors without pivoting are not accurate enough.
    """
    inverse, products = setup.inverse, setup.given_pair
    assert inverse is not None
    monitoring = products.monitoring
    BX = monitoring.B_in_double(pairs.vectors).astype(products.dtype)
    X = monitoring.solves_K(inverse, np.asfortranarray(BX))
    if refined and everywhere(bool(np.isfinite(X).all())):
        AY, BY = monitoring.in_double(X.astype(pairs.vectors.dtype))
        swapped = setup.products.pencil.inverse
        left = BX - (1 if swapped is None else swapped[1]) * (AY - inverse.sigma * BY)
        X = X + monitoring.solves_K(inverse, np.asfortranarray(left.astype(products.dtype)))
    lengths = column_norms(X)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        return pairs
    assert pairs.order is not None
    block = ritz_block(setup, X / lengths, pairs.order)
    if block is None:
        return pairs
    better = measured_columns(products, block, inverse)
    better.spare, better.order = pairs.spare, pairs.order
    better = better.ordered(pairs.order)
    better.gaps = None if pairs.gaps is None else _gaps(setup, better)
    return better


def _gaps(setup: Setup, pairs: Pairs) -> Array:
    """How far the values 1/(λ − σ) are from where others may be, if none that is more wanted was missed."""
    transform, swapped = setup.shift_invert, setup.products.pencil.inverse
    if transform is not None:
        sign = transform.sign
    else:
        assert swapped is not None
        sign = swapped[1]
    distances = pairs.values - pairs.sigma
    thetas = sign / np.copysign(np.maximum(np.abs(distances), LEAST_DISTANCE), distances)
    low, high = setup.target.window(thetas)
    return np.asarray(np.maximum(thetas - high, low - thetas) - (pairs.errors * np.abs(thetas)).max(initial=0.0))
