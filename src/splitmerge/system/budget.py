"""Wall-clock time of the iteration and its limit."""

from __future__ import annotations

import math
import time

from ..errors import OutOfTime
from .processes import agreed


class Budget:
    """A clock with a time limit in seconds, started when the set-up is complete."""

    __slots__ = ("clock", "deadline", "limit")

    def __init__(self, limit: float = math.inf) -> None:
        self.limit = limit
        self.clock = time.perf_counter()
        self.deadline = math.inf

    def begin(self) -> float:
        """Start the clock after the set-up, and return the start time."""
        self.clock = time.perf_counter()
        self.deadline = self.clock + self.limit
        return self.clock

    def elapsed(self) -> float:
        """Seconds since the clock was started."""
        return time.perf_counter() - self.clock

    def check(self) -> None:
        """Raise `OutOfTime` after the deadline; long computations within one step call this periodically."""
        if self.deadline < math.inf and self.passed(self.limit):
            raise OutOfTime

    def passed(self, seconds: float) -> bool:
        """Have as many seconds passed since the clock was started? The clock of process 0 decides."""
        return agreed(time.perf_counter() >= self.clock + seconds)
