"""Residuals of pairs from a decomposition of the whole pair, for callers without a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..linalg.reductions import norms
from ..problem.adapt import adapt
from ..problem.operator import as_dense
from ..typing import Array

# Pairs stand if their backward errors are within this many units of rounding.
LAPACK_UNITS = 100


def standing(A: Any, M: Any, values: Array, vectors: Array, tol: float, units: float = LAPACK_UNITS) -> Array:
    """Which pairs of (A, M) meet ‖Av − λMv‖ ≤ tol |λ|‖Mv‖, or what rounding allows? Infinite values are not checked.

    `units` are the units of rounding of A and λM that a residual may have.
    """
    left = as_dense(adapt(A, "A"))
    right = None if M is None else as_dense(adapt(M, "M"))
    finite = np.isfinite(values)
    # all in terms of the scaled pair and of vectors near 1, whose squares neither overflow nor underflow
    thetas = np.where(finite, values, 0.0) * left.scale / (1.0 if right is None else right.scale)
    largest = np.abs(vectors).max(axis=0)
    V = vectors / np.where(largest > 0, largest, 1.0)
    MV = V if right is None else right.matrix @ V
    errors = norms(left.matrix @ V - MV * thetas)
    sizes = left.norm + np.abs(thetas) * (1.0 if right is None else right.norm)
    floors = units * float(np.finfo(left.dtype).eps) * sizes * norms(V)
    return np.asarray((errors <= np.maximum(tol * np.abs(thetas) * norms(MV), floors)) | ~finite)
