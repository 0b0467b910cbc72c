"""The ends of an interval as cuts: moved outwards where an eigenvalue is at an end, inwards where there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from .cuts import CLEAR_ROUNDING_ERRORS, Counter, Cut

# A border is moved outwards by twice what makes it clear, then by this factor more each time.
OUTWARD_FACTOR, OUTWARD_MOVES = 4, 6
# The spectrum is enclosed by ± the size of A relative to B, times this factor until nothing is beyond.
ENCLOSING_FACTOR = 16


class Uncountable(ValueError):
    """A − τB is singular at an end and next to it."""


class End(NamedTuple):
    """The cut that decides which eigenvalues are inside, and the border next to it or beyond it, in a wider gap."""

    decided: Cut
    border: Cut


@dataclass(frozen=True)
class Ends:
    """The interval [a, b] that was asked for, in the units of the scaled pair, and its ends."""

    a: float
    b: float
    low: End
    high: End

    @property
    def count(self) -> int:
        """The number of eigenvalues between the borders."""
        return max(self.high.border.below - self.low.border.below, 0)

    @property
    def beyond(self) -> tuple[int, int]:
        """How many eigenvalues between the borders are below and above the interval."""
        below, above = self._beyond
        return max(below, 0), max(above, 0)

    @property
    def _beyond(self) -> tuple[int, int]:
        """`beyond` as counted, which rounding may have made negative."""
        return self.low.decided.below - self.low.border.below, self.high.border.below - self.high.decided.below

    @property
    def undecided(self) -> tuple[float, float]:
        """The ends that are within rounding of eigenvalues; infinite where they are not."""
        low, high = self.low.decided.tau, self.high.decided.tau
        return self.a if low < self.a else -math.inf, self.b if high > self.b else math.inf

    @property
    def touched(self) -> bool:
        """Is an end within rounding of eigenvalues?"""
        return any(map(math.isfinite, self.undecided))

    @property
    def clear(self) -> bool:
        """Are all counts certain?"""
        return all(cut.clear for cut in (*self.low, *self.high)) and min(self._beyond) >= 0


def counted_ends(counter: Counter, a: float, b: float) -> Ends:
    """Count at both ends of [a, b], either of which may be infinite."""
    limit = counter.n * counter.radius / counter.products.eps**2
    if a > limit or b < -limit:
        # no eigenvalue of a B that is definite to working precision is there
        cut = Cut(math.copysign(limit, a + b), 0, math.inf, 0.0)
        return Ends(a, b, End(cut, cut), End(cut, cut))
    span = min(b - a, counter.radius)
    low = _end(counter, a, -1, limit, span)
    if a == b == low.border.tau and low.border.clear:
        return Ends(a, b, low, low)
    return Ends(a, b, low, _end(counter, b, 1, limit, span))


def _end(counter: Counter, asked: float, side: int, limit: float, span: float) -> End:
    """The end `asked`, the lower one for `side` −1 and the upper one for 1."""
    end = None if side * asked >= limit else _outwards(counter, asked, side, span)
    everything = (0 if side < 0 else counter.n) if end is None else end.decided.below
    tau = side * counter.radius
    while side * tau < min(side * asked, limit):
        cut = counter.at(tau)
        if cut is not None and cut.clear and cut.below == everything:
            # nothing is between the two
            return End(cut, cut)
        tau *= ENCLOSING_FACTOR
    if end is None:
        raise ValueError(
            f"interval has no finite {'lower' if side < 0 else 'upper'} end, but B is singular to working precision, "
            f"so that the eigenvalues have no bound; give a finite end"
        )
    return end


def _outwards(counter: Counter, asked: float, side: int, span: float) -> End:
    """The first cut from `asked` outwards with a certain count, and the first in a wide enough gap.

    Where there is none, the last cut and the one in the widest gap.
    """
    clearance = counter.clearance(asked, span)
    cuts = [counter.at(asked)]
    if not _is_wide(cuts[0], 0.0):
        cuts.append(counter.at(asked + side * _beyond_rounding(counter, asked, cuts[0])))
    for step in range(OUTWARD_MOVES):
        if _is_wide(cuts[-1], clearance):
            break
        cuts.append(counter.at(asked + side * 2 * clearance * OUTWARD_FACTOR**step))
    made = [cut for cut in cuts if cut is not None]
    if not made:
        shown = asked * counter.products.pencil.unit
        raise Uncountable(
            f"the eigenvalues below {shown:.6g}, an end of interval, cannot be counted: A − τB is singular there and "
            f"next to it; have A and B a common null vector?"
        )
    decided = next((cut for cut in made if cut.clear), made[-1])
    return End(decided, max(made, key=lambda cut: (cut.clear, cut.distance)))


def _is_wide(cut: Cut | None, clearance: float) -> bool:
    """Is the count certain, and the nearest eigenvalue at this distance at least?"""
    return cut is not None and cut.clear and cut.distance >= clearance


def _beyond_rounding(counter: Counter, asked: float, cut: Cut | None) -> float:
    """How far to move an end on an eigenvalue, so that the eigenvalue is counted for sure."""
    # A = 0 has no rounding errors
    rounding = counter.rounding(asked) or counter.products.eps * counter.radius
    return 2 * CLEAR_ROUNDING_ERRORS * max(rounding, 0.0 if cut is None else cut.rounding)
