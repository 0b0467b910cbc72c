"""`Communicator`: the MPI processes of one solve."""

from __future__ import annotations

import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

import numpy as np
from mpi4py import MPI

from ..system.processes import distributed
from ..typing import Array

T = TypeVar("T")

# Seconds after which the other processes are taken not to have failed, too.
MEETING_SECONDS = 2.0
POLL_SECONDS = 0.01


class Communicator:
    """Sums, decisions and failures on a communicator; this process holds the rows `first`… of vectors of length n."""

    def __init__(self, comm: Any, n: int, first: int, count: int) -> None:
        # of its own, so that no message of the caller is taken for one of the solve
        self.comm = comm.Dup()
        # where processes meet that have failed, while others are in the middle of a reduction
        self.failed = comm.Dup()
        self.rank, self.size = self.comm.rank, self.comm.size
        self.n, self.first, self.count = n, first, count
        self.reductions = 0
        self._pressed = False

    def sum(self, local: Array) -> Array:
        """The sum over all processes, entry by entry."""
        return self._reduced(local, MPI.SUM)

    def largest(self, local: Array) -> Array:
        """The largest over all processes, entry by entry."""
        return self._reduced(local, MPI.MAX)

    def _reduced(self, local: Array, operation: Any) -> Array:
        self.reductions += 1
        if self.size == 1:
            return local
        result = np.array(local, order="C")
        self.comm.Allreduce(MPI.IN_PLACE, result, op=operation)
        return result

    def leading(self, local: Array) -> Array:
        """Of the entries of all processes the one of largest magnitude, place by place."""
        every = np.array(self.comm.allgather(local))
        return np.asarray(every[np.abs(every).argmax(axis=0), np.arange(local.size)])

    def decided(self, value: T) -> T:
        """The value on process 0."""
        return value if self.size == 1 else self.comm.bcast(value, root=0)

    def concluded(self, stops: bool) -> bool:
        """Does a process stop? KeyboardInterrupt on all of them if one was interrupted."""
        stopped, pressed = self.largest(np.array([float(stops), float(self._pressed)]))
        if pressed:
            self._pressed = False
            raise KeyboardInterrupt
        return bool(stopped)

    @contextmanager
    def solving(self) -> Iterator[None]:
        """Distribute vectors over the processes; what fails on some of them only ends all of them."""
        try:
            with distributed(self), self._interruptible():
                yield
        except BaseException as error:
            self._meet(error)
            raise
        finally:
            self.comm.Free()
            self.failed.Free()

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Note SIGINT, which `concluded` turns into an exception on all processes at the same place."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def press(number: int, frame: FrameType | None) -> None:
            self._pressed = True

        before = signal.signal(signal.SIGINT, press)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)

    def _meet(self, error: BaseException) -> None:
        """Return once all processes have failed; otherwise end them with the message of this one."""
        meeting, until = self.failed.Ibarrier(), time.monotonic() + MEETING_SECONDS
        while not meeting.Test():
            if time.monotonic() > until:
                text = "".join(traceback.format_exception(error))
                print(f"{text}on process {self.rank} of {self.size}; all processes end", file=sys.stderr, flush=True)
                self.comm.Abort(1)
            time.sleep(POLL_SECONDS)
