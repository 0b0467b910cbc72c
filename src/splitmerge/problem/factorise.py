"""Factorisations of the entries of a pair and its combinations."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from ..errors import NotPositiveDefinite
from ..linalg.cholesky import DenseFactor
from ..linalg.ldl import DenseShifted
from ..linalg.rounding import ROUNDING_UNITS
from ..sparse_direct.cholesky import SparseFactor
from ..sparse_direct.ldl import SparseShifted
from ..sparse_direct.protocol import Factors
from ..typing import Array
from .operator import Operator

# Columns of A and B combined at a time, in their own precision.
COMBINED_COLUMNS = 64
# Up to this n, a dense factorisation with pivoting counts where a sparse one does not.
MAX_PIVOTED_N = 1000


def factorise(B: Operator, *, triangular: bool = False, known: Factors | None = None) -> DenseFactor | SparseFactor:
    """Factorise the entries of B, or raise `NotPositiveDefinite` naming the pivot; `triangular`: L is wanted, too.

    `known` are factors of a sparse B.
    """
    if B.matrix is None:
        raise ValueError("a factorisation needs the entries of B; for an operator use ConjugateGradient")
    return DenseFactor(B.matrix) if B.kind == "dense" else SparseFactor(B.matrix, triangular=triangular, known=known)


def is_definite(B: Operator) -> bool:
    """Has B, which has entries, a Cholesky factorisation?"""
    try:
        factorise(B)
    except NotPositiveDefinite:
        return False
    return True


def shifted_factor(K: Operator, known: object = None) -> DenseShifted | SparseShifted:
    """Factorise an indefinite matrix; ZeroDivisionError when it is exactly singular.

    `known` is the solver of a matrix with about the same pattern: a sparse factor lends its order.
    """
    if K.entries is not None:
        # another class with the same attributes
        return K.entries.factorised()  # type: ignore[no-any-return]
    if K.kind == "dense":
        return DenseShifted(K.matrix)
    if isinstance(known, SparseFactor):
        return SparseShifted(K.matrix, known.factors, reorder=not known.orders(K.matrix))
    return SparseShifted(K.matrix, known.lu if isinstance(known, SparseShifted) else None)


def counting_factor(K: Operator, known: object = None) -> DenseShifted | SparseShifted:
    """`shifted_factor` for an inertia count.

    Without pivoting, small pivots on the diagonal of a sparse K may spoil the factors far from every eigenvalue.
    """
    factor = shifted_factor(K, known)
    spoilt = factor.negative is None or factor.backward_error > ROUNDING_UNITS
    pivoted = spoilt and K.kind == "sparse" and K.n <= MAX_PIVOTED_N
    return DenseShifted(K.matrix.toarray(order="F")) if pivoted else factor


def deflated_cholesky(
    A: Array, B: Array | None, tau: float, G: Array, *, above: bool, memory: Array | None = None
) -> Array | None:
    """L with LLᴴ = τB − A + GGᴴ (A − τB + GGᴴ unless `above`), in the precision of G; None if that is indefinite.

    One that exists shows that at most as many eigenvalues as G has columns are above τ (below it). B = None is the
    identity; `memory` (n² numbers of any dtype) may be overwritten.
    """
    dtype, sign = G.dtype, 1.0 if above else -1.0
    M = _combination(A, B, sign, tau, dtype, memory)
    if G.shape[1]:
        (rank_k,) = get_blas_funcs(("herk" if dtype.kind == "c" else "syrk",), dtype=dtype)
        M = rank_k(1.0, G, beta=1.0, c=M, overwrite_c=1, lower=1)
    potrf: Any = get_lapack_funcs("potrf", dtype=dtype)
    L, info = potrf(M, lower=1, clean=0, overwrite_a=1)
    return np.asarray(L) if info == 0 else None


def _combination(
    A: Array, B: Array | None, sign: float, tau: float, dtype: np.dtype[Any], memory: Array | None
) -> Array:
    """sign (τB − A), in this memory if there is some."""
    n = A.shape[0]
    if B is None:
        M = np.multiply(A, -sign, order="F", dtype=dtype, casting="same_kind")
        M.flat[:: n + 1] += sign * tau
        return np.asarray(M)
    flat = np.empty(n * n, dtype) if memory is None else memory.view(dtype)
    M = flat[: n * n].reshape((n, n), order="F")
    room = np.empty((n, COMBINED_COLUMNS), np.result_type(A, B), order="F")
    for first in range(0, n, COMBINED_COLUMNS):
        some = slice(first, min(first + COMBINED_COLUMNS, n))
        part = room[:, : some.stop - first]
        np.multiply(B[:, some], sign * tau, out=part)
        (np.subtract if sign > 0 else np.add)(part, A[:, some], out=part)
        M[:, some] = part
    return M
