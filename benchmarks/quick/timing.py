"""Interleaved timing at equal accuracy.

Every solver first finds its tolerance: ours is always 1e-8; that of a peer is made smaller if its residual is too large
or an eigenvalue is missing, and larger if the residual is far below 1e-8. These runs are the warm-up.
"""

from __future__ import annotations

import gc
import time
import warnings
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ..sparse.race import Absent
from .contest import TOLERANCE, Contest, Side
from .guard import Slow

# Seconds for the rounds of one row, and the most rounds.
ROW_SECONDS, MAX_ROUNDS = 2.0, 100
# A round longer than this is not repeated more than once.
LONG_ROUND_SECONDS = 5.0
# A solver slower than the fastest by this ratio, and than this many seconds, is not run again.
SLOW_RATIO, SLOW_SECONDS = 5.0, 0.5
MAX_TIGHTENINGS, MAX_LOOSENINGS = 4, 2
# A residual this many times below the tolerance makes it worthwhile to try a larger one, unless a run is this long.
LOOSEN_FACTOR, LOOSEN_SECONDS = 10, 0.5


def clock(side: Side, tol: float) -> float:
    """Run once and keep the fastest time and its solution."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.perf_counter()
        result = side.run(tol)
        seconds = time.perf_counter() - begin
    seconds = getattr(result, "elapsed", seconds)
    if seconds < side.seconds or side.solution is None:
        side.solution = result
    side.seconds = min(side.seconds, seconds)
    side.rounds += 1
    return seconds


def attempt(side: Side, contest: Contest, tol: float) -> bool:
    """Run once with a tolerance and record the outcome; is it accurate?"""
    side.seconds, side.solution, side.tol = np.inf, None, tol
    try:
        clock(side, tol)
    except Absent as missing:
        side.state, side.note, side.seconds = "absent", str(missing), np.inf
        return False
    except Slow as limit:
        side.state, side.note, side.seconds = "slow", "stopped at the time limit", float(limit.args[0])
        return False
    except Exception as failure:
        text = str(failure).strip().split("\n")[0][:80]
        side.state, side.note, side.seconds = "failed", f"{type(failure).__name__}: {text}", np.inf
        return False
    if contest.A is None:
        side.state = "good"
        return True
    result = side.solution
    values, vectors = (result.eigenvalues, result.eigenvectors) if hasattr(result, "eigenvalues") else result
    side.residual, reached = contest.judge(values, vectors)
    side.costs = np.sort(contest.wanted.cost(values)) if np.isfinite(side.residual) else None
    side.state = "good" if reached else "coarse"
    return reached


def settle(side: Side, contest: Contest) -> None:
    """Find the largest sufficient tolerance, approximately."""
    for _ in range(MAX_TIGHTENINGS + 1):
        if attempt(side, contest, side.tol) or not side.by_tol or side.state != "coarse" or side.once:
            break
        if not np.isfinite(side.residual):
            break
        side.tol = max(side.tol / max(1.5 * side.residual / TOLERANCE, 10), 1e-16)
    for _ in range(MAX_LOOSENINGS):
        if side.state != "good" or not side.by_tol or side.once or contest.A is None:
            return
        room = TOLERANCE / max(side.residual, 1e-16)
        if room < LOOSEN_FACTOR or side.seconds > LOOSEN_SECONDS:
            return
        kept, costs = replace(side), side.costs
        assert costs is not None
        good = attempt(side, contest, side.tol * min(10 ** np.floor(np.log10(room)), 1e3))
        if not good or side.costs is None or contest.exceeds(side.costs, costs) or side.seconds > 1.1 * kept.seconds:
            vars(side).update(vars(kept))
            return


def complete(contest: Contest) -> None:
    """Mark the sides that miss an eigenvalue; a peer may try again with smaller tolerances."""
    for side in contest.sides:
        for _ in range(3):
            least = contest.least()
            if side.state != "good" or side.costs is None or least is None:
                break
            if not contest.exceeds(side.costs, least):
                break
            side.state = "wrong"
            if not side.by_tol or side.once or side.tol <= 1e-16:
                break
            attempt(side, contest, max(side.tol / 100, 1e-16))
            if side.state == "good":
                side.note = f"missed an eigenvalue until tol={side.tol:.0e}"
        least = contest.least()
        if side.state == "good" and side.costs is not None and least is not None and contest.exceeds(side.costs, least):
            side.state, side.note = "wrong", "misses an eigenvalue"


def race(contest: Contest, repeat: int) -> None:
    """The best time of every solver over interleaved rounds; the first is ours."""
    for side in contest.sides:
        settle(side, contest)
    # twice, because a later solver may find what an earlier one missed
    complete(contest)
    complete(contest)
    good = [side for side in contest.sides if side.state == "good"]
    slow = max(SLOW_RATIO * min((side.seconds for side in good), default=0.0), SLOW_SECONDS)
    racing = [side for side in good if not side.once and side.seconds <= slow]
    if not racing:
        return
    whole = sum(side.seconds for side in racing)
    rounds = 1 if whole > LONG_ROUND_SECONDS else int(np.clip(ROW_SECONDS / whole, repeat, max(MAX_ROUNDS, repeat)))
    gc.collect()
    for side in racing:
        side.rounds = 1
    for turn in range(rounds):
        # rotate the order, so that each solver runs after different ones
        for side in racing[turn % len(racing) :] + racing[: turn % len(racing)]:
            # a run over the time limit is not the fastest one
            with suppress(Slow):
                clock(side, side.tol)
