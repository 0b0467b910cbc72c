"""BLAS calls of the inner loops, one set per dtype, without the overhead of wrappers.

A Split-Merge step takes about 50 µs at n = 256, so a microsecond of interpreter overhead per call matters.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import get_blas_funcs

from ..system.processes import current
from ..typing import Array
from .reductions import inner_products, local_products


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


def combine(axpy: Callable[..., Array], y: Array, a: float, x: Array) -> Array:
    """Return y + a x as a new array."""
    return axpy(x, y.copy(), a=a)
