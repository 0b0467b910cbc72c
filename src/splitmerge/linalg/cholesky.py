"""Dense Cholesky factorisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from ..errors import NotPositiveDefinite
from ..linalg.blas import kernels
from ..typing import Array
from .reductions import norms
from .rounding import pivot_threshold, precision

# A pivot below minus this fraction of its diagonal entry is no rounding error.
INDEFINITE_FRACTION = 1e-6
# Up to this many columns, a solve with each is faster than one with all.
NARROW_COLUMNS = 4
# Below this ratio of a pivot to its diagonal entry, the condition number is estimated by this many steps.
UNCLEAR_PIVOT, CONDITION_STEPS = 1e-8, 3


class DenseFactor:
    """B = UᴴU with U upper triangular, the variant with the faster BLAS triangular solves.

    `surrender` releases the memory of U; U is recomputed on next use.
    """

    U: Array

    def __init__(self, B: Array, dtype: np.dtype[Any] | None = None) -> None:
        self._B, self.dtype = B, B.dtype if dtype is None else dtype
        self._scratch: Array | None = None
        self._factorise()
        self.trsv = kernels(self.dtype).trsv
        self._trsm, self._trmm, self._trmv = get_blas_funcs(("trsm", "trmm", "trmv"), dtype=self.dtype)

    def _factorise(self) -> None:
        B, dtype, self._scratch = self._B, self.dtype, None
        potrf: Any = get_lapack_funcs("potrf", dtype=dtype)
        self.U, info = potrf(_aligned(B, dtype), lower=0, clean=1, overwrite_a=1)
        if info > 0:
            # a failure in lower precision is caught by the caller, so its message needs no exact pivot
            pivot = _schur_pivot(B, info - 1) if dtype == B.dtype else 0.0
            raise not_definite(info - 1, pivot, float(B[info - 1, info - 1].real))
        diagonal = B.diagonal().real
        if check_pivots(np.abs(self.U.diagonal()) ** 2, diagonal) < UNCLEAR_PIVOT and dtype == B.dtype:
            trsv = kernels(dtype).trsv
            check_condition(lambda b: trsv(self.U, trsv(self.U, b, trans=2)), diagonal.astype(dtype))

    def __getattr__(self, name: str) -> Array:
        if name != "U":
            raise AttributeError(name)
        self._factorise()
        return self.U

    def surrender(self) -> Array:
        """Release the memory of U as a one-dimensional array that the caller may overwrite."""
        if self._scratch is None:
            self._scratch = self.U.ravel(order="K")
            del self.U
        return self._scratch

    def transformed(self, A: Array) -> Array:
        """Overwrite A with the upper triangle of U⁻ᴴAU⁻¹, the reduction to a standard problem."""
        reduce_: Any = get_lapack_funcs("hegst" if A.dtype.kind == "c" else "sygst", dtype=A.dtype)
        return np.asarray(reduce_(A, self.U, lower=0, overwrite_a=1)[0])

    def whitened(self, times: Callable[[Array], Array], y: Array) -> Array:
        """U⁻ᴴ A U⁻¹ y, where `times` applies A."""
        return self.trsv(self.U, times(self.trsv(self.U, y)), trans=2, overwrite_x=1)

    def whiten(self, X: Array) -> Array:
        """U X for columns X."""
        if X.shape[1] == 1:
            return np.asarray(self._trmv(self.U, X[:, 0]))[:, None]
        return np.asarray(self._trmm(1.0, self.U, X))

    def unwhiten(self, Y: Array) -> Array:
        """U⁻¹ Y for columns Y, which may be overwritten."""
        if 0 < Y.shape[1] <= NARROW_COLUMNS:
            return np.array([self.trsv(self.U, y) for y in Y.T]).T
        return np.asarray(self._trsm(1.0, self.U, Y, overwrite_b=1))

    def dual(self, y: Array) -> Array:
        """Uᴴy = B x for x = U⁻¹y."""
        return np.asarray(self._trmv(self.U, y, trans=2))

    def half_solve(self, R: Array) -> Array:
        """U⁻ᴴR for columns R, which may be overwritten."""
        if 0 < R.shape[1] <= NARROW_COLUMNS:
            return np.array([self.trsv(self.U, r, trans=2) for r in R.T]).T
        return np.asarray(self._trsm(1.0, self.U, R, trans_a=2, overwrite_b=1))

    def dual_norms(self, R: Array) -> Array:
        """The B⁻¹-norm √(rᴴB⁻¹r) = ‖U⁻ᴴr‖ of each column r; R may be overwritten."""
        return norms(self.half_solve(R))

    def solve(self, b: Array, guess: Array | None, B_guess: Array | None) -> tuple[Array, Array]:
        """w = U⁻¹U⁻ᴴb."""
        y = self.trsv(self.U, b, trans=2)
        return self.trsv(self.U, y, overwrite_x=1), b

    def solve_block(self, R: Array) -> tuple[Array, Array]:
        """W = U⁻¹U⁻ᴴR for a block of columns."""
        return self.unwhiten(self.half_solve(R.copy(order="F"))), R


def _aligned(M: Array, dtype: np.dtype[Any]) -> Array:
    """A Fortran-ordered copy aligned to a cache line, which makes triangular solves about 25% faster."""
    size = M.size * dtype.itemsize
    memory = np.empty(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start : start + size].view(dtype).reshape(M.shape, order="F")
    copy[...] = M
    return np.asarray(copy)


def pivoted_root(B: Array, units: float) -> Array:
    """L with B = LLᴴ and as many columns as B has rank; with a unit diagonal, smaller pivots than n units are zero."""
    n, diagonal = len(B), B.diagonal().real
    d = np.sqrt(np.where(diagonal > 0, diagonal, 1.0)).astype(diagonal.dtype)
    pstrf: Any = get_lapack_funcs("pstrf", dtype=B.dtype)
    scaled = np.asfortranarray(B / d[:, None] / d)
    C, order, rank, _ = pstrf(scaled, tol=units * n * precision(B.dtype), lower=1, overwrite_a=1)
    L = np.empty((n, rank), B.dtype)
    L[order - 1] = np.tril(C)[:, :rank]
    return np.asarray(d[:, None] * L)


def check_pivots(pivots: Array, diagonal: Array, order: Array | None = None) -> float:
    """Raise `NotPositiveDefinite` if a pivot is negative or below the rounding error of its diagonal entry.

    Returns the least ratio of the two.
    """
    bad = np.flatnonzero(~(pivots > pivot_threshold(pivots.size, pivots.dtype) * diagonal))
    if bad.size:
        index = int(bad[0])
        row = int(index if order is None else order[index])
        raise not_definite(row, float(pivots[index]), float(diagonal[index]))
    return float((pivots / diagonal).min())


def check_condition(solve: Callable[[Array], Array], diagonal: Array) -> None:
    """Raise `NotPositiveDefinite` if B, scaled to a unit diagonal, has a condition number beyond 1/eps.

    Rounding may leave a pivot of a singular matrix clear of zero. `solve` applies B⁻¹; its norm is estimated by inverse
    iteration.
    """
    d = np.sqrt(diagonal)
    x = np.random.default_rng(0).standard_normal(d.size).astype(d.dtype)
    for _ in range(CONDITION_STEPS):
        x = d * solve(d * (x / np.linalg.norm(x)))
    if not np.linalg.norm(x) * precision(d.dtype) < 1:
        raise singular("its condition number exceeds the reciprocal of the working precision")


def _schur_pivot(B: Array, index: int) -> float:
    """The pivot on which the factorisation broke down: B_ii − bᴴB₀⁻¹b with the leading block B₀."""
    if index == 0:
        return float(B[0, 0].real)
    w = np.linalg.lstsq(B[:index, :index], B[:index, index], rcond=None)[0]
    return float((B[index, index] - np.vdot(B[:index, index], w)).real)


def not_definite(index: int, pivot: float, diagonal: float = 1.0) -> NotPositiveDefinite:
    """The exception for a factorisation that breaks down at `pivot` in row `index`, with this entry on the diagonal."""
    why = f"pivot {index} (row {index} from 0) of its Cholesky factorisation is {pivot:.3g}"
    if pivot >= -INDEFINITE_FRACTION * abs(diagonal):
        return singular(why)
    return indefinite(why)


def indefinite(why: str) -> NotPositiveDefinite:
    """The exception for a matrix with a negative eigenvalue."""
    error = NotPositiveDefinite(
        f"B is not positive definite: {why}; B is indefinite: a mass or covariance matrix has no negative eigenvalues; "
        f"check B"
    )
    error.indefinite = True
    return error


def singular(why: str) -> NotPositiveDefinite:
    """The exception for a matrix that is semidefinite as far as its precision can tell."""
    return NotPositiveDefinite(
        f"B is not positive definite: {why}; B is singular to working precision and the pair has infinite eigenvalues: "
        f"b_policy='restrict' leaves them out, b_policy='ridge' adds a small multiple of the identity to B"
    )
