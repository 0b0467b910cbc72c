"""Are the pairs that a search has found all the wanted ones? A Cholesky factorisation tells."""

from __future__ import annotations

import numpy as np

from ..linalg.blas import kernels
from ..linalg.reductions import norm, random_vector
from ..linalg.rounding import Scale, narrowed, precision
from ..solvers.estimate import INVERSE_ITERATION_STEPS, resolution_of
from ..typing import Array
from ..verification.inertia import clear_gap, definite_without
from .found import Found
from .plain import Plain


def clearance(
    plain: Plain, found: Found, deltas: list[float], following: float, scale: Scale, *, above: bool
) -> float | None:
    """How far beyond the last pair nothing else is; None where something is there, or rounding does not let it show.

    Each value is within its delta of an eigenvalue, and `following` estimates the next one.
    """
    values = np.array(found.values)
    X, BX = ((rows / np.array(found.roots)[:, None]).T for rows in (found.vectors, found.images))
    longest = max(float(np.linalg.norm(X, axis=0).max()), _inverse_norm(plain) ** 0.5)
    rounding = resolution_of(scale, longest, abs(float(values[-1])))
    for dtype in (narrowed(plain.A.dtype), plain.A.dtype):
        units = precision(dtype) / precision(plain.A.dtype)
        gap = clear_gap(values, np.array(deltas), following, units * rounding, above=above)
        if gap is not None:
            empty = definite_without(plain.A, plain.B, BX, values, gap.tau, dtype, above=above)
            return gap.clearance if empty else None
    return None


def _inverse_norm(plain: Plain) -> float:
    """‖B⁻¹‖, estimated as in the pipeline."""
    if plain.L is None:
        return 1.0
    x: Array = random_vector(plain.A.shape[0], plain.A.dtype, np.random.default_rng(0))
    trsv = kernels(x.dtype).trsv
    for _ in range(INVERSE_ITERATION_STEPS):
        x = trsv(plain.L, trsv(plain.L, x / norm(x), lower=1), lower=1, trans=2, overwrite_x=1)
    return norm(x)
