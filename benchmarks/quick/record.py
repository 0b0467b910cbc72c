"""The numbers of a measured row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .contest import Contest, Row, Side

Record = dict[str, Any]


def absent(row: Row, why: str) -> Record:
    """A row whose data are not there."""
    names = {"section": row.section, "name": row.name, "target": row.target}
    return {**names, "state": "absent", "note": why, "ratio": None, "plain_ratio": None}


def finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def describe(side: Side, ours: Side) -> Record:
    """The outcome of a solver; its ratio to ours even if it is wrong, when it is not counted."""
    both = np.isfinite(side.seconds) and np.isfinite(ours.seconds)
    return {
        "state": side.state,
        "seconds": finite(side.seconds),
        "ratio": side.seconds / ours.seconds if both else None,
        "residual": finite(side.residual),
        "tol": side.tol if side.by_tol else None,
        "rounds": side.rounds,
        "note": side.note,
    }


def record(row: Row, contest: Contest) -> Record:
    """All numbers of a row; `ratio` is that to the best correct peer, `plain_ratio` that to the plain one.

    If we were stopped at the time limit, the ratios are upper bounds.
    """
    ours, *others = contest.sides
    peers = {side.name: describe(side, ours) for side in others}
    valid = ours.state in ("good", "slow")
    counted = {name: p["ratio"] for name, p in peers.items() if p["state"] == "good" and valid}
    eligible = {name: r for name, r in counted.items() if not contest.counted or name in contest.counted}
    best = min(eligible, key=lambda name: eligible[name], default=None)
    return {
        "section": row.section,
        "name": row.name,
        "target": row.target,
        "n": contest.n,
        "k": contest.wanted.k,
        "where": contest.wanted.where,
        "state": ours.state,
        "note": ours.note,
        "ours": describe(ours, ours),
        "peers": peers,
        "plain": contest.plain,
        "plain_ratio": counted.get(contest.plain),
        "best": best,
        "ratio": None if best is None else eligible[best],
        **story(ours),
    }


def story(ours: Side) -> Record:
    """Our verdict, and the share of the verification in the time of the fastest run, if the solution tells."""
    verdict, part = getattr(ours.solution, "verdict", None), verification(getattr(ours.solution, "seconds", None))
    share = None if part is None or not np.isfinite(ours.seconds) else part / ours.seconds
    return {"verdict": None if verdict is None else str(verdict), "verification_share": share}


def verification(seconds: Any) -> float | None:
    """The seconds of the verification, from a mapping or an object with attributes; None if they are not told."""
    found = seconds.get("verification") if isinstance(seconds, Mapping) else getattr(seconds, "verification", None)
    return None if found is None else float(found)
