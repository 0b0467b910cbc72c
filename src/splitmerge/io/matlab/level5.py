"""MATLAB files of versions 5 to 7: elements with a tag, compressed or not; a matrix consists of such elements."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
import scipy.sparse as sp

from ...solution.store.compressed import check_compressed, index_array
from ...solution.store.guard import UnreadableFile, foreign
from ...solution.store.npy import Layout, read_entries
from ...typing import Array
from ..entry import MAX_MATRICES, Entry, check_size

HEADER_BYTES = 128
MATRIX, COMPRESSED = 14, 15
# Types of the numbers in an element, and classes of matrices.
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
SPARSE_CLASS = 5
COMPLEX_FLAG = 0x800
MAX_DIMENSION_BYTES, MAX_NAME_BYTES = 256, 1000
CHUNK_BYTES = 65_536


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def readinto(self, buffer: Any, /) -> int: ...


class _Plain:
    """The next `length` bytes of a file."""

    def __init__(self, file: BinaryIO, length: int) -> None:
        self._file, self._left = file, length

    def read(self, size: int, /) -> bytes:
        data = self._file.read(min(size, self._left))
        self._left -= len(data)
        return data

    def readinto(self, buffer: Any, /) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _Inflated(_Plain):
    """The next `length` bytes of a file, decompressed no further than they are read."""

    def __init__(self, file: BinaryIO, length: int) -> None:
        super().__init__(file, length)
        self._inflate = zlib.decompressobj()

    def read(self, size: int, /) -> bytes:
        parts: list[bytes] = []
        while size > 0 and not self._inflate.eof:
            piece = self._inflate.unconsumed_tail or super().read(CHUNK_BYTES)
            with foreign("the file is corrupt"):
                part = self._inflate.decompress(piece, size)
            if not part and not piece:
                break
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


@dataclass(frozen=True)
class _Variable:
    """A matrix in the file: where its element begins, and what its head says."""

    position: int
    order: str
    kind: int
    is_complex: bool
    shape: tuple[int, ...]
    name: str


def read_level_5(path: Path) -> Mapping[str, Entry]:
    """The matrices of the file by name."""
    size = path.stat().st_size
    found: dict[str, Entry] = {}
    with path.open("rb") as file:
        order = "<" if file.read(HEADER_BYTES)[126:] == b"IM" else ">"
        position = HEADER_BYTES
        while position < size and len(found) < MAX_MATRICES:
            stream, end = _element(file, position, order, size)
            variable = _head(stream, position, order)
            if variable is not None:
                found[variable.name] = _entry(path, variable, size)
            position = end
    return found


def _element(file: BinaryIO, position: int, order: str, size: int) -> tuple[_Plain, int]:
    """The content of the matrix element at this position, and where the next one begins."""
    file.seek(position)
    kind, length = _tag(file.read(8), order)
    end = position + 8 + length
    if kind not in (MATRIX, COMPRESSED) or length == 0 or end > size:
        raise UnreadableFile(
            f"the element at byte {position} has type {kind} and {length} bytes, in a file of {size}; the file is "
            "truncated or damaged, save it again"
        )
    if kind == MATRIX:
        return _Plain(file, length), end
    stream = _Inflated(file, length)
    if _tag(stream.read(8), order)[0] != MATRIX:
        raise UnreadableFile(f"the compressed element at byte {position} is not a matrix; save it again")
    return stream, end


def _tag(data: bytes, order: str) -> tuple[int, int]:
    if len(data) < 8:
        raise UnreadableFile("it ends within an element; the file is truncated, save it again")
    kind, length = struct.unpack(f"{order}2I", data)
    return kind, length


def _opened(stream: _Stream, order: str) -> tuple[int, int, bytes | None]:
    """Type and length of the next element, and its content if it is packed into the tag."""
    start = stream.read(8)
    kind, length = _tag(start, order)
    if kind >> 16:
        kind, length = kind & 0xFFFF, kind >> 16
        if length > 4:
            raise UnreadableFile("a short element has more than four bytes; the file is damaged, save it again")
        return kind, length, start[4 : 4 + length]
    return kind, length, None


def _content(stream: _Stream, order: str, most: int) -> bytes:
    """The bytes of the next element, which has at most `most` of them."""
    _, length, packed = _opened(stream, order)
    if packed is not None:
        return packed
    if length > most:
        raise UnreadableFile(
            f"the head of a matrix has an element of {length} bytes; the file is damaged, save it again"
        )
    data = stream.read(length + -length % 8)
    if len(data) < length:
        raise UnreadableFile("it ends within the head of a matrix; the file is truncated, save it again")
    return data[:length]


def _head(stream: _Stream, position: int, order: str) -> _Variable | None:
    """Class, shape and name; None for text, cells and other things that are not matrices."""
    flags = _content(stream, order, 8)
    if len(flags) != 8:
        raise UnreadableFile(f"the flags of the matrix at byte {position} are damaged; save it again")
    word = struct.unpack(f"{order}I", flags[:4])[0]
    if word & 0xFF not in (*CLASSES, SPARSE_CLASS):
        return None
    dimensions = _content(stream, order, MAX_DIMENSION_BYTES)
    shape = tuple(np.frombuffer(dimensions[: len(dimensions) // 4 * 4], f"{order}i4").tolist())
    name = _content(stream, order, MAX_NAME_BYTES).rstrip(b"\0").decode("latin1")
    if len(shape) < 2 or min(shape) < 0:
        raise UnreadableFile(f"the matrix at byte {position} has the shape {shape}; the file is damaged, save it again")
    # a matrix without a name is the workspace of MATLAB's functions
    is_matrix = name != "" and len(shape) == 2 and (shape[0] * shape[1] > 1 or word & 0xFF == SPARSE_CLASS)
    return _Variable(position, order, word & 0xFF, bool(word & COMPLEX_FLAG), shape, name) if is_matrix else None


def _entry(path: Path, variable: _Variable, size: int) -> Entry:
    def load() -> Any:
        with path.open("rb") as file:
            stream, _ = _element(file, variable.position, variable.order, size)
            _head(stream, variable.position, variable.order)
            matrix = _sparse(stream, variable) if variable.kind == SPARSE_CLASS else _full(stream, variable)
            # the checksum of a compressed element is at its end
            stream.read(CHUNK_BYTES)
            return matrix

    return Entry(variable.shape, np.dtype(CLASSES.get(variable.kind, "f8")), load)


def _numbers(stream: _Stream, order: str, count: int | None, what: str) -> Array:
    """The numbers of the next element: exactly `count`, or as many as there are."""
    kind, length, packed = _opened(stream, order)
    if kind not in TYPES:
        raise UnreadableFile(f"its {what} are of the unknown type {kind}; the file is damaged, save it again")
    dtype = np.dtype(order + TYPES[kind])
    there, rest = divmod(length, dtype.itemsize)
    if rest or (count is not None and there != count):
        raise UnreadableFile(
            f"it has {there} {what}, and its head asks for {count}; the file is damaged, save it again"
        )
    if packed is not None:
        return np.frombuffer(packed, dtype)
    array = read_entries(stream, Layout(dtype, (there,), fortran=False, header_bytes=0, described=""), length)
    stream.read(-length % 8)
    return array


def _full(stream: _Stream, variable: _Variable) -> Array:
    count = variable.shape[0] * variable.shape[1]
    values = _numbers(stream, variable.order, count, "values")
    if variable.is_complex:
        values = values + 1j * _numbers(stream, variable.order, count, "imaginary parts")
    return values.reshape(variable.shape, order="F")


def _sparse(stream: _Stream, variable: _Variable) -> Any:
    """Row indices, column pointers and values; there may be more room than entries."""
    order, (rows, columns) = variable.order, variable.shape
    # a matrix without entries may have as many columns as it likes: their pointers are in the file
    indices = _numbers(stream, order, None, "row indices")
    check_size(rows, columns, max(indices.size, columns))
    indptr = _numbers(stream, order, columns + 1, "column pointers")
    data = _numbers(stream, order, None, "values")
    if variable.is_complex:
        data = data + 1j * _numbers(stream, order, data.size, "imaginary parts")
    count = int(indptr[-1])
    if not 0 <= count <= min(indices.size, data.size):
        raise UnreadableFile(f"it has {data.size} values, and its column pointers end with {count}; save it again")
    indices, data = indices[:count], data[:count]
    check_compressed(data, indices, indptr, (columns, rows))
    return sp.csc_array((data, index_array(indices), index_array(indptr)), shape=(rows, columns))
