"""The processes of a distributed solve: which rows this one holds, and what all of them agree on.

Every process of a distributed solve runs the same code on its own rows of each vector. Whatever follows from rows,
from a clock, from a signal or from a small matrix must be the same on all of them, or they would wait for each other
for ever. On one process, all functions here return what they are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

import numpy as np

from ..typing import Array

T = TypeVar("T")
# Opens what takes ranges of rows, given the number of the first.
Opened = Callable[[], AbstractContextManager[Callable[[int, Array], None]]]


class Processes(Protocol):
    """The processes of one solve; of every vector of length n, this one holds `count` rows from `first` on."""

    n: int
    first: int
    count: int
    rank: int

    def sum(self, local: Array) -> Array:
        """The sum over all processes, entry by entry."""

    def largest(self, local: Array) -> Array:
        """The largest over all processes, entry by entry."""

    def leading(self, local: Array) -> Array:
        """Of the entries of all processes the one of largest magnitude, place by place."""

    def decided(self, value: T) -> T:
        """The value on process 0."""

    def concluded(self, stops: bool) -> bool:
        """Does a process stop? KeyboardInterrupt on all of them if one was interrupted."""

    def collect(self, rows: Array, opened: Opened) -> None:
        """On process 0, open a consumer of rows and give it those of all processes, in order and in pieces."""


_current: ContextVar[Processes | None] = ContextVar("processes", default=None)
# The processes of the solve that is running, or None on a single process.
current = _current.get


@contextmanager
def distributed(processes: Processes | None) -> Iterator[None]:
    """Let vectors be distributed over these processes within the block, or be whole for None."""
    token = _current.set(processes)
    try:
        yield
    finally:
        _current.reset(token)


def agreed(value: T) -> T:
    """The value on process 0: for clocks, random seeds and decompositions of small matrices."""
    processes = current()
    return value if processes is None else processes.decided(value)


def everywhere(holds: bool) -> bool:
    """Does it hold on every process?"""
    processes = current()
    return bool(holds) if processes is None else bool(processes.largest(np.array([float(not holds)]))[0] == 0)


def concluded(stops: bool) -> bool:
    """Does a process stop? KeyboardInterrupt on all of them if one was interrupted."""
    processes = current()
    return stops if processes is None else processes.concluded(stops)
