"""The BLAS calls of the hot loop, one set per dtype, without the wrappers' overhead.

At n = 256 a whole Split-Merge step takes some 50 µs, so a microsecond of interpreter work a call counts.
Every `dot` returns the real part as a Python float: all inner products of the methods are of Hermitian forms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import get_blas_funcs

from ..typing import Array


class Kernels(NamedTuple):
    """BLAS functions for one dtype."""

    dot: Callable[[Array, Array], float]
    norm: Callable[[Array], float]
    hemv: Callable[..., Array]
    trsv: Callable[..., Array]
    axpy: Callable[..., Array]


@lru_cache
def kernels(dtype: np.dtype[Any]) -> Kernels:
    """Return the BLAS functions for `dtype` (float32, float64, complex64 or complex128)."""
    is_complex = dtype.kind == "c"
    names = ("dotc" if is_complex else "dot", "nrm2", "hemv" if is_complex else "symv", "trsv", "axpy")
    dot, norm, hemv, trsv, axpy = get_blas_funcs(names, dtype=dtype)

    def real_dot(x: Array, y: Array) -> float:
        return dot(x, y).real  # type: ignore[no-any-return]

    return Kernels(real_dot if is_complex else dot, norm, hemv, trsv, axpy)


def combine(axpy: Callable[..., Array], y: Array, a: float, x: Array) -> Array:
    """Return y + a x as a new array."""
    return axpy(x, y.copy(), a=a)
