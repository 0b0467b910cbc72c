"""Pairs judged by products computed afresh from A and B, in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from ..errors import OutOfTime
from ..linalg.cholesky import DenseFactor
from ..linalg.reductions import column_dots, column_norms
from ..objective.state import magnitude, relative, rounding_level
from ..problem.pencil import Pencil
from ..problem.target import Wanted
from ..transforms.shift_invert import Inverted
from ..typing import Array

# So many numbers are judged at a time, and no fewer than so many columns: their products then take less memory than the
# basis that they come from, and not more time than it takes to call for them.
NUMBERS, COLUMNS = 2**13, 4

# A solve that leaves less than this of its right-hand side tells rᴴB⁻¹r.
ARRIVED = 2e-5


@dataclass
class Pairs:
    """Pairs of the scaled pencil, B-orthonormal and best first: values are not shifted.

    `residuals` are as `Solution` defines them, `rounding` is what rounding alone may leave of them. Each value is
    within `deltas` of an eigenvalue; `noise` is the part of it that is due to rounding. `gaps` are the distances
    of the values to the eigenvalues that are not among these, as far as they are known. `spare` holds some vectors that
    would come next, as good as they are. With `sigma`, `gaps` are those of 1/(λ − σ), whose vectors these are.
    """

    values: Array
    vectors: Array
    residuals: Array
    rounding: Array
    deltas: Array
    noise: Array
    gaps: Array | None = None
    spare: Array | None = None
    sigma: float | None = None


def verify(pencil: Pencil, X: Array) -> Pairs:
    """Rayleigh–Ritz on the span of X, the largest first, and its judgement."""
    return judge(pencil, *rayleigh_ritz(pencil, X, Wanted.LARGEST.order))


def refine(pencil: Pencil, values: Array, X: Array, order: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Values and vectors by Rayleigh–Ritz on the span of X; the given ones where B is no inner product on it."""
    try:
        return rayleigh_ritz(pencil, X, order)
    except np.linalg.LinAlgError:
        # what these are worth, their residuals will tell
        return values, X


def rayleigh_ritz(pencil: Pencil, X: Array, order: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Rayleigh–Ritz on the span of X in double precision; `order` gives the indices of ascending values, best first.

    A pair (B, ±(A − σB)) may be dominated by a few values, of which rounding has left something in all other vectors:
    there it is made for (±(A − σB), B), where none dominates, and the largest come first.
    """
    X = X.astype(np.result_type(pencil.dtype, np.float64))
    AX, BX = pencil.products_in_double(X)
    H, G = _hermitian(X.conj().T @ AX), _hermitian(X.conj().T @ BX)
    if pencil.inverse is None:
        values, C = eigh(H, G)
        chosen = order(values)
        return values[chosen], X @ C[:, chosen]
    _, C = eigh(G, H)
    X, AX, BX = X @ C, AX @ C, BX @ C
    squares = np.maximum(column_dots(X, BX), np.finfo(float).tiny)
    values = column_dots(X, AX) / squares
    chosen = np.argsort(-values, kind="stable")
    return values[chosen], (X / np.sqrt(squares))[:, chosen]


def judge(
    pencil: Pencil, values: Array, vectors: Array, sizes: Array | None = None, deltas: Array | None = None
) -> Pairs:
    """The residuals of these pairs, relative to `sizes` (to the shifted values when not given).

    Unless they are known, the `deltas` are √(rᴴB⁻¹r) for r = Au − λBu, with an allowance for the rounding of r.
    """
    # what the user gets may be rounded to single precision, so that is what must be judged
    vectors = vectors.astype(pencil.dtype, copy=False).astype(np.result_type(pencil.dtype, np.float64), copy=False)
    shifted = (values + pencil.shift).tolist()
    if sizes is None:
        sizes = np.array([magnitude(pencil, value) for value in shifted])
    norms = np.zeros((values.size, 4))
    step = max(NUMBERS // pencil.n, COLUMNS)
    for i in range(0, values.size, step):
        some = slice(i, i + step)
        norms[some] = _norms(pencil, values[some], vectors[:, some], solve=deltas is None)
    errors, lengths, scales = norms[:, 0], norms[:, 1], norms[:, 2] * sizes
    residuals = [relative(*pair) for pair in zip(errors.tolist(), scales.tolist(), strict=True)]
    rounding = [
        rounding_level(pencil, *triple) for triple in zip(shifted, lengths.tolist(), scales.tolist(), strict=True)
    ]
    noise = pencil.rounding_of(values, lengths)
    deltas = (norms[:, 3] if deltas is None else deltas) + noise
    return Pairs(values, vectors, np.array(residuals), np.array(rounding), deltas, noise)


def inverse_norms(pencil: Pencil, values: Array, X: Array, domain: Inverted) -> Array:
    """|λ − σ| √(wᴴBw) for w = (A − σB)⁻¹(Ax − λBx): as far as that an eigenvalue may be from λ, to first order."""
    AX, BX = pencil.products_in_double(X.astype(np.result_type(pencil.dtype, np.float64)))
    norms = np.zeros(values.size)
    with pencil.counting(pencil.counts.monitoring):
        for i, r in enumerate((AX - BX * values).T.astype(pencil.dtype)):
            w = pencil.solve_K(domain.factor, np.ascontiguousarray(r))
            norms[i] = math.sqrt(max(float(np.vdot(w, pencil.apply_B(w)).real), 0.0))
    return np.asarray(np.abs(values - domain.sigma) * norms)


def _norms(pencil: Pencil, values: Array, X: Array, *, solve: bool) -> Array:
    """For each column x with r = Ax − λBx the norms ‖r‖, ‖x‖, ‖Bx‖ and √(rᴴB⁻¹r) (0 without `solve`)."""
    R, BX = pencil.products_in_double(X)
    for i, value in enumerate(values.tolist()):
        R[:, i] -= value * BX[:, i]
    norms = np.zeros((values.size, 4))
    for i, M in enumerate((R, X, BX)):
        norms[:, i] = column_norms(M)
    if solve and isinstance(pencil.solver, DenseFactor):
        pencil.counts.monitoring.B_solves += values.size
        norms[:, 3] = pencil.solver.dual_norms(R.astype(pencil.dtype, copy=False))
    elif solve:
        norms[:, 3] = _dual_norms(pencil, R.astype(pencil.dtype, copy=False))
    return norms


def _dual_norms(pencil: Pencil, R: Array) -> Array:
    """√(rᴴB⁻¹r) for columns; infinite where conjugate gradients do not get there, as they approach it from below."""
    try:
        pencil.mind_the_time()
        with pencil.counting(pencil.counts.monitoring):
            W, BW = pencil.solves_B(R)
    except OutOfTime:
        return np.full(R.shape[1], math.inf)
    squares = column_dots(R, W).astype(np.float64)
    left, sizes = column_norms(R - BW), column_norms(R)
    arrived = left <= ARRIVED * sizes + 100 * pencil.eps * column_norms(BW)
    return np.where(arrived, np.sqrt(np.maximum(squares, 0.0)), math.inf)


def _hermitian(H: Array) -> Array:
    return (H + H.conj().T) / 2
