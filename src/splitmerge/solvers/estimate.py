"""Estimates that take solves with B."""

from __future__ import annotations

import numpy as np

from ..linalg.reductions import norm
from ..problem.products import Products

# Steps of inverse iteration that estimate ‖B⁻¹‖.
INVERSE_ITERATION_STEPS = 3


def inverse_norm(products: Products) -> float:
    """‖B⁻¹‖, estimated by a few steps of inverse iteration; the solves are counted as monitoring."""
    x = np.random.default_rng(0).standard_normal(products.n).astype(products.dtype)
    monitoring = products.monitoring
    for _ in range(INVERSE_ITERATION_STEPS):
        x, _ = monitoring.solve_B(x / norm(x))
    return norm(x)
