"""Runs in a forked process that is stopped at a time limit, because a factorisation cannot be interrupted."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from ..sparse.race import Absent
from .contest import Side

# A run that takes longer than this many seconds hardly depends on what the fork costs.
FORK_SECONDS = 1.0


class Slow(Exception):
    """A run exceeded the time limit, its argument in seconds."""


@dataclass(frozen=True)
class Answer:
    """What is kept of a run in another process; `elapsed` was measured there."""

    eigenvalues: np.ndarray
    eigenvectors: np.ndarray
    elapsed: float
    verdict: str | None
    seconds: Any


def timed(run: Callable[[float], Any], tol: float) -> tuple[Any, float]:
    """The result, and the seconds that it took.

    The first run in a forked process copies the pages that it writes to and starts the threads of BLAS; another one
    follows unless that took long.
    """
    elapsed, again = np.inf, True
    while again:
        begin, again = time.perf_counter(), elapsed == np.inf
        result = run(tol)
        elapsed = min(elapsed, time.perf_counter() - begin)
        again = again and elapsed < FORK_SECONDS
    return result, elapsed


def answer(run: Callable[[float], Any], tol: float, pipe: Connection) -> None:
    try:
        result, elapsed = timed(run, tol)
    except Absent as missing:
        pipe.send(missing)
        return
    except Exception as failure:
        pipe.send(RuntimeError(f"{type(failure).__name__}: {failure}"))
        return
    values, vectors = (result.eigenvalues, result.eigenvectors) if hasattr(result, "eigenvalues") else result
    verdict = str(result.verdict) if hasattr(result, "verdict") else None
    pipe.send(Answer(values, vectors, elapsed, verdict, getattr(result, "seconds", None)))


def guarded(side: Side, limit: float) -> Side:
    """The same solver in a forked process of at most `limit` seconds."""
    run = side.run

    def limited(tol: float) -> Answer:
        context = multiprocessing.get_context("fork")
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=answer, args=(run, tol, sender))
        process.start()
        sender.close()
        try:
            if not receiver.poll(limit):
                raise Slow(limit)
            found = receiver.recv()
        except EOFError:
            raise RuntimeError("the process of this run ended early") from None
        finally:
            process.kill()
            process.join()
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, Answer)
        return found

    side.run = limited
    return side
