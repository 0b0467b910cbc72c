"""Matrix Market files, scanned before SciPy parses them: its parser trusts the header, and crashes on binary files."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import scipy.io

from ..solution.store.guard import UnreadableFile, check_memory, foreign, quoted
from .entry import Entry, check_size, read_entry

CHUNK_BYTES = 65_536
MAX_COMMENT_BYTES = 1_000_000
# The longest entry that is plausible; a compressed file with more text than this per entry is not read to its end.
MAX_ENTRY_BYTES = 256
# Bytes in memory per entry: two indices and a complex value, and once more for the conversion.
ENTRY_MEMORY = 48
DENSE_ENTRY_MEMORY = 16
# The shortest entries: "1 1\n" and "1\n"
LEAST_ENTRY_BYTES = {"coordinate": 4, "array": 2}

TEXT = bytes(range(32, 127)) + bytes(range(128, 256)) + b"\t\n\r\f\v"
FIELDS = ("real", "double", "complex", "integer", "unsigned-integer", "pattern")
SYMMETRIES = ("general", "symmetric", "hermitian")


@dataclass(frozen=True)
class _Header:
    layout: str
    rows: int
    columns: int
    entries: int


def read_matrix_market(path: Path) -> Mapping[str, Entry]:
    """The matrix of the file, with symmetric storage expanded."""
    is_compressed = path.name.lower().endswith(".gz")
    _scan(_chunks(path, is_compressed))
    with foreign("the file is corrupt, or its format does not match its suffix"):
        matrix: Any = scipy.io.mmread(path, spmatrix=False)
    return {"matrix": read_entry(matrix)}


def _chunks(path: Path, is_compressed: bool) -> Iterator[bytes]:
    """The text of the file, piece by piece."""
    file: Any
    with gzip.open(path) if is_compressed else path.open("rb") as file:
        while True:
            try:
                chunk = file.read(CHUNK_BYTES)
            except (OSError, EOFError, zlib.error) as error:
                raise UnreadableFile(f"the file is corrupt: {quoted(str(error))}") from error
            if not chunk:
                return
            yield chunk


def _scan(chunks: Iterator[bytes]) -> None:
    """Refuse a file whose header is not plausible, or that is not text as long as its header asks for."""
    head, body = _head(chunks)
    header = _parsed(head)
    least = header.entries * LEAST_ENTRY_BYTES[header.layout]
    most = header.entries * MAX_ENTRY_BYTES + MAX_COMMENT_BYTES
    length = len(body)
    line = len(head) + 1
    if body:
        _check_text(body, line)
    for chunk in chunks:
        length += len(chunk)
        line += chunk.count(b"\n")
        _check_text(chunk, line)
        if length > most:
            raise UnreadableFile(f"more text follows than {header.entries} entries take; check the size in its header")
    # the last line may end without a newline
    if length + 1 < least:
        raise UnreadableFile(
            f"the file is truncated: line {len(head)} declares {header.entries} entries, and {length} bytes follow"
        )


def _head(chunks: Iterator[bytes]) -> tuple[list[bytes], bytes]:
    """The lines up to that of the size, and what has been read beyond it."""
    text = b""
    for chunk in chunks:
        _check_text(chunk, text.count(b"\n") + 1)
        text += chunk
        lines = text.split(b"\n")
        for number, line in enumerate(lines[:-1], 1):
            if line.strip() and not line.startswith(b"%"):
                return lines[:number], b"\n".join(lines[number:])
        if len(text) > MAX_COMMENT_BYTES:
            raise UnreadableFile("no size of the matrix is in the first megabyte; remove comments")
    lines = text.split(b"\n")
    if lines[-1].strip() and not lines[-1].startswith(b"%"):
        return lines, b""
    raise UnreadableFile("the file is truncated: it ends before the line with the size of the matrix")


def _check_text(chunk: bytes, line: int) -> None:
    strange = chunk.translate(None, TEXT)
    if strange:
        raise UnreadableFile(f"line {line} or later has a byte {strange[0]:#04x}: this is not a text file")
    if len(chunk) >= CHUNK_BYTES and b"\n" not in chunk:
        raise UnreadableFile(f"line {line} has more than {CHUNK_BYTES} characters; the format allows 1024")


def _parsed(lines: list[bytes]) -> _Header:
    layout, symmetry = _banner(lines[0])
    words = lines[-1].split()
    count = 3 if layout == "coordinate" else 2
    if len(words) != count or not all(re.fullmatch(rb"\d{1,18}", word) for word in words):
        shown = quoted(lines[-1].decode("latin1"))
        raise UnreadableFile(f"line {len(lines)}: {shown!r} should be {count} sizes; check the header")
    rows, columns = int(words[0]), int(words[1])
    if layout == "coordinate":
        entries = int(words[2])
        check_size(rows, columns, entries)
        check_memory(entries * ENTRY_MEMORY, f"a matrix of {entries} entries")
    else:
        entries = rows * columns if symmetry == "general" else rows * (rows + 1) // 2
        check_size(rows, columns, entries)
        check_memory(rows * columns * DENSE_ENTRY_MEMORY, f"a dense matrix of order {rows}")
    return _Header(layout, rows, columns, entries)


def _banner(line: bytes) -> tuple[str, str]:
    """Layout and symmetry from the first line."""
    if line.startswith(b"\xef\xbb\xbf"):
        raise UnreadableFile("line 1 begins with a byte order mark; save the file as plain text without one")
    words = line.decode("latin1").lower().split()
    if len(words) != 5 or words[0] != "%%matrixmarket":
        raise UnreadableFile('line 1 should be "%%MatrixMarket matrix coordinate real symmetric" or alike')
    kind, layout, field, symmetry = words[1:]
    if kind != "matrix" or layout not in LEAST_ENTRY_BYTES or field not in FIELDS:
        raise UnreadableFile(f"line 1: a {quoted(' '.join(words[1:4]))} is not read; give a matrix of numbers")
    if symmetry == "skew-symmetric":
        raise UnreadableFile("line 1: the matrix is skew-symmetric; a symmetric or Hermitian one is needed")
    if symmetry not in SYMMETRIES:
        raise UnreadableFile(f"line 1: unknown symmetry {quoted(symmetry)!r}; use one of {', '.join(SYMMETRIES)}")
    return layout, symmetry
