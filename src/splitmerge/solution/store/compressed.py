"""Checks of compressed sparse storage, which SciPy trusts and would read outside of its arrays for."""

from __future__ import annotations

import numpy as np

from ...typing import Array
from .guard import UnreadableFile


def check_compressed(data: Array, indices: Array, indptr: Array, shape: tuple[int, int]) -> None:
    """Refuse arrays that are not a compressed matrix with shape = (pointers, range of the indices)."""
    _check_whole(indices, "indices")
    _check_whole(indptr, "indptr")
    major, minor = shape
    if indptr.size != major + 1:
        raise UnreadableFile(f"its indptr has {indptr.size} entries, and its shape asks for {major + 1}; save it again")
    if indices.size != data.shape[0]:
        raise UnreadableFile(f"it has {indices.size} indices beside {data.shape[0]} values; save it again")
    if indptr[0] != 0 or int(indptr[-1]) > indices.size:
        raise UnreadableFile(
            f"its indptr goes from {indptr[0]} to {indptr[-1]}, and there are {indices.size} entries; save it again"
        )
    if (indptr[1:] < indptr[:-1]).any():
        raise UnreadableFile("its indptr decreases; save it again")
    check_range(indices, minor, "indices")


def check_range(indices: Array, size: int, name: str) -> None:
    """Refuse indices outside of 0 … size − 1."""
    _check_whole(indices, name)
    if indices.size and not (indices.min() >= 0 and int(indices.max()) < size):
        raise UnreadableFile(
            f"its {name} go from {indices.min()} to {indices.max()}, outside of 0 … {size - 1}; save it again"
        )


def _check_whole(array: Array, name: str) -> None:
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise UnreadableFile(f"its {name} have shape {array.shape} and dtype {array.dtype}; whole numbers are needed")


def check_numbers(array: Array, name: str, dimensions: int) -> None:
    """Refuse what is not an array of numbers."""
    if array.ndim != dimensions or array.dtype.kind not in "biufc":
        raise UnreadableFile(
            f"its {name} have shape {array.shape} and dtype {array.dtype}; numbers in {dimensions} dimensions are due"
        )


def native(array: Array) -> Array:
    """The array in the byte order of this machine."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def index_array(array: Array) -> Array:
    """Indices in a type that SciPy takes; the range was checked before."""
    return np.asarray(array, np.int32 if array.dtype.itemsize <= 4 and array.dtype.kind == "i" else np.int64)
