"""Slices: the interval bisected by counts until each slice holds few enough eigenvalues for one shift."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .cuts import CLEAR_ROUNDING_ERRORS, Counter, Cut

# Where a slice is cut, as fractions of its width: the first that is in a gap.
FRACTIONS = (0.5, 0.44, 0.56, 0.37, 0.63, 0.28, 0.72)
# A gap is wide enough if the nearest eigenvalue is this fraction of the mean spacing away.
GAP_SPACINGS = 1e-2
# The shift is in the middle of the eigenvalues, not of the slice, if they take less than this fraction of its width.
HULL_FRACTION = 0.5
# A shift is put beside a narrow cluster at this fraction of the distance from there to the farther end of the slice.
OFFSET_FRACTION = 0.1
# Shifts next to the middle of a slice, as fractions of its width.
SHIFT_MOVES = (0.0, 0.013, -0.017)
# An end of a slice that may be empty is cut off at this fraction of its width.
NARROW_FRACTION = 0.02
# Cuts in a row that leave all eigenvalues on one side, after which a slice is taken as it is.
MAX_IDLE_CUTS = 5


@dataclass(frozen=True)
class Slice:
    """The eigenvalues between two cuts."""

    low: Cut
    high: Cut

    @property
    def count(self) -> int:
        """How many they are."""
        return self.high.below - self.low.below

    @property
    def width(self) -> float:
        """The distance of the cuts."""
        return self.high.tau - self.low.tau

    @property
    def shifts(self) -> tuple[tuple[float, float], ...]:
        """Shifts σ in the order in which they are tried, each with a centre that is nearest to the slice's eigenvalues.

        The middle is such a centre for sure. Where the cuts have seen that all lie in a small part of the slice, the
        middle of that part is better. A factorisation without pivoting may be inaccurate at one shift only.
        """
        middle, (left, right) = self.low.tau + self.width / 2, self.hull
        shifts = [(middle + move * self.width, middle) for move in SHIFT_MOVES]
        if left <= right < left + HULL_FRACTION * self.width:
            centre = left + (right - left) / 2
            shifts.insert(0, (centre + self._offset(left, right), centre))
        return tuple(shifts)

    def _offset(self, left: float, right: float) -> float:
        """How far to put σ beside a narrow cluster: on it, 1/(λ − σ) would tell nothing else apart."""
        below, above = left - self.low.tau, self.high.tau - right
        offset = OFFSET_FRACTION * (above if above > below else -below)
        return offset if right - left < abs(offset) else 0.0

    @property
    def hull(self) -> tuple[float, float]:
        """The outermost eigenvalues as the cuts saw them; in the wrong order if one cut is too far away to see them."""
        return max(self.low.nearest, self.low.tau), min(self.high.nearest, self.high.tau)


def slices(counter: Counter, low: Cut, high: Cut, size: int) -> Iterator[Slice]:
    """Slices of at most `size` eigenvalues from left to right; of more only in a cluster that cannot be cut."""
    waiting = [(Slice(low, high), 0)]
    while waiting:
        part, idle = waiting.pop()
        if part.count <= 0:
            continue
        cut = None if part.count <= size or idle > MAX_IDLE_CUTS else _cut(counter, part, zoom=idle > 0)
        if cut is None:
            yield _narrowed(counter, part)
            continue
        left, right = Slice(part.low, cut), Slice(cut, part.high)
        idle = 0 if left.count and right.count else idle + 1
        waiting += [(right, idle), (left, idle)]


def _narrowed(counter: Counter, part: Slice) -> Slice:
    """The slice without an empty part at one end, in which its shift would be far from the eigenvalues."""
    for _ in range(MAX_IDLE_CUTS):
        left, right = part.hull
        if left <= right or min(part.low.distance, part.high.distance) > NARROW_FRACTION * part.width:
            break
        above = part.high.distance < part.low.distance
        cut = counter.at(right - NARROW_FRACTION * part.width if above else left + NARROW_FRACTION * part.width)
        if cut is None or not cut.clear or not part.low.tau < cut.tau < part.high.tau:
            break
        if cut.below != (part.low.below if above else part.high.below):
            break
        part = Slice(cut, part.high) if above else Slice(part.low, cut)
    return part


def _cut(counter: Counter, part: Slice, *, zoom: bool) -> Cut | None:
    """A cut in a gap inside the slice; None if there is none that counts and computed values resolve.

    `zoom` looks between the outermost eigenvalues only, which the outer cuts have seen.
    """
    best = None
    clearance = counter.clearance(max(abs(part.low.tau), abs(part.high.tau)), part.width)
    for tau in _points(part, zoom=zoom):
        cut = counter.at(tau)
        if cut is None or not cut.clear or cut.distance < clearance:
            continue
        if not part.low.below <= cut.below <= part.high.below:
            continue
        if cut.distance >= GAP_SPACINGS * part.width / part.count:
            return cut
        if best is None or cut.distance > best.distance:
            best = cut
    return best


def _points(part: Slice, *, zoom: bool) -> list[float]:
    """Points inside the slice at which it may be cut."""
    low, high = part.low.tau, part.high.tau
    if zoom:
        low, high = part.hull
        least = 4 * CLEAR_ROUNDING_ERRORS * max(part.low.rounding, part.high.rounding)
        if not high - low > least:
            return []
    return [low + fraction * (high - low) for fraction in FRACTIONS]
