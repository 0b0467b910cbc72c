"""Residuals and error norms of Ritz pairs, recomputed from A and B in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from ..errors import OutOfTime
from ..linalg.cholesky import DenseFactor
from ..linalg.ldl import DenseShifted
from ..linalg.reductions import column_dots, column_norms, gram, vdot
from ..linalg.rounding import Scale, relative
from ..problem.products import Products
from ..run.iteration import RitzBlock
from ..sparse_direct.ldl import SparseShifted
from ..transforms import ShiftInvert
from ..typing import Array

# Numbers and columns that are processed at a time: their products then take less memory than the basis they come from.
NUMBERS_AT_A_TIME, MIN_COLUMNS_AT_A_TIME = 2**13, 4
# A solve that leaves less than this fraction of its right-hand side determines rᴴB⁻¹r.
SOLVED_FRACTION = 2e-5


@dataclass
class Pairs:
    """Pairs of the scaled pencil, B-orthonormal and best first; values are not shifted.

    `residuals` are as `Solution` defines them, `rounding` is the level that rounding alone may leave. Each value is
    within `deltas` of an eigenvalue; `noise` is the part of it that is due to rounding. `gaps` are the distances of the
    values to the eigenvalues that are not among these, as far as they are known. With `sigma`, `gaps` are those of
    1/(λ − σ), whose vectors these are. `spare` are vectors that would come next.
    """

    values: Array
    vectors: Array
    residuals: Array
    rounding: Array
    deltas: Array
    noise: Array
    scale: Scale
    gaps: Array | None = None
    spare: Array | None = None
    sigma: float | None = None


def measured(products: Products, block: RitzBlock, transform: ShiftInvert | None) -> Pairs:
    """The pairs of a Ritz block with recomputed residuals; `transform` is the shift-invert one that they come from."""
    values, X, deltas = block.values, block.vectors, block.deltas
    if block.order is not None:
        values, X = _refined(products, block.values, X, block.order)
        deltas = None if deltas is None else deltas + np.abs(values - block.values)
    if transform is not None and isinstance(transform.factor, (DenseShifted, SparseShifted)):
        # the errors that the iteration knows are those of an inverse, which rounding separates from A and B
        deltas = _inverse_norms(products, values, X, transform)
    pairs = _measured(products, values, X, block.scale, block.sizes, deltas)
    pairs.gaps, pairs.sigma = block.gaps, None if transform is None else transform.sigma
    return pairs


def _refined(products: Products, values: Array, X: Array, order: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Values and vectors by Rayleigh–Ritz on the span of X; the given ones where B is not definite on it."""
    try:
        return rayleigh_ritz(products, X, order)
    except np.linalg.LinAlgError:
        # their residuals will show what they are worth
        return values, X


