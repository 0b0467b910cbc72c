"""Estimates that take solves with B."""

from __future__ import annotations

import numpy as np

from ..linalg import csr
from ..linalg.reductions import norm
from ..problem.operator import Operator
from ..problem.products import Products, ShiftedSolver

# Steps of inverse iteration that estimate ‖B⁻¹‖.
INVERSE_ITERATION_STEPS = 3
# A matrix is singular to working precision if eps times its condition exceeds this.
SINGULAR_FRACTION = 0.1


def inverse_norm(products: Products) -> float:
    """‖B⁻¹‖, estimated by a few steps of inverse iteration; the solves are counted as monitoring."""
    x = np.random.default_rng(0).standard_normal(products.n).astype(products.dtype)
    monitoring = products.monitoring
    for _ in range(INVERSE_ITERATION_STEPS):
        x, _ = monitoring.solve_B(x / norm(x))
    return norm(x)


def is_singular(K: Operator, factor: ShiftedSolver) -> bool:
    """Is K, which `factor` solves with, singular to working precision however its rows are scaled?

    Inverse iteration with DKD, whose rows have sums of about 1.
    """
    sizes = csr.row_sums(K.matrix) if K.kind == "sparse" else np.abs(K.matrix).sum(axis=1)
    roots = np.sqrt(np.where(sizes > 0, sizes, 1.0)).astype(np.empty(0, K.dtype).real.dtype)
    x = np.random.default_rng(1).standard_normal(K.n).astype(K.dtype)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(2):
            x = roots * factor.solve(np.asarray(roots * (x / norm(x)), dtype=K.dtype))
        growth = norm(x)
    return not growth * float(np.finfo(K.dtype).eps) < SINGULAR_FRACTION
