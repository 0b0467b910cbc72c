"""Factorisations of a Hermitian positive definite matrix, with the check that it is one."""

from __future__ import annotations

from ..errors import NotPositiveDefinite
from ..linalg.cholesky import DenseFactor
from ..linalg.ldl import DenseShifted
from ..sparse_direct.cholesky import SparseFactor
from ..sparse_direct.ldl import SparseShifted
from ..sparse_direct.protocol import Factors
from .operator import Operator


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
