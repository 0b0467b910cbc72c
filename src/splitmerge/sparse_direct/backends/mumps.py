"""MUMPS via python-mumps: real symmetric matrices, definite and indefinite."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...linalg.rounding import pivot_threshold
from ...typing import Array

# MUMPS error codes for a structurally and a numerically singular matrix.
SINGULAR_ERROR_CODES = (-6, -10)
# Threshold pivoting: pivots below this fraction of the largest entry of their column are delayed.
RELATIVE_PIVOT_THRESHOLD = 0.01


class Mumps:
    """MUMPS factors of S K S, where S is the diagonal matrix of `scales`."""

    name = "MUMPS"

    def __init__(self, context: Any, scales: Array | None) -> None:
        self.context, self.scales = context, scales
        instance = context.mumps_instance
        self.negative = int(instance.infog[12])
        # smallest pivot of a matrix with unit diagonal; 0 in MUMPS versions that do not report it
        self.least = float(instance.rinfog[19])

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        if self.scales is None:
            return np.asarray(self.context.solve(b))
        scales = self.scales if b.ndim == 1 else self.scales[:, None]
        return np.asarray(scales * self.context.solve(scales * b))


def definite(B: Any) -> Mumps | None:
    """Factors of B; None if B is not clearly positive definite or python-mumps is not installed."""
    diagonal = B.diagonal()
    if not (diagonal > 0).all():
        return None
    scales = 1 / np.sqrt(diagonal)
    S = sp.diags_array(scales)
    factors = _factors(S @ B @ S, 0.0, scales)
    clear = factors is not None and factors.negative == 0 and factors.least > pivot_threshold(B.shape[0], B.dtype)
    return factors if clear else None


def indefinite(K: Any) -> Mumps | None:
    """Factors of K with pivoting; None if K is singular or python-mumps is not installed."""
    return _factors(K, RELATIVE_PIVOT_THRESHOLD, None)


def _factors(K: Any, threshold: float, scales: Array | None) -> Mumps | None:
    try:
        import mumps
    except ImportError:
        return None
    context = mumps.Context()
    context.set_matrix(K, symmetric=True)
    if scales is not None:
        # disable MUMPS's scaling (ICNTL(8)) and its ordering with 2×2 pivots (ICNTL(12)): the matrix is scaled already
        context.mumps_instance.icntl[8], context.mumps_instance.icntl[12] = 0, 1
    try:
        context.factor(pivot_tol=threshold)
    except mumps.MUMPSError as error:
        if error.error not in SINGULAR_ERROR_CODES:
            raise
        return None
    return Mumps(context, scales)
