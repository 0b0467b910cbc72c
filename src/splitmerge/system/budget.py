"""The clock of the iteration, and how many seconds it may take."""

from __future__ import annotations

import math
import time

from ..errors import OutOfTime


class Budget:
    """Seconds since the iteration began; the set-up is not counted."""

    __slots__ = ("clock", "deadline", "limit")

    def __init__(self, limit: float = math.inf) -> None:
        self.limit = limit
        self.clock = time.perf_counter()
        self.deadline = math.inf

    def begin(self) -> float:
        """Start the clock, once everything is set up, and return its time."""
        self.clock = time.perf_counter()
        self.deadline = self.clock + self.limit
        return self.clock

    def elapsed(self) -> float:
        """Seconds since the clock was started."""
        return time.perf_counter() - self.clock

    def check(self) -> None:
        """Raise `OutOfTime` once the limit is exceeded; called by whatever may take long within one step."""
        if time.perf_counter() >= self.deadline:
            raise OutOfTime
