"""The layout of PETSc's binary matrices: which build wrote a file, and where the parts of the matrix begin.

All numbers are big-endian: class id, rows, columns and number of entries; the lengths of the rows; the column indices
of all entries, row by row; their values. A build with 64-bit indices writes all integers in eight bytes, which the
class id tells; a complex build writes complex values, which the size of the file tells.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from ...solution.store.guard import UnreadableFile

CLASS_ID = 1211216
# In place of the number of entries: a dense matrix, of which only the values follow, row by row.
DENSE = -1
HEADER_INTEGERS = 4
INDEX_TYPES = (np.dtype(">i4"), np.dtype(">i8"))
VALUE_TYPES = (np.dtype(">f8"), np.dtype(">c16"))
# Numbers that are read, checked and converted at a time.
CHUNK_NUMBERS = 131_072


@dataclass(frozen=True)
class Layout:
    """Shape and types of a matrix, and the places of its parts in bytes; a dense matrix has values only."""

    shape: tuple[int, int]
    entries: int
    is_dense: bool
    index_type: np.dtype[Any]
    value_type: np.dtype[Any]

    @property
    def lengths_at(self) -> int:
        """The place of the lengths of the rows."""
        return HEADER_INTEGERS * self.index_type.itemsize

    @property
    def indices_at(self) -> int:
        """The place of the column indices."""
        return self.lengths_at + (0 if self.is_dense else self.shape[0] * self.index_type.itemsize)

    @property
    def values_at(self) -> int:
        """The place of the values."""
        return self.indices_at + (0 if self.is_dense else self.entries * self.index_type.itemsize)

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return self.values_at + self.entries * self.value_type.itemsize


def packed_header(layout: Layout) -> bytes:
    """The first four integers of the file."""
    count = DENSE if layout.is_dense else layout.entries
    return np.array([CLASS_ID, *layout.shape, count], layout.index_type).tobytes()


def read_layout(file: BinaryIO, size: int) -> Layout:
    """What the header says, compared with the size of the file."""
    start = file.read(HEADER_INTEGERS * INDEX_TYPES[-1].itemsize)
    index_type = _index_type(start)
    header_bytes = HEADER_INTEGERS * index_type.itemsize
    if len(start) < header_bytes:
        raise UnreadableFile(f"it ends within its header, after {len(start)} of {header_bytes} bytes; save it again")
    _, rows, columns, count = struct.unpack_from(">4i" if index_type.itemsize == 4 else ">4q", start)
    if min(rows, columns) < 0 or count < DENSE:
        raise UnreadableFile(
            f"its header declares {rows} rows, {columns} columns and {count} entries; only a dense matrix may have a "
            f"negative number of entries, {DENSE}: save it again"
        )
    is_dense = count == DENSE
    entries = rows * columns if is_dense else count
    layouts = [Layout((rows, columns), entries, is_dense, index_type, value_type) for value_type in VALUE_TYPES]
    for layout in layouts:
        if layout.size == size:
            return layout
    real, complex_ = (layout.size for layout in layouts)
    raise UnreadableFile(
        f"its header declares {rows} rows, {columns} columns and {entries} entries, which are {real} bytes if real and "
        f"{complex_} if complex, and the file has {size}; it is truncated, damaged, in single precision, or contains "
        "more than one matrix: save the matrix again, by itself"
    )


def _index_type(start: bytes) -> np.dtype[Any]:
    for index_type in INDEX_TYPES:
        if start.startswith(CLASS_ID.to_bytes(index_type.itemsize, "big")):
            return index_type
    raise UnreadableFile(f"it does not begin with {CLASS_ID}, as PETSc's binary matrices do; check the format")
