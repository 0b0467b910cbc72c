"""What a checkpoint takes from a running iteration: its vectors in the user's coordinates, and what it had cost."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from os import PathLike

import numpy as np

from ...linalg.reductions import extent
from ...methods.setup import Setup
from ...preparation.workspace import Workspace
from ...problem.b_policy import Mended
from ...problem.products import Counts
from ...problem.start import Spent, Warm
from ...run.iteration import Iteration
from ...run.loop import Monitor
from ...system.processes import everywhere
from ..back_transform import user_coordinates, user_shift
from .header import Header
from .writing import write


def taker(
    path: str | PathLike[str], workspace: Workspace, setup: Setup, monitor: Monitor, mended: Mended, began: float
) -> Callable[[Iteration], bool]:
    """A function that writes a checkpoint of an iteration of this set-up; False where there is nothing to write."""
    pencil = setup.given_pair.pencil

    def take(iteration: Iteration) -> bool:
        Y = iteration.checkpoint()
        if Y is None or not everywhere(bool(np.isfinite(Y).all())):
            return False
        X = user_coordinates(mended, pencil, Y)
        header = Header(
            n=extent(X),
            columns=X.shape[1],
            dtype=pencil.dtype.newbyteorder("<").str,
            problem=workspace.problem.kept(),
            spent=_spent(workspace, setup, monitor.steps, time.perf_counter() - began),
            shift=user_shift(setup, iteration.shift),
            trusted=_is_trusted(workspace),
            generator=dict(workspace.rng.bit_generator.state),
        )
        write(path, header, X)
        return True

    return take


def _is_trusted(workspace: Workspace) -> bool:
    """Do the vectors stem from random ones?"""
    start = workspace.problem.x0
    return start is None or (isinstance(start, Warm) and start.trusted)


def _spent(workspace: Workspace, setup: Setup, steps: int, seconds: float) -> Spent:
    """What this solve has cost so far, and what those before it had."""
    counts, start = copy.deepcopy(workspace.counts), workspace.problem.x0
    if setup.products.counts is not workspace.counts:
        counts.add_swapped(setup.products.counts)
    if not isinstance(start, Warm) or start.spent is None:
        return Spent(steps, counts, seconds)
    before = start.spent
    _add(counts, before.counts)
    return Spent(steps + before.steps, counts, seconds + before.seconds)


def _add(counts: Counts, others: Counts) -> None:
    counts.add(others)
    counts.setup.add(others.setup)
    counts.monitoring.add(others.monitoring)
