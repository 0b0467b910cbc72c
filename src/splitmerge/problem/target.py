"""Which part of the spectrum of an operator T is computed, and in which order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..linalg.rounding import by_distance
from ..typing import Array


@dataclass(frozen=True)
class Target:
    """The largest eigenvalues, the largest in magnitude, or alternately from both ends (the largest first).

    `Target.farthest(c)` selects by distance from c, which generalises the magnitude; `Target.closest(c)` selects the
    values nearest to c. For shift-invert, θ = 1/(λ − σ), `Target.nearest(c)` selects those with λ nearest to σ − c.
    """

    name: str
    centre: float = 0.0

    LARGEST: ClassVar[Target]
    MAGNITUDE: ClassVar[Target]
    ENDS: ClassVar[Target]

    @classmethod
    def farthest(cls, centre: float) -> Target:
        """The values at the largest distance from `centre`."""
        return cls("farthest", centre)

    @classmethod
    def closest(cls, centre: float) -> Target:
        """The values at the smallest distance from `centre`, when the whole spectrum is known."""
        return cls("closest", centre)

    @classmethod
    def of(cls, which: str) -> Target:
        """The target for the option `which`; the smallest are computed as the largest of a negated or inverted pair."""
        return {"magnitude": cls.MAGNITUDE, "ends": cls.ENDS}.get(which, cls.LARGEST)

    @classmethod
    def nearest(cls, offset: float) -> Target:
        """The values θ with the smallest |1/θ + offset|."""
        return cls("nearest", offset) if offset else cls.MAGNITUDE

    def order(self, values: Array) -> Array:
        """Indices that sort the ascending `values` by this target, best first."""
        n = values.size
        if self is Target.LARGEST:
            return np.arange(n)[::-1]
        if self.name == "nearest":
            return np.argsort(self._distances(values), kind="stable")
        if self.name == "closest":
            return by_distance(values, self.centre)
        if self is not Target.ENDS:
            return np.argsort(-np.abs(values - self.centre), kind="stable")
        turns = np.empty(n, int)
        turns[0::2] = np.arange(n)[::-1][: (n + 1) // 2]
        turns[1::2] = np.arange(n)[: n // 2]
        return turns

    def window(self, found: Array) -> tuple[float, float]:
        """(l, h) such that a missing eigenvalue could only be below l or above h; `found` is ordered by `order`."""
        if self is Target.LARGEST:
            return -math.inf, float(found.min())
        if self.name == "nearest":
            reach = float(self._distances(found).max())
            above, below = reach - self.centre, reach + self.centre
            return -1 / below if below > 0 else -math.inf, 1 / above if above > 0 else math.inf
        if self is not Target.ENDS:
            edge = float(np.abs(found - self.centre).min())
            return self.centre - edge, self.centre + edge
        return float(found[1::2].max(initial=-math.inf)), float(found[0::2].min())

    def _distances(self, values: Array) -> Array:
        """|λ − (σ − c)| for θ = 1/(λ − σ)."""
        return np.asarray(np.abs(1 / np.where(values == 0, np.finfo(float).tiny, values) + self.centre))


Target.LARGEST = Target("largest")
Target.MAGNITUDE = Target("farthest")
Target.ENDS = Target("ends")
