"""Factorisations of a Hermitian positive definite matrix, with the check that it is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import get_blas_funcs, get_lapack_funcs
from scipy.sparse.linalg import splu

from .adapt import Operator
from .backends import (
    Factors,
    Triangular,
    definite_factors,
    indefinite_factors,
    rounding,
    symmetric_lu,
    triangular_factors,
)
from .errors import NotPositiveDefinite
from .kernels import Array, kernels

# Matrices of which the larger has so many times the entries of the other are taken to have one pattern.
SIMILAR = 1.2


def factorise(B: Operator, *, triangular: bool = False) -> DenseFactor | SparseFactor:
    """Factorise the entries of B, or raise `NotPositiveDefinite` naming the pivot; `triangular`: L is wanted, too."""
    if B.matrix is None:
        raise ValueError("a factorisation needs the entries of B; for an operator use ConjugateGradient")
    return DenseFactor(B.matrix) if B.kind == "dense" else SparseFactor(B.matrix, triangular=triangular)


def is_definite(B: Operator) -> bool:
    """Has B, which has entries, a Cholesky factorisation?"""
    try:
        factorise(B)
    except NotPositiveDefinite:
        return False
    return True


class DenseFactor:
    """B = UᴴU with U upper triangular: its two triangular solves are the faster ones of BLAS."""

    def __init__(self, B: Array, dtype: np.dtype[Any] | None = None) -> None:
        dtype = B.dtype if dtype is None else dtype
        potrf: Any = get_lapack_funcs("potrf", dtype=dtype)
        self.U, info = potrf(_aligned(B, dtype), lower=0, clean=1, overwrite_a=1)
        if info > 0:
            # of a narrower one nobody reads the message
            raise _not_definite(info - 1, _schur_pivot(B, info - 1) if dtype == B.dtype else 0.0)
        _check_pivots(np.abs(self.U.diagonal()) ** 2, B.diagonal().real)
        self.trsv = kernels(dtype).trsv
        self._trsm, self._trmm, self._trmv = get_blas_funcs(("trsm", "trmm", "trmv"), dtype=dtype)

    def transformed(self, A: Array) -> Array:
        """The upper triangle of U⁻ᴴAU⁻¹, in place of A."""
        reduce_: Any = get_lapack_funcs("hegst" if A.dtype.kind == "c" else "sygst", dtype=A.dtype)
        return np.asarray(reduce_(A, self.U, lower=0, overwrite_a=1)[0])

    def whitened(self, times: Callable[[Array], Array], y: Array) -> Array:
        """U⁻ᴴ A U⁻¹ y for the product `times` with A."""
        return self.trsv(self.U, times(self.trsv(self.U, y)), trans=2, overwrite_x=1)

    def whiten(self, X: Array) -> Array:
        """U X for columns X."""
        if X.shape[1] == 1:
            return np.asarray(self._trmv(self.U, X[:, 0]))[:, None]
        return np.asarray(self._trmm(1.0, self.U, X))

    def unwhiten(self, Y: Array) -> Array:
        """U⁻¹ Y for columns Y, which may be overwritten."""
        if Y.shape[1] == 1:
            return np.asarray(self.trsv(self.U, Y[:, 0]))[:, None]
        return np.asarray(self._trsm(1.0, self.U, Y, overwrite_b=1))

    def dual(self, y: Array) -> Array:
        """Uᴴy, which is B x for x = U⁻¹y."""
        return np.asarray(self._trmv(self.U, y, trans=2))

    def half_solve(self, R: Array) -> Array:
        """U⁻ᴴR for columns R, which may be overwritten."""
        if R.shape[1] == 1:
            return np.asarray(self.trsv(self.U, R[:, 0], trans=2))[:, None]
        return np.asarray(self._trsm(1.0, self.U, R, trans_a=2, overwrite_b=1))

    def dual_norms(self, R: Array) -> Array:
        """√(rᴴB⁻¹r) = ‖U⁻ᴴr‖ for each column r; R may be overwritten."""
        return np.asarray(np.linalg.norm(self.half_solve(R), axis=0))

    def solve(self, b: Array, guess: Array | None, B_guess: Array | None) -> tuple[Array, Array]:
        """w = U⁻¹U⁻ᴴb."""
        y = self.trsv(self.U, b, trans=2)
        return self.trsv(self.U, y, overwrite_x=1), b

    def solve_block(self, R: Array) -> tuple[Array, Array]:
        """The same for columns."""
        return self.unwhiten(self.half_solve(R.copy(order="F"))), R


def _aligned(M: Array, dtype: np.dtype[Any]) -> Array:
    """A copy in Fortran order that begins on a line of the cache: triangular solves are a quarter faster on it."""
    size = M.size * dtype.itemsize
    memory = np.empty(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start : start + size].view(dtype).reshape(M.shape, order="F")
    copy[...] = M
    return np.asarray(copy)


class SparseFactor:
    """Π B Πᵀ = L D Lᴴ without pivoting, in an order that keeps the fill of a symmetric matrix low.

    `least` is the least pivot beside its entry of the diagonal.
    """

    def __init__(self, B: Any, *, triangular: bool = False) -> None:
        factors: Factors | None = triangular_factors(B) if triangular else definite_factors(B)
        if factors is None:
            raise _not_definite(_zero_pivot(B), 0.0)
        if isinstance(factors, Triangular):
            _check_pivots(factors.pivots, np.abs(B.diagonal())[factors.order], factors.order)
        self.factors, self.least, self.entries = factors, factors.least, B.nnz

    def serves(self, matrix: Any) -> bool:
        """Has this sparse matrix few other entries than the one that was factorised, so that its order will do?"""
        return bool(matrix.nnz <= SIMILAR * self.entries)

    def solve(self, b: Array, guess: Array | None, B_guess: Array | None) -> tuple[Array, Array]:
        """One forward and one backward substitution."""
        return self.factors.solve(b), b

    def solve_block(self, R: Array) -> tuple[Array, Array]:
        """The same for columns, which is cheaper than one after the other."""
        return self.factors.solve(np.asfortranarray(R)), R


class DenseShifted:
    """K = L D Lᴴ with 1×1 and 2×2 pivots (Bunch and Kaufman); `negative` counts the negative eigenvalues of K."""

    def __init__(self, K: Array) -> None:
        hermitian = K.dtype.kind == "c"
        names = ("hetrf", "hetrs") if hermitian else ("sytrf", "sytrs")
        functions: Any = get_lapack_funcs(names, dtype=K.dtype)
        decompose, self._solve = functions
        self.ldl, self.pivots, info = decompose(K, lower=1, lwork=64 * K.shape[0])
        if info > 0:
            raise ZeroDivisionError
        self.negative = _negative(self.ldl.diagonal().real, self.pivots)

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        return np.asarray(self._solve(self.ldl, self.pivots, b, lower=1)[0])


def _negative(diagonal: Array, pivots: Array) -> int:
    """Negative eigenvalues of D: a 2×2 pivot of Bunch and Kaufman has one of each sign."""
    pairs = int((pivots < 0).sum()) // 2
    return pairs + int((diagonal[pivots > 0] < 0).sum())


class SparseShifted:
    """K = L D Lᴴ, refined once a solve; by LU where no such factors are accurate.

    `negative` counts the negative eigenvalues of K, None where LU has hidden the signs.
    """

    def __init__(self, K: Any, like: Factors | None = None) -> None:
        self.K = K
        self.negative: int | None = None
        for factors in indefinite_factors(K, like):
            self.lu: Any = factors
            if self._accurate():
                self.name, self.negative = factors.name, factors.negative
                return
        self.name = "SuperLU with pivoting"
        try:
            self.lu = splu(sp.csc_matrix(K))
        except RuntimeError as error:
            if "singular" not in str(error):
                raise
            raise ZeroDivisionError from None

    def _accurate(self) -> bool:
        """Does a solve with refinement leave a small residual?"""
        b = np.random.default_rng(0).standard_normal(self.K.shape[0]).astype(self.K.dtype)
        b = self.K @ b
        w = self.solve(b)
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.linalg.norm(b - self.K @ w) / np.linalg.norm(b)
        return bool(error <= 1e3 * np.finfo(self.K.dtype).eps)

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        w = self.lu.solve(b)
        return np.asarray(w + self.lu.solve(b - self.K @ w))


def shifted_factor(K: Operator, known: object = None) -> DenseShifted | SparseShifted:
    """Factorise an indefinite matrix; ZeroDivisionError when it is exactly singular.

    `known` is the solver of a matrix with about the same pattern: a sparse factor lends its order.
    """
    if K.kind == "dense":
        return DenseShifted(K.matrix)
    alike = known.factors if isinstance(known, SparseFactor) and known.serves(K.matrix) else None
    return SparseShifted(K.matrix, alike)


def _zero_pivot(B: Any) -> int:
    """Where a factorisation met a zero pivot: with a shift of the size of rounding it ends, and shows where."""
    diagonal = B.diagonal().real
    if diagonal.min() <= 0:
        return int(np.argmin(diagonal))
    shift = float(diagonal.max()) * float(np.finfo(B.dtype).eps)
    lu = symmetric_lu(B + sp.diags_array(np.full(B.shape[0], shift, B.dtype)))
    if lu is None:
        return int(np.argmin(diagonal))
    return int(lu.order[np.argmin(lu.pivots / diagonal[lu.order])])


def _check_pivots(pivots: Array, diagonal: Array, order: Array | None = None) -> None:
    """Refuse a pivot that is negative, or so small beside its diagonal entry that it is rounding."""
    bad = np.flatnonzero(~(pivots > rounding(pivots.size, pivots.dtype) * diagonal))
    if bad.size:
        index = int(bad[0])
        raise _not_definite(int(index if order is None else order[index]), float(pivots[index]))


def _schur_pivot(B: Array, index: int) -> float:
    """The pivot on which the factorisation broke down: B_ii − bᴴB₀⁻¹b with the leading block B₀."""
    if index == 0:
        return float(B[0, 0].real)
    w = np.linalg.lstsq(B[:index, :index], B[:index, index], rcond=None)[0]
    return float((B[index, index] - np.vdot(B[:index, index], w)).real)


def _not_definite(index: int, pivot: float) -> NotPositiveDefinite:
    kind = "indefinite" if pivot < 0 else "singular to working precision"
    return NotPositiveDefinite(
        f"B is not positive definite: pivot {index} (row {index} from 0) of its Cholesky factorisation is {pivot:.3g}: "
        f"B is {kind}; remove the rows and columns without mass, or add a small multiple of the identity to B"
    )
