"""Factorisations of a Hermitian positive definite matrix, with the check that it is one."""

from __future__ import annotations

from ..errors import NotPositiveDefinite
from ..linalg.cholesky import DenseFactor
from ..linalg.ldl import DenseShifted
from ..linalg.rounding import ROUNDING_UNITS
from ..sparse_direct.cholesky import SparseFactor
from ..sparse_direct.ldl import SparseShifted
from ..sparse_direct.protocol import Factors
from .operator import Operator

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
