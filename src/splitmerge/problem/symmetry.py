"""Largest entry and asymmetry of a dense array, with few passes over memory."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.linalg.blas import idamax, isamax

from ..linalg.blas import kernels
from ..typing import Array

# Rows and columns of a tile of the blocked transpose comparison.
_TILE_ROWS = 128


def measure(a: Array) -> tuple[float, float]:
    """max |Xᵢⱼ| (NaN or infinity if X has such an entry) and max |X − Xᴴ| (0 if a quick test finds no asymmetry).

    The quick test multiplies X by a vector y with entries in [1, 2], once with the full matrix and once with its upper
    triangle only (HEMV). A non-finite entry makes the product non-finite. An asymmetric entry makes the two products
    differ by at least its size, unless several of them cancel.
    """
    n = a.shape[0]
    y = _test_vector(n, a.dtype)
    F = a if a.flags.f_contiguous else a.T
    with np.errstate(all="ignore"):
        Xy = F @ y
        # for a C-ordered complex array, F is the conjugate of X, which is Hermitian if X is
        apart = float(np.abs(Xy - kernels(a.dtype).hemv(1.0, F, y)).max()) if F.flags.f_contiguous else math.inf
    if not np.isfinite(Xy).all():
        size = _largest(a)
        return size, _asymmetry(a) if math.isfinite(size) else 0.0
    size = _largest_finite(a)
    return size, 0.0 if apart <= tolerable(size, a.dtype) / 8 else _asymmetry(a)


def _largest_finite(a: Array) -> float:
    """max |Xᵢⱼ| of a finite array: one pass by BLAS for large real arrays, where NumPy's max and min take two."""
    contiguous = a.flags.f_contiguous or a.flags.c_contiguous
    if a.dtype.kind == "c" or not contiguous or not 2**17 <= a.size < 2**31:
        return _largest(a)
    entries = a.ravel(order="K")
    return abs(float(entries[(idamax if a.dtype.char == "d" else isamax)(entries)]))


def _largest(a: Array) -> float:
    """max |Xᵢⱼ|; NaN or infinity if X has such an entry."""
    if a.dtype.kind == "c":
        return float(
            np.max([np.abs(a[start : start + _TILE_ROWS]).max() for start in range(0, a.shape[0], _TILE_ROWS)])
        )
    return max(float(a.max()), -float(a.min()))


def _asymmetry(a: Array) -> float:
    """max |X − Xᴴ|, tile by tile, so that a tile and its transpose fit in the cache."""
    n, worst = a.shape[0], 0.0
    for i in range(0, n, _TILE_ROWS):
        for j in range(i, n, _TILE_ROWS):
            mirror = a[j : j + _TILE_ROWS, i : i + _TILE_ROWS].conj().T
            worst = max(worst, float(np.abs(a[i : i + _TILE_ROWS, j : j + _TILE_ROWS] - mirror).max()))
    return worst


@lru_cache(maxsize=8)
def _test_vector(n: int, dtype: np.dtype[Any]) -> Array:
    """A quasi-random vector with entries in [1, 2] (multiples of the golden ratio)."""
    return np.asarray(1 + np.modf(0.6180339887498949 * np.arange(n))[0]).astype(dtype)


def tolerable(size: float, dtype: np.dtype[Any]) -> float:
    """The largest asymmetry attributed to rounding, eps^(2/3) max |Xᵢⱼ|."""
    return float(np.finfo(dtype).eps ** (2 / 3)) * size
