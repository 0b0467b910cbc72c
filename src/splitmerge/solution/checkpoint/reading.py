"""Reading a checkpoint: its size, its header and its CRC-32 are checked before anything of it is used."""

from __future__ import annotations

import os
from os import PathLike
from typing import Any, BinaryIO

from ...typing import Array
from ..store.compressed import native
from ..store.guard import UnreadableFile, amount, check_memory, check_regular
from .header import Header, parsed, restored
from .layout import MAGIC, START_BYTES, TRAILER_BYTES, Layout, crc_of, header_bytes, trailer
from .loaded import LoadedCheckpoint
from .rows import read_rows


def is_checkpoint(path: str | PathLike[str]) -> bool:
    """Does the file begin like a checkpoint? What is no regular file does not."""
    try:
        check_regular(path)
    except UnreadableFile:
        return False
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def load(path: str | PathLike[str], A: Any = None, B: Any = None) -> LoadedCheckpoint:
    """The checkpoint in a file."""
    try:
        size = check_regular(path)
        with open(path, "rb") as file:
            header, layout, crc = read_header(file, size)
            check_memory(layout.n * layout.row_bytes, f"vectors of shape ({layout.n}, {layout.columns})")
            X = _vectors(file, layout, crc)
    except UnreadableFile as error:
        raise UnreadableFile(f"{os.fspath(path)} is damaged, or not a checkpoint of splitmerge: {error}") from error
    warm = header.shift, header.trusted
    return LoadedCheckpoint(X, header.problem, header.spent, *warm, restored(header.generator)).of(A, B)


def read_header(file: BinaryIO, size: int) -> tuple[Header, Layout, int]:
    """The header of a file of `size` bytes, where its vectors are, and the CRC-32 of the bytes before them."""
    start = file.read(START_BYTES)
    length = header_bytes(start, size)
    text = file.read(length)
    if len(text) != length:
        raise UnreadableFile("it ends within its header; the file is truncated")
    header = parsed(text)
    layout = header.layout(START_BYTES + length)
    if layout.file_bytes != size:
        raise UnreadableFile(
            f"its header asks for {layout.n} rows of {layout.columns} numbers, a file of {amount(layout.file_bytes)}, "
            f"and there are {amount(size)}; the file is truncated or damaged"
        )
    return header, layout, crc_of(text, crc_of(start))


def _vectors(file: BinaryIO, layout: Layout, crc: int) -> Array:
    """All rows, in the byte order of this machine."""
    X, crc = read_rows(file, layout, 0, layout.n, crc)
    if file.read(TRAILER_BYTES) != trailer(crc):
        raise UnreadableFile("its CRC-32 is not that of its content; the file is damaged")
    return native(X)
