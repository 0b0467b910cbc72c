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


def standing(A: Any, M: Any, values: Array, vectors: Array, tol: float) -> Array:
    """Which pairs of (A, M) meet ‖Av − λMv‖ ≤ tol |λ|‖Mv‖, or what rounding allows? Infinite values are not checked."""
    left = as_dense(adapt(A, "A"))
    right = None if M is None else as_dense(adapt(M, "M"))
    finite = np.isfinite(values)
    values = np.where(finite, values, 0.0)
    scale = 1.0 if right is None else right.scale
    MV = vectors if right is None else right.matrix @ vectors / scale
    errors = norms(left.matrix @ vectors / left.scale - MV * values)
    sizes = abs(left.norm / left.scale) + np.abs(values) * (1.0 if right is None else abs(right.norm / scale))
    floors = LAPACK_UNITS * float(np.finfo(left.dtype).eps) * sizes * norms(vectors)
    return np.asarray((errors <= np.maximum(tol * np.abs(values) * norms(MV), floors)) | ~finite)
