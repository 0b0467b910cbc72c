"""Matrix Market files, scanned before SciPy parses them: its parser trusts the header, and crashes on binary files."""

from __future__ import annotations

import gzip
import itertools
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import scipy.io

from ..solution.store.guard import UnreadableFile, check_memory, foreign, quoted
from .entry import Entry, check_size, read_entry
from .number_text import NumberText

CHUNK_BYTES = 65_536
MAX_COMMENT_BYTES = 1_000_000
# The longest entry that is plausible; a compressed file with more blanks than this per entry is not read to its end.
MAX_ENTRY_BYTES = 256
# Bytes in memory per entry: two indices and a complex value, and once more for the conversion.
ENTRY_MEMORY = 48
DENSE_ENTRY_MEMORY = 16

TEXT = bytes(range(32, 127)) + bytes(range(128, 256)) + b"\t\n\r\f\v"
FIELDS = ("real", "double", "complex", "integer", "unsigned-integer", "pattern")
SYMMETRIES = ("general", "symmetric", "hermitian")


@dataclass(frozen=True)
class _Header:
    """What the first lines say; `numbers` is how many numbers follow."""

    layout: str
    is_whole: bool
    entries: int
    numbers: int


class _Repaired:
    """The text as SciPy needs it: it ends with a newline, and exponents after the header begin with an E."""

    FORTRAN = bytes.maketrans(b"Dd", b"Ee")

    def __init__(self, file: BinaryIO, head_bytes: int) -> None:
        self._file = file
        self._head = file.read(head_bytes)
        self._ended = False

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        if self._head:
            end = len(self._head) if size < 0 else size
            head, self._head = self._head[:end], self._head[end:]
            return head
        data = self._file.read(size).translate(self.FORTRAN)
        if not data and not self._ended:
            self._ended = True
            return b"\n"
        return data


def read_matrix_market(path: Path) -> Mapping[str, Entry]:
    """The matrix of the file, with symmetric storage expanded."""
    is_compressed = path.name.lower().endswith(".gz")
    head_bytes, needs_repair = _scan(_chunks(path, is_compressed))
    file: Any
    with gzip.open(path) if is_compressed else path.open("rb") as file:
        source: Any = _Repaired(file, head_bytes) if needs_repair else path
        with foreign("the file is corrupt, or its format does not match its suffix"):
            matrix: Any = scipy.io.mmread(source, spmatrix=False)
    return {"matrix": read_entry(matrix)}


def _chunks(path: Path, is_compressed: bool) -> Iterator[bytes]:
    """The text of the file, piece by piece."""
    file: Any
    with gzip.open(path) if is_compressed else path.open("rb") as file:
        while True:
            try:
                chunk = file.read(CHUNK_BYTES)
            except (OSError, EOFError, zlib.error) as error:
                raise UnreadableFile(f"the file is corrupt: {quoted(str(error))}; compress it again") from error
            if not chunk:
                return
            yield chunk


def _scan(chunks: Iterator[bytes]) -> tuple[int, bool]:
    """Refuse a file whose header is not plausible, or that does not consist of as many numbers as its header asks for.

    Returns the length of the header, and whether SciPy needs the text repaired.
    """
    head, body = _head(chunks)
    header = _parsed(head)
    numbers = NumberText(len(head) + 1, whole=header.is_whole)
    length, last = 0, b"\n"
    for chunk in itertools.chain([body] if body else [], chunks):
        length, last = length + len(chunk), chunk[-1:]
        numbers.feed(chunk)
        if numbers.count > header.numbers or length > header.entries * MAX_ENTRY_BYTES + MAX_COMMENT_BYTES:
            told = f"line {numbers.line}: more follows than {header.entries} entries"
            raise UnreadableFile(f"{told}; check the size and the type in the header")
    numbers.end()
    if numbers.count != header.numbers:
        raise UnreadableFile(
            f"the file is truncated: line {len(head)} asks for {header.entries} entries, which are {header.numbers} "
            f"numbers, and {numbers.count} follow"
        )
    return sum(len(line) + 1 for line in head), numbers.has_fortran_exponents or last != b"\n"


def _head(chunks: Iterator[bytes]) -> tuple[list[bytes], bytes]:
    """The lines up to that of the size, and what has been read beyond it."""
    lines: list[bytes] = []
    rest, length = b"", 0
    for chunk in chunks:
        _check_text(chunk, len(lines) + 1)
        length += len(chunk)
        *whole, rest = (rest + chunk).split(b"\n")
        for place, line in enumerate(whole, 1):
            lines.append(line)
            if _is_size(line):
                return lines, b"\n".join([*whole[place:], rest])
        if length > MAX_COMMENT_BYTES:
            raise UnreadableFile("no size of the matrix is in the first megabyte; remove comments")
    if _is_size(rest):
        return [*lines, rest], b""
    raise UnreadableFile("the file is truncated: it ends before the line with the size of the matrix")


def _is_size(line: bytes) -> bool:
    """Is it the first line that is neither blank nor a comment?"""
    return line.strip() != b"" and not line.lstrip().startswith(b"%")


def _check_text(chunk: bytes, line: int) -> None:
    strange = chunk.translate(None, TEXT)
    if strange:
        raise UnreadableFile(f"line {line} or later has a byte {strange[0]:#04x}: this is not a text file")
    if len(chunk) >= CHUNK_BYTES and b"\n" not in chunk:
        raise UnreadableFile(f"line {line} has more than {CHUNK_BYTES} characters; the format allows 1024")


def _parsed(lines: list[bytes]) -> _Header:
    layout, field, symmetry = _banner(lines[0])
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
    values = {"pattern": 0, "complex": 2}.get(field, 1)
    return _Header(layout, "integer" in field, entries, entries * (values + 2 * (layout == "coordinate")))


def _banner(line: bytes) -> tuple[str, str, str]:
    """Layout, field and symmetry from the first line."""
    if line.startswith(b"\xef\xbb\xbf"):
        raise UnreadableFile("line 1 begins with a byte order mark; save the file as plain text without one")
    words = line.decode("latin1").lower().split()
    if len(words) != 5 or words[0] != "%%matrixmarket":
        raise UnreadableFile('line 1 should be "%%MatrixMarket matrix coordinate real symmetric" or alike')
    kind, layout, field, symmetry = words[1:]
    known = kind == "matrix" and layout in ("coordinate", "array") and field in FIELDS
    if not known or (layout == "array" and field == "pattern"):
        raise UnreadableFile(f"line 1: a {quoted(' '.join(words[1:4]))} is not read; give a matrix of numbers")
    if symmetry == "skew-symmetric":
        raise UnreadableFile("line 1: the matrix is skew-symmetric; a symmetric or Hermitian one is needed")
    if symmetry not in SYMMETRIES:
        raise UnreadableFile(f"line 1: unknown symmetry {quoted(symmetry)!r}; use one of {', '.join(SYMMETRIES)}")
    return layout, field, symmetry
