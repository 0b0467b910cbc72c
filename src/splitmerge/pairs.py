"""Pairs judged by products computed afresh from A and B, in double precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from .kernels import Array
from .pencil import Pencil
from .state import magnitude, relative, rounding_level


@dataclass
class Pairs:
    """Pairs of the scaled pencil, B-orthonormal and best first: values are not shifted.

    `residuals` are as `Solution` defines them, `rounding` is what rounding alone may leave of them. Each value is
    within `deltas` of an eigenvalue; `noise` is the part of it that is due to rounding. `beyond` is the best value that
    is not among these, as far as it is known.
    """

    values: Array
    vectors: Array
    residuals: Array
    rounding: Array
    deltas: Array
    noise: Array
    beyond: float | None = None


def verify(pencil: Pencil, X: Array) -> Pairs:
    """Rayleigh–Ritz on the span of X in double precision, best first."""
    X = X.astype(np.result_type(pencil.dtype, np.float64))
    AX, BX = pencil.products_in_double(X)
    values, C = eigh(_hermitian(X.conj().T @ AX), _hermitian(X.conj().T @ BX))
    return judge(pencil, values[::-1], X @ C[:, ::-1])


def judge(
    pencil: Pencil, values: Array, vectors: Array, sizes: Array | None = None, deltas: Array | None = None
) -> Pairs:
    """The residuals of these pairs, relative to `sizes` (to the shifted values when not given).

    Unless they are known, the `deltas` are √(rᴴB⁻¹r) for r = Au − λBu, with an allowance for the rounding of r.
    """
    # what the user gets may be rounded to single precision, so that is what must be judged
    vectors = vectors.astype(pencil.dtype).astype(np.result_type(pencil.dtype, np.float64))
    AX, BX = pencil.products_in_double(vectors)
    errors = AX - BX * values
    if sizes is None:
        sizes = np.array([magnitude(pencil, value) for value in (values + pencil.shift).tolist()])
    lengths, B_lengths = np.linalg.norm(vectors, axis=0), np.linalg.norm(BX, axis=0)
    scales = sizes * B_lengths
    residuals = [relative(*pair) for pair in zip(np.linalg.norm(errors, axis=0).tolist(), scales.tolist(), strict=True)]
    rounding = [
        rounding_level(pencil, *pair)
        for pair in zip((values + pencil.shift).tolist(), lengths.tolist(), scales.tolist(), strict=True)
    ]
    if deltas is None:
        deltas = _dual_norms(pencil, errors.astype(pencil.dtype))
    noise = pencil.rounding_of(values, lengths)
    return Pairs(values, vectors, np.array(residuals), np.array(rounding), deltas + noise, noise)


def _dual_norms(pencil: Pencil, R: Array) -> Array:
    """√(rᴴB⁻¹r) for each column r."""
    norms = []
    with pencil.counting(pencil.counts.monitoring):
        for r in R.T:
            r = np.ascontiguousarray(r)
            w, _ = pencil.solve_B(r)
            norms.append(max(float(np.vdot(r, w).real), 0.0) ** 0.5)
    return np.array(norms)


def _hermitian(H: Array) -> Array:
    return (H + H.conj().T) / 2
