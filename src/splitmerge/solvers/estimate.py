"""Estimates that take solves with B."""

from __future__ import annotations

import numpy as np

from ..linalg import csr
from ..linalg.reductions import norm, norms
from ..linalg.rounding import Scale
from ..problem.operator import Operator
from ..problem.products import Products, ShiftedSolver
from ..problem.start import random_vector
from ..typing import Array

# Steps of inverse iteration that estimate ‖B⁻¹‖.
INVERSE_ITERATION_STEPS = 3
# A matrix is singular to working precision if eps times its condition exceeds this.
SINGULAR_FRACTION = 0.1


def inverse_norm(products: Products) -> float:
    """‖B⁻¹‖, estimated by a few steps of inverse iteration; the solves are counted as monitoring."""
    x = random_vector(products, np.random.default_rng(0))
    monitoring = products.monitoring
    for _ in range(INVERSE_ITERATION_STEPS):
        x, _ = monitoring.solve_B(x / norm(x))
    return norm(x)


def longest_vector(products: Products, X: Array) -> float:
    """The Euclidean norm of the longest vector of B-norm 1, ‖B⁻¹‖^½; where that is not known, of those in X."""
    longest = float(norms(X).max())
    if products.B is not None and products.solver is not None:
        longest = max(longest, inverse_norm(products) ** 0.5)
    return longest


def resolution(products: Products, longest: float, size: float) -> float:
    """How far from an eigenvalue a τ of this size must be for rounding in A − τB not to change the inertia.

    As `Scale.perturbation`, but for the `longest_vector`.
    """
    return resolution_of(products.scale, longest, size)


def resolution_of(scale: Scale, longest: float, size: float) -> float:
    """The `resolution` of a pair with this scale."""
    return 4 * float(scale.perturbation(np.array([size]), np.array([longest]))[0])


def is_singular(K: Operator, factor: ShiftedSolver) -> bool:
    """Is K, which `factor` solves with, singular to working precision however its rows are scaled?

    Inverse iteration with DKD, whose rows have sums of about 1.
    """
    sizes = _row_sizes(K)
    roots = np.sqrt(np.where(sizes > 0, sizes, 1.0)).astype(np.empty(0, K.dtype).real.dtype)
    x = random_vector(K, np.random.default_rng(1))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(2):
            x = roots * factor.solve(np.asarray(roots * (x / norm(x)), dtype=K.dtype))
        growth = norm(x)
    return not growth * float(np.finfo(K.dtype).eps) < SINGULAR_FRACTION


def _row_sizes(K: Operator) -> Array:
    """The sums of the magnitudes of rows; of a distributed matrix the largest of them for all rows."""
    if K.matrix is None:
        return np.full(K.rows, K.norm)
    return csr.row_sums(K.matrix) if K.kind == "sparse" else np.asarray(np.abs(K.matrix).sum(axis=1))
