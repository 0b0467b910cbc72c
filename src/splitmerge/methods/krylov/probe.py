"""What a probe of the complement has seen, and what it may not have seen yet."""

from __future__ import annotations

import math

import numpy as np

from ...typing import Array


def outside(values: Array, low: float, high: float) -> int:
    """How many values are below `low` or above `high`."""
    return int(((values < low) | (values > high)).sum())


def unseen_distance(steps: int, n: int, spread: float) -> float:
    """How far beyond its Ritz values an eigenvalue may lie after this many steps, except for one start in a thousand.

    By the bound of Kuczyński and Woźniakowski (see `largest_eigenvalue`).
    """
    root = math.log(1.648e3 * math.sqrt(n)) / (2 * steps - 1)
    return spread * root**2 / (1 - root**2) if root < 1 else math.inf


def unless_converged(values: Array, errors: Array, tol: float, unseen: float) -> Array:
    """The residual norms, but at least `unseen` where they are above this fraction of the values."""
    return np.where(errors <= tol * np.abs(values), errors, np.maximum(errors, unseen))
