"""The vectors of a checkpoint that stay in its file until they are used, by one process or by several."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from os import PathLike

from ...typing import Array
from ..store.compressed import native
from ..store.guard import UnreadableFile, check_memory
from .layout import TRAILER_BYTES, Layout, crc_of, trailer
from .rows import read_rows


@dataclass(frozen=True)
class StoredVectors:
    """Vectors in the file `path`; `crc` is the CRC-32 of the bytes before them."""

    path: str | PathLike[str]
    layout: Layout
    crc: int

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        return self.layout.n, self.layout.columns

    def rows(self, first: int, last: int, crc: int) -> tuple[Array, int]:
        """The rows from `first` up to `last`, and the CRC-32 up to their end, given that before them.

        With the last row the CRC-32 is compared with that of the file.
        """
        with open(self.path, "rb") as file:
            if first == 0 and crc_of(file.read(self.layout.head_bytes)) != self.crc:
                raise UnreadableFile(f"{os.fspath(self.path)} has changed since it was loaded; load it again")
            X, crc = read_rows(file, self.layout, first, last, crc)
            if last == self.layout.n and file.read(TRAILER_BYTES) != trailer(crc):
                raise UnreadableFile("its CRC-32 is not that of its content; the file is damaged")
        return native(X), crc

    def read(self) -> Array:
        """All rows."""
        check_memory(self.layout.n * self.layout.row_bytes, f"vectors of shape {self.shape}")
        return self.rows(0, self.layout.n, self.crc)[0]


def is_shared() -> bool:
    """Is this one of several processes of an MPI program with PETSc, each of which may want some rows only?"""
    petsc = sys.modules.get("petsc4py.PETSc")
    return petsc is not None and petsc.COMM_WORLD.size > 1
