"""MATLAB files of version 4: each matrix is a header of five integers, a name and its entries by columns."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from ...solution.store.compressed import check_range
from ...solution.store.guard import UnreadableFile
from ...solution.store.npy import Layout, Source, read_entries
from ...typing import Array
from ..entry import MAX_MATRICES, Entry, check_size

TYPES = ("f8", "f4", "i4", "i2", "u2", "u1")
FULL, TEXT, SPARSE = range(3)
HEADER_BYTES = 20
MAX_NAME_BYTES = 1000


@dataclass(frozen=True)
class _Variable:
    dtype: np.dtype[Any]
    kind: int
    shape: tuple[int, int]
    is_complex: bool
    start: int

    @property
    def end(self) -> int:
        parts = 2 if self.is_complex and self.kind != SPARSE else 1
        return self.start + parts * self.dtype.itemsize * self.shape[0] * self.shape[1]


def read_level_4(path: Path) -> Mapping[str, Entry]:
    """The matrices of the file by name."""
    size = path.stat().st_size
    found: dict[str, Entry] = {}
    with path.open("rb") as file:
        position = 0
        while position < size and len(found) < MAX_MATRICES:
            name, variable = _header(file, position)
            position = variable.end
            if position > size:
                raise UnreadableFile(
                    f"its matrix at byte {variable.start} has shape {variable.shape} and needs {position} bytes, and "
                    f"the file has {size}; it is truncated or damaged, save it again"
                )
            entry = _entry(path, file, variable)
            if entry is not None:
                found[name] = entry
    return found


def _header(file: BinaryIO, position: int) -> tuple[str, _Variable]:
    file.seek(position)
    data = file.read(HEADER_BYTES)
    if len(data) < HEADER_BYTES:
        raise UnreadableFile("it ends within the header of a matrix; the file is truncated, save it again")
    order = "<" if 0 <= struct.unpack("<i", data[:4])[0] <= 5000 else ">"
    code, rows, columns, imaginary, length = struct.unpack(f"{order}5i", data)
    machine, rest = divmod(code, 1000)
    reserved, rest = divmod(rest, 100)
    type_code, kind = divmod(rest, 10)
    known = machine in (0, 1) and reserved == 0 and type_code < len(TYPES) and kind <= SPARSE
    if not known or min(rows, columns) < 0 or imaginary not in (0, 1) or not 0 < length <= MAX_NAME_BYTES:
        raise UnreadableFile(f"the header of its matrix at byte {position} is damaged; save it again, with -v7")
    name = file.read(length).rstrip(b"\0").decode("latin1")
    dtype = np.dtype(order + TYPES[type_code])
    return name, _Variable(dtype, kind, (rows, columns), bool(imaginary), position + HEADER_BYTES + length)


def _entry(path: Path, file: BinaryIO, variable: _Variable) -> Entry | None:
    rows, columns = variable.shape
    if variable.kind == FULL and rows * columns > 1:
        return Entry(variable.shape, variable.dtype, lambda: _full(path, variable))
    if variable.kind == SPARSE and rows > 0 and columns in (3, 4):
        # the last row holds the shape of the matrix
        shape = tuple(_number(file, variable, column * rows + rows - 1) for column in range(2))
        return Entry(shape, np.dtype(float), lambda: _sparse(path, variable, shape))
    return None


def _number(file: BinaryIO, variable: _Variable, place: int) -> int:
    file.seek(variable.start + place * variable.dtype.itemsize)
    value = float(np.frombuffer(file.read(variable.dtype.itemsize), variable.dtype)[0])
    if not 0 <= value < 2**53 or value != int(value):
        raise UnreadableFile(f"the size of its sparse matrix at byte {variable.start} is {value:g}; save it again")
    return int(value)


def _part(file: Source, variable: _Variable) -> Array:
    layout = Layout(variable.dtype, variable.shape, fortran=True, header_bytes=0, described="numbers")
    return read_entries(file, layout, layout.size)


def _full(path: Path, variable: _Variable) -> Array:
    file: Any
    with path.open("rb") as file:
        file.seek(variable.start)
        real = _part(file, variable)
        return real + 1j * _part(file, variable) if variable.is_complex else real


def _sparse(path: Path, variable: _Variable, shape: tuple[int, ...]) -> Any:
    """Rows of (row, column, real part, imaginary part), one-based, and the shape as the last one."""
    check_size(shape[0], shape[1], variable.shape[0] - 1)
    file: Any
    with path.open("rb") as file:
        file.seek(variable.start)
        table = _part(file, variable)[:-1]
    places = table[:, :2]
    if not np.isfinite(places).all() or (np.abs(places) > 2**53).any() or (places != np.rint(places)).any():
        raise UnreadableFile("the indices of its sparse matrix are not all whole numbers; save it again")
    rows, columns = (places[:, i].astype(np.int64) - 1 for i in range(2))
    check_range(rows, shape[0], "row indices")
    check_range(columns, shape[1], "column indices")
    values = np.ascontiguousarray(table[:, 2], dtype=float)
    if table.shape[1] == 4:
        values = values + 1j * table[:, 3]
    return sp.coo_array((values, (rows, columns)), shape=shape)
