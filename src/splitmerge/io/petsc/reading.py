"""Reader of PETSc's binary matrices; a range of rows is read without the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from ...solution.store.compressed import check_range
from ...solution.store.guard import UnreadableFile, check_memory, check_regular, named
from ...typing import Array
from ..entry import Entry
from .layout import CHUNK_NUMBERS, Layout, read_layout

Rows = tuple[Array, Array, Array]


def read_petsc(path: Path) -> Mapping[str, Entry]:
    """The matrix of the file."""
    with _opened(path) as (_, layout):
        dtype = layout.value_type.newbyteorder("=")
        return {"matrix": Entry(layout.shape, dtype, lambda: _whole(path), f"dtype {dtype}", layout.size)}


def size(path: str | PathLike[str]) -> tuple[int, int]:
    """The numbers of rows and columns, from the header of the file; what cannot be read is refused with a ValueError.

    >>> import tempfile, pathlib, scipy.sparse as sp
    >>> from splitmerge.io import petsc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "K.petsc"
    ...     petsc.write_petsc(path, sp.diags_array([2.0, 3.0, 4.0]))
    ...     petsc.size(path)
    (3, 3)
    """
    with named(path), _opened(path) as (_, layout):
        return layout.shape


def read_rows(path: str | PathLike[str], first: int, last: int) -> Rows:
    """The rows `first` ≤ i < `last` of a sparse matrix in CSR form: row pointers, column indices and values.

    The pointers start at 0. Both integer arrays are int32 if that suffices and int64 otherwise. The file is read from
    its beginning up to the lengths of these rows, and then only where their entries are; the memory needed is that of
    the result and of a chunk. What cannot be read is refused with a ValueError; only what is read is checked.

    >>> import tempfile, pathlib, scipy.sparse as sp
    >>> from splitmerge.io import petsc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "K.petsc"
    ...     petsc.write_petsc(path, sp.diags_array([2.0, 3.0, 4.0]))
    ...     indptr, indices, data = petsc.read_rows(path, 1, 3)
    >>> indptr.tolist(), indices.tolist(), data.tolist()
    ([0, 1, 2], [1, 2], [3.0, 4.0])
    """
    with named(path), _opened(path) as (file, layout):
        if layout.is_dense:
            raise UnreadableFile(
                "the matrix is dense, and rows of sparse ones are read; make it sparse by splitmerge convert"
            )
        if 0 <= first <= last <= layout.shape[0]:
            return _rows(file, layout, first, last)
    raise ValueError(f"first = {first} and last = {last} are not a range of the {layout.shape[0]} rows of {path}")


@contextmanager
def _opened(path: str | PathLike[str]) -> Iterator[tuple[BinaryIO, Layout]]:
    length = check_regular(path)
    with open(path, "rb") as file:
        yield file, read_layout(file, length)


def _whole(path: Path) -> Any:
    with _opened(path) as (file, layout):
        if layout.is_dense:
            return _values(file, layout, 0, layout.entries).reshape(layout.shape)
        indptr, indices, data = _rows(file, layout, 0, layout.shape[0])
    return sp.csr_array((data, indices, indptr), shape=layout.shape)


def _rows(file: BinaryIO, layout: Layout, first: int, last: int) -> Rows:
    before = 0
    for _, lengths in _lengths(file, layout, 0, first):
        before = _added(before, lengths, layout)
    check_memory(8 * (last - first), f"rows {first} to {last}")
    indptr, end = np.zeros(last - first + 1, np.int64), before
    for start, lengths in _lengths(file, layout, first, last):
        end = _added(end, lengths, layout)
        indptr[start - first + 1 :][: lengths.size] = lengths
    if last == layout.shape[0] and end != layout.entries:
        raise UnreadableFile(
            f"the lengths of its rows add up to {end}, and its header declares {layout.entries} entries; save it again"
        )
    np.cumsum(indptr, out=indptr)
    count = end - before
    index_type = np.dtype(np.int32 if max(count, layout.shape[1] - 1) < 2**31 else np.int64)
    check_memory(count * (index_type.itemsize + layout.value_type.itemsize), f"rows {first} to {last}")
    indices = np.empty(count, index_type)
    for start, piece in _pieces(file, layout.indices_at, layout.index_type, before, end):
        check_range(piece, layout.shape[1], "column indices")
        indices[start - before :][: piece.size] = piece
    _check_increasing(indptr, indices, first)
    return indptr.astype(index_type, copy=False), indices, _values(file, layout, before, end)


def _lengths(file: BinaryIO, layout: Layout, first: int, last: int) -> Iterator[tuple[int, Array]]:
    """The lengths of the rows in pieces, each with the number of its first row."""
    for start, piece in _pieces(file, layout.lengths_at, layout.index_type, first, last):
        if piece.min() < 0 or int(piece.max()) > layout.shape[1]:
            row = int(np.argmax((piece < 0) | (piece > layout.shape[1])))
            raise UnreadableFile(
                f"its row {start + row} has the length {piece[row]}, outside of 0 … {layout.shape[1]}; save it again"
            )
        yield start, piece


def _added(count: int, lengths: Array, layout: Layout) -> int:
    count += int(lengths.sum(dtype=np.int64))
    if not 0 <= count <= layout.entries:
        raise UnreadableFile(
            f"the lengths of its rows exceed the {layout.entries} entries that its header declares; save it again"
        )
    return count


def _check_increasing(indptr: Array, indices: Array, first: int) -> None:
    """Refuse unsorted or repeated columns, which PETSc never writes, and would misread."""
    wrong = indices[1:] <= indices[:-1]
    starts = indptr[1:-1]
    wrong[starts[(starts > 0) & (starts < indices.size)] - 1] = False
    if wrong.any():
        row = first + int(np.searchsorted(indptr, int(np.argmax(wrong)), side="right")) - 1
        raise UnreadableFile(f"the column indices of its row {row} do not increase; sort each row and save it again")


def _values(file: BinaryIO, layout: Layout, begin: int, end: int) -> Array:
    values = np.empty(end - begin, layout.value_type.newbyteorder("="))
    for start, piece in _pieces(file, layout.values_at, layout.value_type, begin, end):
        values[start - begin :][: piece.size] = piece
    return values


def _pieces(file: BinaryIO, at: int, dtype: np.dtype[Any], begin: int, end: int) -> Iterator[tuple[int, Array]]:
    """The numbers `begin` to `end` of the part of the file at `at` in pieces, each with the place of its first one."""
    for start in range(begin, end, CHUNK_NUMBERS):
        count = min(CHUNK_NUMBERS, end - start)
        file.seek(at + start * dtype.itemsize)
        data = file.read(count * dtype.itemsize)
        if len(data) < count * dtype.itemsize:
            raise UnreadableFile("it has become shorter while it was read; read it again when it is complete")
        yield start, np.frombuffer(data, dtype)
