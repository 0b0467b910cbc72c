"""What a probe of the complement has seen, and what it may not have seen yet."""

from __future__ import annotations

import math

import numpy as np

from ..typing import Array

# A Ritz vector near two eigenvectors whose eigenvalues are g apart has a residual norm of up to g/2. It is above
# g/HIDDEN_RESIDUALS except for one random start in about HIDDEN_RESIDUALS.
HIDDEN_RESIDUALS = 1e3


def outside(values: Array, low: float, high: float) -> int:
    """How many values are below `low` or above `high`."""
    return int(((values < low) | (values > high)).sum())


def unseen_distance(steps: int, n: int, spread: float) -> float:
    """How far beyond its Ritz values an eigenvalue may lie after this many steps, except for one start in a thousand.

    By the bound of Kuczyński and Woźniakowski (see `largest_eigenvalue`).
    """
    root = math.log(1.648e3 * math.sqrt(n)) / (2 * steps - 1)
    return spread * root**2 / (1 - root**2) if root < 1 else math.inf


def unless_converged(values: Array, errors: Array, tol: float, unseen: float) -> tuple[Array, Array]:
    """The errors of Ritz values, and how far from them an eigenvalue may lie that they hide.

    The former are the residual norms, but at least `unseen` where they are above the fraction `tol` of the values.
    """
    converged = errors <= tol * np.abs(values)
    doubt = np.where(converged, errors, np.maximum(errors, unseen))
    return doubt, np.where(converged, HIDDEN_RESIDUALS * errors, doubt)
