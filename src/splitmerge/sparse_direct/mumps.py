"""MUMPS by python-mumps: real matrices, definite and indefinite."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..linalg.rounding import pivot_threshold
from ..typing import Array

# Its error for a singular matrix, by its pattern and by its numbers.
SINGULAR = (-6, -10)
# Pivots of less than this part of their column are put off.
THRESHOLD = 0.01


class Mumps:
    """MUMPS's factors of S K S, S a diagonal matrix of `scales`."""

    name = "MUMPS"

    def __init__(self, context: Any, scales: Array | None) -> None:
        self.context, self.scales = context, scales
        instance = context.mumps_instance
        self.negative = int(instance.infog[12])
        # the least pivot of a matrix with ones on its diagonal; 0 in versions that do not tell it
        self.least = float(instance.rinfog[19])

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        if self.scales is None:
            return np.asarray(self.context.solve(b))
        scales = self.scales if b.ndim == 1 else self.scales[:, None]
        return np.asarray(scales * self.context.solve(scales * b))


def definite(B: Any) -> Mumps | None:
    """Factors of B; None where B is not clearly positive definite or MUMPS is not installed."""
    diagonal = B.diagonal()
    if not (diagonal > 0).all():
        return None
    scales = 1 / np.sqrt(diagonal)
    S = sp.diags_array(scales)
    factors = _factors(S @ B @ S, 0.0, scales)
    clear = factors is not None and factors.negative == 0 and factors.least > pivot_threshold(B.shape[0], B.dtype)
    return factors if clear else None


def indefinite(K: Any) -> Mumps | None:
    """Factors of K with pivoting; None where K is singular or MUMPS is not installed."""
    return _factors(K, THRESHOLD, None)


def _factors(K: Any, threshold: float, scales: Array | None) -> Mumps | None:
    try:
        import mumps
    except ImportError:
        return None
    context = mumps.Context()
    context.set_matrix(K, symmetric=True)
    if scales is not None:
        # no scaling and no pairing of rows of its own
        context.mumps_instance.icntl[8], context.mumps_instance.icntl[12] = 0, 1
    try:
        context.factor(pivot_tol=threshold)
    except mumps.MUMPSError as error:
        if error.error not in SINGULAR:
            raise
        return None
    return Mumps(context, scales)
