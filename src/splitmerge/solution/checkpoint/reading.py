"""Reading a checkpoint: its size, its header and its CRC-32 are checked before anything of it is used."""

from __future__ import annotations

import os
from os import PathLike
from typing import Any, BinaryIO

from ...typing import Array
from ..store.guard import UnreadableFile, amount, check_regular
from .header import Header, parsed, restored
from .layout import MAGIC, START_BYTES, Layout, crc_of, header_bytes
from .loaded import LoadedCheckpoint
from .stored import StoredVectors, is_shared


def is_checkpoint(path: str | PathLike[str]) -> bool:
    """Does the file begin like a checkpoint? Only a regular file can."""
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
        stored = StoredVectors(path, layout, crc)
        X: Array | StoredVectors = stored if is_shared() else stored.read()
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
