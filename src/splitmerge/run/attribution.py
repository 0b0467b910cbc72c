"""Which pair of the result each row of a history belongs to.

A subspace iteration numbers its Ritz pairs by their place, and a copy of a multiple eigenvalue that turns up late moves
all others by one place. The rows of one place are cut into tracks where the value leaves the interval that its residual
allowed; each track belongs to the eigenvalue where it ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..typing import Array

# A value may move by this multiple of its residual, and within this fraction of the largest eigenvalue.
RESIDUALS, RESOLUTION = 10.0, 1e-9
# Eigenvalues that differ by less than this fraction of the largest are copies of one.
COPY_RESOLUTION = 1e-6


class Track(NamedTuple):
    """Rows `first` to `last` (exclusive) of one place; the next value lies within `slack` of the last `value`."""

    first: int
    last: int
    place: int
    value: float
    slack: float


def attributed(places: Array, steps: Array, values: Array, residuals: Array, eigenvalues: Array) -> Array:
    """The index of the eigenvalue of every row; from their number on for rows of pairs that are not among them."""
    numbers = places.copy()
    eigenvalues = eigenvalues.astype(float)
    if not (places.size and eigenvalues.size):
        return numbers
    size = float(np.abs(eigenvalues).max())
    slacks = RESIDUALS * residuals * np.maximum(np.abs(values), size) + RESOLUTION * size
    # the last place in this pass through the places, and which eigenvalue each of them has had
    before, had = -1, dict[int, int]()
    others: list[float] = []
    for track in _tracks(places, steps, values, slacks):
        if track.place < before:
            had = {}
        taken = {number for place, number in had.items() if place != track.place}
        number = _number(track, eigenvalues, COPY_RESOLUTION * size, taken)
        if number is None:
            number = eigenvalues.size + _place_in(others, track)
        numbers[track.first : track.last] = had[track.place] = number
        before = track.place
    return numbers


def _tracks(places: Array, steps: Array, values: Array, slacks: Array) -> Iterator[Track]:
    follows = (places[1:] == places[:-1]) & (steps[1:] == steps[:-1] + 1)
    # not ≤: a residual that is not known allows everything
    follows &= ~(np.abs(np.diff(values)) > slacks[:-1])
    borders = [0, *(np.flatnonzero(~follows) + 1).tolist(), places.size]
    for first, last in pairwise(borders):
        yield Track(first, last, int(places[last - 1]), float(values[last - 1]), float(slacks[last - 1]))


def _number(track: Track, eigenvalues: Array, copies: float, taken: set[int]) -> int | None:
    """The eigenvalue in the same place if it may be the one; otherwise the nearest, the first copy that is left."""
    distances = np.abs(eigenvalues - track.value)
    place = track.place
    if place < eigenvalues.size and place not in taken and not distances[place] > track.slack:
        return place
    nearest = int(np.argmin(distances))
    if distances[nearest] > track.slack:
        return None
    among = np.flatnonzero(np.abs(eigenvalues - eigenvalues[nearest]) <= copies).tolist()
    return next((number for number in among if number not in taken), int(among[-1]))


def _place_in(others: list[float], track: Track) -> int:
    """The place of the value among those of other pairs, which it joins if it is new."""
    for place, value in enumerate(others):
        if abs(value - track.value) <= track.slack:
            return place
    others.append(track.value)
    return len(others) - 1
