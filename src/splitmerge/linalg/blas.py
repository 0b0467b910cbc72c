"""BLAS calls of the inner loops, one set per dtype, without the overhead of wrappers.

A Split-Merge step takes about 50 µs at n = 256, so a microsecond of interpreter overhead per call matters.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from ..system.processes import current
from ..typing import Array
from .multiply import adjoint_product, product
from .reductions import inner_products, local_products

# Up to this many columns, HEMV with each is faster than GEMM with all.
NARROW_COLUMNS, NARROW_COLUMNS_COMPLEX = 12, 2
# Columns whose magnitudes are taken and summed at a time.
SUMMED_COLUMNS = 64


class Kernels(NamedTuple):
    """BLAS functions for one dtype; `dot` and `norm` are the reductions over all rows."""

    dot: Callable[[Array, Array], float]
    norm: Callable[[Array], float]
    hemv: Callable[..., Array]
    trsv: Callable[..., Array]
    axpy: Callable[..., Array]


def kernels(dtype: np.dtype[Any]) -> Kernels:
    """Return the BLAS functions for `dtype` (float32, float64, complex64 or complex128)."""
    local = _local_kernels(dtype)
    if current() is None:
        return local
    dot, norm, _ = inner_products(dtype)
    return local._replace(dot=dot, norm=norm)


@lru_cache
def _local_kernels(dtype: np.dtype[Any]) -> Kernels:
    hemv, trsv, axpy = get_blas_funcs(("hemv" if dtype.kind == "c" else "symv", "trsv", "axpy"), dtype=dtype)
    dot, norm, _ = local_products(dtype)
    return Kernels(dot, norm, hemv, trsv, axpy)


def hermitian_product(M: Array, X: Array) -> Array:
    """M X for a Hermitian M in Fortran order and a block of columns X of the same dtype."""
    k = X.shape[1]
    if 0 < k <= (NARROW_COLUMNS_COMPLEX if M.dtype.kind == "c" else NARROW_COLUMNS):
        hemv, Y = kernels(M.dtype).hemv, np.empty(X.shape, M.dtype, order="F")
        for x, y in zip(X.T, Y.T, strict=True):
            hemv(1.0, M, x, y=y, overwrite_y=1)
        return Y
    return product(M, X)


def one_norm(M: Array) -> float:
    """The 1-norm of a matrix in Fortran order; LAPACK's LANGE takes twice as long for large ones."""
    rows, columns = M.shape
    if columns <= 2 * SUMMED_COLUMNS:
        return float(_lange(M.dtype)("1", M))
    dtype = M.real.dtype
    ones, room, largest = np.ones(rows, dtype), np.empty((rows, SUMMED_COLUMNS), dtype, order="F"), 0.0
    for first in range(0, columns, SUMMED_COLUMNS):
        part = M[:, first : first + SUMMED_COLUMNS]
        sums = adjoint_product(np.abs(part, out=room[:, : part.shape[1]]), ones)
        largest = max(largest, float(sums.max()))
    return largest


@lru_cache
def _lange(dtype: np.dtype[Any]) -> Any:
    return get_lapack_funcs("lange", dtype=dtype)


def combine(axpy: Callable[..., Array], y: Array, a: float, x: Array) -> Array:
    """Return y + a x as a new array."""
    return axpy(x, y.copy(), a=a)
