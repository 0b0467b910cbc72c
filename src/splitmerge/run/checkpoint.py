"""When a checkpoint is written: `Checkpoint` says where and how often, `Saving` looks at the clock at every state."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Any

from ..checks import real
from ..errors import OutOfTime
from ..system.processes import agreed
from .iteration import Iteration

# What may go wrong with a checkpoint without harm to the solve; LinAlgError is a ValueError.
FAILURES = (OSError, ValueError, MemoryError, OutOfTime)


@dataclass(frozen=True)
class Checkpoint:
    """Write what a later run needs to go on to the file `path`, at the first state after every `seconds`.

    And once more when the iteration ends, before its pairs are verified. The file is replaced as a whole: a crash or a
    full disk leaves the one before. It remains when the solve has ended. `splitmerge.load` reads it.

    >>> import os, tempfile
    >>> import splitmerge as sm
    >>> A, B = sm.gallery.synthetic_pair(400, kappa_B=10, rng=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.ckpt")
    ...     where = sm.Checkpoint(path, seconds=10)
    ...     sol = sm.solve(A, B, k=3, method=sm.Accelerated(), rng=0, checkpoint=where)
    ...     again = sm.load(path).resume(A, B)
    >>> again.converged, again.counts.A_products < sol.counts.A_products
    (True, True)
    """

    path: str | PathLike[str]
    seconds: float = 60.0

    def __post_init__(self) -> None:
        if not isinstance(self.path, (str, PathLike)) or not isinstance(os.fspath(self.path), str):
            raise ValueError(f"path is {self.path!r}; give the name of a file")
        real(self.seconds, "seconds", least=0.0)


def as_checkpoint(given: Any) -> Checkpoint:
    """The argument `checkpoint` of `solve`, which may be just a path."""
    if isinstance(given, Checkpoint):
        return given
    if isinstance(given, (str, PathLike)) and isinstance(os.fspath(given), str):
        return Checkpoint(given)
    raise ValueError(f"checkpoint is {given!r}; give the name of a file, or Checkpoint(name, seconds=60)")


class Saving:
    """The checkpoints of one solve: how many were `written`, when the last one was, and why a later one failed."""

    def __init__(self, checkpoint: Checkpoint, began: float) -> None:
        self.checkpoint, self.began = checkpoint, began
        self.write: Callable[[Iteration], bool] = lambda _: False
        self.due = began + checkpoint.seconds
        self.written = 0
        self.last = 0.0
        self.failure: str | None = None
        self._ended = False

    def begin(self, write: Callable[[Iteration], bool]) -> None:
        """Let an iteration be written by `write`, which returns False where there is nothing to be written yet."""
        self.write, self._ended = write, False

    def at_state(self, iteration: Iteration) -> None:
        """Write if it is time."""
        # the clock of process 0 decides
        if agreed(time.perf_counter() >= self.due):
            self.save(iteration)

    def at_end(self, iteration: Iteration) -> None:
        """Write before verification, which may take long; after a further run of it only if it is time."""
        if self._ended:
            self.at_state(iteration)
        else:
            self._ended = True
            self.save(iteration)

    def save(self, iteration: Iteration) -> None:
        """Write; a failure leaves the file as it was, and the solve goes on."""
        try:
            if self.write(iteration):
                self.written, self.failure = self.written + 1, None
                self.last = time.perf_counter() - self.began
        except FAILURES as error:
            told = error.strerror if isinstance(error, OSError) else str(error)
            self.failure = told or type(error).__name__
        self.due = time.perf_counter() + self.checkpoint.seconds

    def figures(self) -> dict[str, Any]:
        """What `explain` tells."""
        path = os.fspath(self.checkpoint.path)
        return {"path": path, "written": self.written, "last": self.last, "failure": self.failure}
