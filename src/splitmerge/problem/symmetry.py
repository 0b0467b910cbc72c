"""How large a dense array is and whether it is Hermitian, in as few passes over it as that takes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.linalg.blas import idamax, isamax

from ..linalg.blas import kernels
from ..typing import Array

# Rows and columns of a tile.
_BLOCK = 128


def measure(a: Array) -> tuple[float, float]:
    """max |entry|, NaN or infinity if there is one, and max |X − Xᴴ|, 0 if no plausible asymmetry can be there.

    A product with a vector y of numbers from 1 to 2 shows in its rows what is not finite; and it differs from the
    product with the upper triangle and its mirror image by at least the largest asymmetric entry, or those cancel.
    """
    n = a.shape[0]
    y = _test_vector(n, a.dtype)
    F = a if a.flags.f_contiguous else a.T
    with np.errstate(all="ignore"):
        Xy = F @ y
        # the mirror image of a Hermitian matrix in the other order is its conjugate
        apart = float(np.abs(Xy - kernels(a.dtype).hemv(1.0, F, y)).max()) if F.flags.f_contiguous else math.inf
    if not np.isfinite(Xy).all():
        size = _largest(a)
        return size, _asymmetry(a) if math.isfinite(size) else 0.0
    size = _largest_finite(a)
    return size, 0.0 if apart <= tolerable(size, a.dtype) / 8 else _asymmetry(a)


def _largest_finite(a: Array) -> float:
    """max |entry|, by BLAS where that can do it and NumPy would read a large array twice."""
    contiguous = a.flags.f_contiguous or a.flags.c_contiguous
    if a.dtype.kind == "c" or not contiguous or not 2**17 <= a.size < 2**31:
        return _largest(a)
    entries = a.ravel(order="K")
    return abs(float(entries[(idamax if a.dtype.char == "d" else isamax)(entries)]))


def _largest(a: Array) -> float:
    """max |entry|; NaN or infinity if there is one."""
    if a.dtype.kind == "c":
        return float(max(np.abs(a[start : start + _BLOCK]).max() for start in range(0, a.shape[0], _BLOCK)))
    return max(float(a.max()), -float(a.min()))


def _asymmetry(a: Array) -> float:
    """max |X − Xᴴ|, tile by tile, as a tile and its mirror image fit in the cache."""
    n, worst = a.shape[0], 0.0
    for i in range(0, n, _BLOCK):
        for j in range(i, n, _BLOCK):
            mirror = a[j : j + _BLOCK, i : i + _BLOCK].conj().T
            worst = max(worst, float(np.abs(a[i : i + _BLOCK, j : j + _BLOCK] - mirror).max()))
    return worst


@lru_cache(maxsize=8)
def _test_vector(n: int, dtype: np.dtype[Any]) -> Array:
    """Numbers between 1 and 2 without a pattern."""
    return np.asarray(1 + np.modf(0.6180339887498949 * np.arange(n))[0]).astype(dtype)


def tolerable(size: float, dtype: np.dtype[Any]) -> float:
    """The asymmetry that rounding may explain."""
    return float(np.finfo(dtype).eps ** (2 / 3)) * size
