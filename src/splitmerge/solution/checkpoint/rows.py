"""A range of rows of the vectors in a checkpoint: written and read at its place, without a copy of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from ...typing import Array
from ..store.guard import UnreadableFile
from .layout import Layout, crc_of

# Bytes that are written, read and checked at a time.
PIECE_BYTES = 1 << 22


def write_rows(file: BinaryIO, layout: Layout, first: int, X: Array, crc: int) -> int:
    """Write the rows X from row `first` on; return the CRC-32 of all bytes up to their end, given that before them."""
    file.seek(layout.offset(first))
    for rows in _pieces(layout, len(X)):
        # a matrix of Ritz vectors is in Fortran order
        piece = np.ascontiguousarray(X[rows], layout.dtype).reshape(-1).view(np.uint8).data
        file.write(piece)
        crc = crc_of(piece, crc)
    return crc


def read_rows(file: BinaryIO, layout: Layout, first: int, last: int, crc: int) -> tuple[Array, int]:
    """The rows from `first` up to `last`, which is not among them, and the CRC-32 of all bytes up to their end."""
    X = np.empty((last - first, layout.columns), layout.dtype)
    file.seek(layout.offset(first))
    for rows in _pieces(layout, len(X)):
        piece = X[rows].reshape(-1).view(np.uint8).data
        # a regular file gives fewer bytes only at its end
        if file.readinto(piece) != len(piece):  # type: ignore[attr-defined]
            raise UnreadableFile("it ends within its vectors; the file is truncated")
        crc = crc_of(piece, crc)
    return X, crc


def _pieces(layout: Layout, count: int) -> Iterator[slice]:
    step = max(PIECE_BYTES // layout.row_bytes, 1)
    return (slice(row, min(row + step, count)) for row in range(0, count, step))
