"""CSR arrays by SciPy's compiled kernels, called without the wrappers of its sparse classes.

At n = 1000 a product takes 10 µs, and the wrapper of `@` as much again.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse import _sparsetools

from ..typing import Array

# Matrices of nearly one pattern are stored on the union of both, if that has at most this multiple of their entries.
MAX_ALIGNED_RATIO = 1.1
# Up to this many columns are multiplied one by one: SciPy's kernel for blocks needs them in C order.
FEW_COLUMNS = 4


def matvec(a: Any) -> Callable[[Array], Array]:
    """The function x ↦ a x for a square CSR array `a`, whose arrays it keeps."""
    n, dtype, kernel = a.shape[0], a.dtype, _sparsetools.csr_matvec
    indptr, indices, data = a.indptr, a.indices, a.data

    def times(x: Array) -> Array:
        if x.dtype != dtype or x.ndim != 1:
            return a @ x  # type: ignore[no-any-return]
        y = np.zeros(n, dtype)
        kernel(n, n, indptr, indices, data, x, y)
        return y

    return times


def matmat(a: Any) -> Callable[[Array], Array]:
    """The function X ↦ a X for a square CSR array `a`; of a few columns in Fortran order, the result has that order."""
    n, dtype, kernel = a.shape[0], a.dtype, _sparsetools.csr_matvec

    def times_block(X: Array) -> Array:
        if X.dtype != dtype or X.shape[1] > FEW_COLUMNS or not X.flags.f_contiguous:
            return a @ X  # type: ignore[no-any-return]
        Y = np.zeros(X.shape, dtype, order="F")
        for i in range(X.shape[1]):
            kernel(n, n, a.indptr, a.indices, a.data, X[:, i], Y[:, i])
        return Y

    return times_block


def row_sums(a: Any) -> Array:
    """The sums of the magnitudes in each row."""
    n, magnitudes = a.shape[0], np.abs(a.data)
    sums = np.zeros(n, magnitudes.dtype)
    _sparsetools.csr_matvec(n, n, a.indptr, a.indices, magnitudes, np.ones(n, magnitudes.dtype), sums)
    return sums


def asymmetry(a: Any) -> float:
    """max |a − aᴴ| for a square CSR array in canonical format."""
    n = a.shape[0]
    indptr, indices, data = np.empty_like(a.indptr), np.empty_like(a.indices), np.empty_like(a.data)
    _sparsetools.csr_tocsc(n, n, a.indptr, a.indices, a.data, indptr, indices, data)
    if np.array_equal(indptr, a.indptr) and np.array_equal(indices, a.indices):
        return float(np.abs(a.data - data.conj()).max(initial=0.0))
    return float(abs(a - a.conj().T).max())


def like(a: Any, data: Array) -> Any:
    """The array with these entries in the places of those of `a`, whose index arrays it shares."""
    same = copy(a)
    same.data = data
    return same


def plus(a: Any, c: float, b: Any) -> Any:
    """a + c b for square CSR arrays in canonical format."""
    if _same_pattern(a, b):
        return like(a, a.data + c * b.data)
    indptr, indices, data = _sum(a, a.data, b, c * b.data)
    if indptr[-1] == a.nnz and np.array_equal(indptr, a.indptr) and np.array_equal(indices[: a.nnz], a.indices):
        # the pattern of b is part of that of a
        return like(a, data[: a.nnz].copy())
    for room in (indices, data):
        room.resize(int(indptr[-1]), refcheck=False)
    return sp.csr_array((data, indices, indptr), shape=a.shape)


def aligned(a: Any, b: Any) -> tuple[Any, Any]:
    """Real a and b with explicit zeros where only the other one has an entry, if the patterns are nearly the same.

    Their combinations share the index arrays then, and factorisations of them one ordering.
    """
    least, most = min(a.nnz, b.nnz), max(a.nnz, b.nnz)
    if a.dtype.char != "d" or b.dtype.char != "d" or most > MAX_ALIGNED_RATIO * least or _same_pattern(a, b):
        return a, b
    # the sum of a and ib is zero only where both are
    indptr, indices, data = _sum(a, a.data + 0j, b, 1j * b.data)
    if indptr[-1] > MAX_ALIGNED_RATIO * least:
        return a, b
    for room in (indices, data):
        room.resize(int(indptr[-1]), refcheck=False)
    both = sp.csr_array((np.ascontiguousarray(data.real), indices, indptr), shape=a.shape)
    return both, like(both, np.ascontiguousarray(data.imag))


def union_nonzeros(a: Any, b: Any) -> int:
    """How many entries of a or b are not zero; a diagonal counts as part of any pattern."""
    if a.nnz <= a.shape[0] or _same_pattern(a, b):
        return int(b.nnz)
    return int(_sum(a, np.abs(a.data), b, np.abs(b.data))[0][-1])


def _same_pattern(a: Any, b: Any) -> bool:
    return np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)


def _sum(a: Any, a_data: Array, b: Any, b_data: Array) -> tuple[Array, Array, Array]:
    """Row pointers, indices and entries of the sum, the latter two with room for more; zeros are left out."""
    n, most = a.shape[0], a.nnz + b.nnz
    index = np.result_type(a.indices, b.indices) if most < 2**31 else np.dtype(np.int64)
    indptr, indices = np.empty(n + 1, index), np.empty(most, index)
    data = np.empty(most, np.result_type(a_data, b_data))
    columns = [M.astype(index, copy=False) for M in (a.indptr, a.indices, b.indptr, b.indices)]
    entries = [M.astype(data.dtype, copy=False) for M in (a_data, b_data)]
    kernel: Any = _sparsetools.csr_plus_csr
    kernel(n, n, *columns[:2], entries[0], *columns[2:], entries[1], indptr, indices, data)
    return indptr, indices, data


def permuted(a: Any, order: Array) -> Any:
    """The rows and columns of a Hermitian CSR array in this order, as a CSC array."""
    n, lengths = a.shape[0], np.diff(a.indptr)[order]
    indptr = np.zeros(n + 1, a.indptr.dtype)
    np.cumsum(lengths, out=indptr[1:])
    rank = np.empty(n, a.indices.dtype)
    rank[order] = np.arange(n, dtype=a.indices.dtype)
    places = np.arange(a.nnz) + np.repeat(a.indptr[order] - indptr[:-1], lengths)
    columns = a.data[places].conj() if a.dtype.kind == "c" else a.data[places]
    return sp.csc_array((columns, rank[a.indices[places]], indptr), shape=a.shape)


def transposed(a: Any) -> Any:
    """A Hermitian CSR array as a CSC array, with the same index arrays."""
    return sp.csc_array((a.data.conj() if a.dtype.kind == "c" else a.data, a.indices, a.indptr), shape=a.shape)
