"""Largest entry and asymmetry of a dense array, with few passes over memory."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import idamax, isamax

from ..linalg.blas import kernels
from ..linalg.reductions import inner_products
from ..typing import Array

# Rows and columns of a tile of the blocked transpose comparison.
_TILE_ROWS = 128
# Up to this n a symmetric array is compared with its transpose bit by bit.
COPIED_N = 48
# The sum of the squares of entries that are far from overflow and underflow.
MIN_SQUARES, MAX_SQUARES = 1e-50, 1e50


def measure(a: Array) -> tuple[float, float]:
    """max |Xᵢⱼ| (NaN or infinity if X has such an entry) and max |X − Xᴴ| (0 if a quick test finds no asymmetry).

    The quick test multiplies X by a vector y with entries in [1, 2], once with the full matrix and once with its upper
    triangle only (HEMV). A non-finite entry makes the product non-finite. An asymmetric entry makes the two products
    differ by at least its size, unless several of them cancel.
    """
    F = a if a.flags.f_contiguous else a.T
    if not F.flags.f_contiguous:
        size = _largest(a)
        return size, _asymmetry(a) if math.isfinite(size) else 0.0
    y, call = _test_vector(a.shape[0], a.dtype), kernels(a.dtype)
    Xy = inner_products(a.dtype).coefficients(1.0, F, y)
    if not math.isfinite(call.dot(Xy, Xy)):
        size = _largest(a)
        return size, _asymmetry(a) if math.isfinite(size) else 0.0
    size = _largest_finite(a)
    # for a C-ordered complex array, F is the conjugate of X, which is Hermitian if X is
    apart = _largest_finite(call.hemv(-1.0, F, y, beta=1.0, y=Xy, overwrite_y=1))
    return size, 0.0 if apart <= tolerable(size, a.dtype) / 8 else _asymmetry(a)


def is_plain(a: Array) -> bool:
    """Is a small real array symmetric to the last bit, and its largest entry neither extreme nor zero?

    False says nothing: `measure` will tell.
    """
    if a.shape[0] > COPIED_N or a.dtype.char != "d" or a.tobytes() != a.T.tobytes():
        return False
    entries = a.ravel(order="K")
    return MIN_SQUARES < kernels(a.dtype).dot(entries, entries) < MAX_SQUARES


def lone_triangle(M: Any) -> str:
    """ "lower" or "upper" if M, dense or sparse, has no entries on the other side of its diagonal; otherwise empty."""
    entries = sp.coo_array(M)
    rows, columns = (places[entries.data != 0] for places in entries.coords)
    sides = {"lower": bool((rows > columns).any()), "upper": bool((rows < columns).any())}
    present = [side for side, found in sides.items() if found]
    return present[0] if len(present) == 1 else ""


def completed(side: str, kind: str) -> str:
    """How to complete a matrix of a dtype's kind with one triangle; its diagonal must not count twice."""
    mirror, word = ("conj(X.T)", "hermitian") if kind == "c" else ("X.T", "symmetric")
    header = f", or write {word} in the header of a Matrix Market file" if side == "lower" else ""
    return f"only its {side} triangle has entries: give X + {mirror} − diag(diag(X)){header}"


def _largest_finite(a: Array) -> float:
    """max |Xᵢⱼ| of a finite contiguous array: one pass by BLAS for real ones, where NumPy's max and min take two."""
    if a.dtype.kind == "c" or a.size >= 2**31:
        return _largest(a)
    entries = a.ravel(order="K")
    return abs(float(entries.item((idamax if a.dtype.char == "d" else isamax)(entries))))


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
    return _rounding(dtype) * size


@lru_cache
def _rounding(dtype: np.dtype[Any]) -> float:
    return float(np.finfo(dtype).eps ** (2 / 3))