def rayleigh_ritz(products: Products, X: Array, order: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Rayleigh–Ritz on the span of X in double precision; `order` ranks ascending values, best first.

    A pair (B, ±(A − σB)) may be dominated by a few eigenvalues, of which rounding leaves components in all other
    vectors: there the projection is made for (±(A − σB), B), where none dominates, and the largest come first.
    """
    X = X.astype(np.result_type(products.dtype, np.float64))
    AX, BX = products.monitoring.in_double(X)
    H, G = _hermitian(gram(X, AX)), _hermitian(gram(X, BX))
    if products.pencil.inverse is None:
        values, C = eigh(H, G)
        chosen = order(values)
        return values[chosen], X @ C[:, chosen]
    _, C = eigh(G, H)
    X, AX, BX = X @ C, AX @ C, BX @ C
    squares = np.maximum(column_dots(X, BX), np.finfo(float).tiny)
    values = column_dots(X, AX) / squares
    chosen = np.argsort(-values, kind="stable")
    return values[chosen], (X / np.sqrt(squares))[:, chosen]


def _measured(
    products: Products, values: Array, vectors: Array, scale: Scale, sizes: Array | None, deltas: Array | None
) -> Pairs:
    """The residuals of these pairs, relative to `sizes` (to the shifted values when not given).

    Unless they are known, the `deltas` are √(rᴴB⁻¹r) for r = Au − λBu, plus an allowance for the rounding of r.
    """
    # the result may be rounded to single precision, so the rounded vectors are verified
    vectors = vectors.astype(products.dtype, copy=False).astype(np.result_type(products.dtype, np.float64), copy=False)
    shifted = (values + scale.shift).tolist()
    if sizes is None:
        sizes = np.array([scale.magnitude(value) for value in shifted])
    norms = np.zeros((values.size, 4))
    step = max(NUMBERS_AT_A_TIME // products.n, MIN_COLUMNS_AT_A_TIME)
    for i in range(0, values.size, step):
        some = slice(i, i + step)
        norms[some] = _norms(products, values[some], vectors[:, some], solve=deltas is None)
    errors, lengths, scales = norms[:, 0], norms[:, 1], norms[:, 2] * sizes
    residuals = [relative(*pair) for pair in zip(errors.tolist(), scales.tolist(), strict=True)]
    rounding = [
        scale.rounding_level(*triple) for triple in zip(shifted, lengths.tolist(), scales.tolist(), strict=True)
    ]
    noise = scale.perturbation(values, lengths)
    deltas = (norms[:, 3] if deltas is None else deltas) + noise
    return Pairs(values, vectors, np.array(residuals), np.array(rounding), deltas, noise, scale)


def _inverse_norms(products: Products, values: Array, X: Array, transform: ShiftInvert) -> Array:
    """|λ − σ| √(wᴴBw) for w = (A − σB)⁻¹(Ax − λBx): the distance of an eigenvalue from λ, to first order."""
    monitoring = products.monitoring
    AX, BX = monitoring.in_double(X.astype(np.result_type(products.dtype, np.float64)))
    norms = np.zeros(values.size)
    for i, r in enumerate((AX - BX * values).T.astype(products.dtype)):
        w = monitoring.solve_K(transform.factor, np.ascontiguousarray(r))
        norms[i] = math.sqrt(max(float(vdot(w, monitoring.apply_B(w)).real), 0.0))
    return np.asarray(np.abs(values - transform.sigma) * norms)


def _norms(products: Products, values: Array, X: Array, *, solve: bool) -> Array:
    """‖r‖, ‖x‖, ‖Bx‖ and, if asked for, √(rᴴB⁻¹r) for each pair."""
    monitoring = products.monitoring
    R, BX = monitoring.in_double(X)
    for i, value in enumerate(values.tolist()):
        R[:, i] -= value * BX[:, i]
    norms = np.zeros((values.size, 4))
    for i, M in enumerate((R, X, BX)):
        norms[:, i] = column_norms(M)
    if solve and isinstance(products.solver, DenseFactor):
        monitoring.tally.B_solves += values.size
        norms[:, 3] = products.solver.dual_norms(R.astype(products.dtype, copy=False))
    elif solve:
        norms[:, 3] = _dual_norms(monitoring, R.astype(products.dtype, copy=False))
    return norms


def _dual_norms(products: Products, R: Array) -> Array:
    """√(rᴴB⁻¹r) for columns; infinite where conjugate gradients do not converge, as they approach it from below."""
    try:
        products.budget.check()
        W, BW = products.solves_B(R)
    except OutOfTime:
        return np.full(R.shape[1], math.inf)
    squares = column_dots(R, W).astype(np.float64)
    left, sizes = column_norms(R - BW), column_norms(R)
    solved = left <= SOLVED_FRACTION * sizes + 100 * products.eps * column_norms(BW)
    return np.where(solved, np.sqrt(np.maximum(squares, 0.0)), math.inf)


def _hermitian(H: Array) -> Array:
    return (H + H.conj().T) / 2
