"""`Communicator`: the MPI processes of one solve."""

from __future__ import annotations

import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

import numpy as np
from mpi4py import MPI

from ..system.processes import Opened, distributed
from ..typing import Array

T = TypeVar("T")

# Seconds after which the other processes are taken not to have failed, too.
MEETING_SECONDS = 2.0
POLL_SECONDS = 0.01
# Numbers that process 0 receives at a time.
NUMBERS_AT_A_TIME = 2**20


def _pieces(count: int, columns: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows."""
    step = max(NUMBERS_AT_A_TIME // max(columns, 1), 1)
    return ((start, min(start + step, count)) for start in range(0, count, step))


class Communicator:
    """Sums, decisions and failures on a communicator; this process holds the rows `first`… of vectors of length n."""

    def __init__(self, comm: Any, n: int, first: int, count: int) -> None:
        # of its own, so that no message of the caller is taken for one of the solve
        self.comm = comm.Dup()
        # where processes meet that have failed, while others are in the middle of a reduction
        self.failed = comm.Dup()
        self.rank, self.size = self.comm.rank, self.comm.size
        self.n, self.first, self.count = n, first, count
        self._pressed = False

    def free(self) -> None:
        """Release what the communicator takes; every process must call it."""
        self.comm.Free()
        self.failed.Free()

    def sum(self, local: Array) -> Array:
        """The sum over all processes, entry by entry."""
        return self._reduced(local, MPI.SUM)

    def largest(self, local: Array) -> Array:
        """The largest over all processes, entry by entry."""
        return self._reduced(local, MPI.MAX)

    def _reduced(self, local: Array, operation: Any) -> Array:
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

    def collect(self, rows: Array, opened: Opened) -> None:
        """On process 0, open a consumer of rows and give it those of all processes, in order and in pieces.

        What fails there is raised on all processes.
        """
        failure = None
        if self.rank == 0:
            failure = self._consumed(rows, opened)
        else:
            self._send(rows)
        failure = self.comm.bcast(failure)
        if failure is not None:
            raise failure

    def _consumed(self, rows: Array, opened: Opened) -> Exception | None:
        """Consume the rows of all processes; after a failure they are received all the same."""
        failure: Exception | None = None
        pieces = self._received(rows)
        try:
            with opened() as put:
                for first, piece in pieces:
                    put(first, piece)
        except Exception as error:
            failure = error
        for _ in pieces:
            pass
        return failure

    def _received(self, rows: Array) -> Iterator[tuple[int, Array]]:
        yield self.first, rows
        for rank in range(1, self.size):
            first, count = self.comm.recv(source=rank)
            for start, stop in _pieces(count, rows.shape[1]):
                piece = np.empty((stop - start, rows.shape[1]), rows.dtype)
                self.comm.Recv(piece, source=rank)
                yield first + start, piece

    def _send(self, rows: Array) -> None:
        self.comm.send((self.first, rows.shape[0]), dest=0)
        for start, stop in _pieces(*rows.shape):
            self.comm.Send(np.ascontiguousarray(rows[start:stop]), dest=0)

    def passed_on(self, read: Callable[[int], tuple[Array, int]], crc: int) -> Array:
        """What each process reads, given the checksum of all before it; an error of one is raised on all."""
        if self.rank > 0:
            crc = self.comm.recv(source=self.rank - 1)

        def read_and_pass_on() -> Array:
            following = crc
            try:
                rows, following = read(crc)
            finally:
                if self.rank + 1 < self.size:
                    self.comm.send(following, dest=self.rank + 1)
            return rows

        return self.together(read_and_pass_on)

    def together(self, function: Callable[[], T]) -> T:
        """What the function returns; an error of one process is raised on all."""
        result: list[T] = []
        failure: Exception | None = None
        try:
            result.append(function())
        except (OSError, ValueError) as error:
            failure = error
        for other in self.comm.allgather(failure):
            if other is not None:
                raise other
        return result[0]

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
            self.free()

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
