"""Products of dense arrays by the BLAS of SciPy, which all other kernels use as well.

NumPy and SciPy each come with an OpenBLAS, whose threads wait for more work in a loop for some milliseconds after each
call. Where large calls alternate between the two, one waits for a core that threads of the other still occupy: a search
with n = 16,384 on two cores was seen to take ten times as long. NumPy does not use its threads for small arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import get_blas_funcs

from ..typing import Array

# Up to this many multiplications OpenBLAS uses one thread, whatever the routine.
ONE_THREAD = 9000


def product(X: Array, Y: Array) -> Array:
    """X Y for a matrix X, and a matrix or a vector Y."""
    return _multiplied(X, Y, adjoint=False)


def adjoint_product(X: Array, Y: Array) -> Array:
    """XᴴY for a matrix X, and a matrix or a vector Y."""
    return _multiplied(X, Y, adjoint=True)


def dot(x: Array, y: Array) -> Any:
    """xᴴy for vectors."""
    if x.size <= ONE_THREAD or x.ndim != 1 or not _are_known(x, y):
        return np.vdot(x, y)
    return _routines(x.dtype).dot(x, y)


def _multiplied(X: Array, Y: Array, *, adjoint: bool) -> Array:
    columns = Y.shape[1] if Y.ndim == 2 else 1
    if X.size * columns <= ONE_THREAD or X.ndim != 2 or not _are_known(X, Y):
        return np.asarray((X.conj().T if adjoint else X) @ Y)
    call = _routines(X.dtype)
    if Y.ndim == 1:
        F, trans = _in_fortran_order(X, adjoint=adjoint)
        return np.asarray(call.gemv(1.0, F, Y, trans=trans))
    # of two tall matrices OpenBLAS takes less time with the narrower one first
    left, right = (Y, X) if adjoint else (X, Y)
    (F, trans), (G, other) = _in_fortran_order(left, adjoint=adjoint), _in_fortran_order(right, adjoint=False)
    Z: Array = call.gemm(1.0, F, G, trans_a=trans, trans_b=other)
    return Z.conj().T if adjoint else Z


def _are_known(X: Array, Y: Array) -> bool:
    """Does BLAS take these dtypes?"""
    return X.dtype == Y.dtype and X.dtype.char in "fdFD"


def _in_fortran_order(M: Array, *, adjoint: bool) -> tuple[Array, int]:
    """An array in Fortran order and what BLAS is to do with it: 0 takes it as it is, 1 its transpose, 2 its adjoint."""
    if M.flags.f_contiguous or not M.flags.c_contiguous:
        return M, (2 if M.dtype.kind == "c" else 1) if adjoint else 0
    if not adjoint:
        return M.T, 1
    return M.T.conj() if M.dtype.kind == "c" else M.T, 0


class _Routines(NamedTuple):
    """BLAS for one dtype; `dot` conjugates its first vector."""

    dot: Callable[[Array, Array], Any]
    gemv: Callable[..., Array]
    gemm: Callable[..., Array]


@lru_cache
def _routines(dtype: np.dtype[Any]) -> _Routines:
    return _Routines._make(get_blas_funcs(("dotc" if dtype.kind == "c" else "dot", "gemv", "gemm"), dtype=dtype))
