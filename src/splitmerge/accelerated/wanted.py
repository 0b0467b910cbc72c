"""Which eigenvalues of T are wanted, and in which order."""

from __future__ import annotations

import math
from enum import Enum

import numpy as np

from ..kernels import Array


class Wanted(Enum):
    """The largest, the largest by magnitude, or both ends by turns (the largest first)."""

    LARGEST = "largest"
    MAGNITUDE = "largest by magnitude"
    ENDS = "both ends"

    def order(self, values: Array) -> Array:
        """Indices of the ascending `values`, the most wanted first."""
        n = values.size
        if self is Wanted.LARGEST:
            return np.arange(n)[::-1]
        if self is Wanted.MAGNITUDE:
            return np.argsort(-np.abs(values), kind="stable")
        turns = np.empty(n, int)
        turns[0::2] = np.arange(n)[::-1][: (n + 1) // 2]
        turns[1::2] = np.arange(n)[: n // 2]
        return turns

    def window(self, found: Array) -> tuple[float, float]:
        """(l, h) such that a further eigenvalue would be wanted below l or above h; `found` in the order of `order`."""
        if self is Wanted.LARGEST:
            return -math.inf, float(found.min())
        if self is Wanted.MAGNITUDE:
            edge = float(np.abs(found).min())
            return -edge, edge
        return float(found[1::2].max(initial=-math.inf)), float(found[0::2].min())
