"""Reader of Harwell–Boeing and Rutherford–Boeing files: a header with Fortran formats, pointers, indices, values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
import scipy.sparse as sp

from ..solution.store.guard import UnreadableFile, quoted
from ..typing import Array
from .entry import Entry, check_size, read_entry

# A Fortran edit descriptor such as (1P,4E20.12): fields per line, type, field width.
FORMAT = re.compile(r"\(\s*(?:[+-]?\d+\s*P\s*,?)?\s*(\d*)\s*([IEDFG])\s*(\d+)(?:\.\d+)?(?:E\d+)?\s*\)", re.IGNORECASE)
# An exponent without the letter E, as Fortran writes exponents of three digits.
EXPONENT = re.compile(r"(?<=[\d.])([+-]\d+)$")
# Lines have 80 columns; some writers exceed them.
MAX_LINE_CHARACTERS = 10_000
# Fields are converted in portions, since a text takes ten times the memory of a number.
PORTION = 100_000


@dataclass
class _Lines:
    """The lines of a file, and the number of the last line read, for error messages."""

    file: TextIO
    number: int = 0

    def next(self, what: str) -> str:
        self.number += 1
        line = self.file.readline(MAX_LINE_CHARACTERS + 1)
        if not line:
            raise self.error(f"the file ends where {what} should be; it is truncated, or its header is wrong")
        if len(line) > MAX_LINE_CHARACTERS:
            raise self.error(f"it has more than {MAX_LINE_CHARACTERS} characters; check that this is the right format")
        if "\0" in line:
            raise self.error("it contains a NUL character: this is not a text file")
        return line.rstrip("\r\n")

    def error(self, text: str) -> UnreadableFile:
        return UnreadableFile(f"line {self.number}: {text}")

    def integers(self, line: str, count: int, what: str) -> list[int]:
        try:
            numbers = [int(line[start : start + 14]) for start in range(0, 14 * count, 14)]
        except ValueError:
            raise self.error(f"{what} should be {count} integers of 14 columns each; check the header") from None
        if min(numbers) < 0:
            raise self.error(f"{what} must not be negative; check the header")
        return numbers

    def numbers(self, form: str, count: int, what: str, convert: Callable[[list[str]], Array]) -> Array:
        """Read `count` fields in the given Fortran format, and convert them portion by portion."""
        match = FORMAT.fullmatch(form.strip())
        a_line, width = (int(match[1] or 1), int(match[3])) if match else (0, 0)
        if not (a_line > 0 and width > 0 and a_line * width <= MAX_LINE_CHARACTERS):
            raise self.error(f"unknown Fortran format {quoted(form)!r} of the {what}; check the header")
        portions: list[Array] = []
        fields: list[str] = []
        done = 0
        while done < count:
            line = self.next(f"{what} {done + 1} of {count}")
            expected = min(a_line, count - done)
            # some writers deviate from their stated format; use it only if the fields are not separated by blanks
            some = line.split()
            if len(some) != expected:
                some = [line[start : start + width] for start in range(0, width * expected, width)]
            if not some[-1].strip():
                raise self.error(f"expected {expected} {what} of {width} columns each")
            fields += some
            done += len(some)
            if len(fields) >= PORTION or done >= count:
                portions.append(convert(fields))
                fields = []
        return np.concatenate(portions) if portions else convert([])


def read_boeing(path: Path) -> Mapping[str, Entry]:
    """The matrix of the file, with symmetric storage expanded to the full matrix."""
    with path.open(encoding="ascii", errors="replace") as file:
        return {"matrix": read_entry(_read(_Lines(file)))}


def _read(lines: _Lines) -> sp.csc_array:
    lines.next("the title")
    counts = lines.next("the counts of lines")
    value_lines = lines.integers(counts, 4, "the counts of lines")[3]
    has_right_sides = counts[56:70].strip() not in ("", "0")
    header = lines.next("the type of the matrix")
    kind = _kind(lines, header)
    rows, columns, entries = lines.integers(header[14:], 3, "rows, columns and entries")
    check_size(rows, columns, entries)
    forms = lines.next("the formats")
    if has_right_sides:
        lines.next("the description of the right-hand sides")
    pointers = _whole(lines, forms[:16], columns + 1, "pointers", entries + 1)
    if pointers[0] != 0 or pointers[-1] != entries or (np.diff(pointers) < 0).any():
        raise lines.error(f"the column pointers must increase from 1 to {entries + 1} for {entries} entries")
    indices = _whole(lines, forms[16:32], entries, "indices", rows)
    values = _values(lines, forms[32:52], entries, kind) if value_lines else np.ones(entries)
    return _expanded(sp.csc_array((values, indices, pointers), shape=(rows, columns)), kind[1])


def _kind(lines: _Lines, header: str) -> str:
    kind = header[:3].upper()
    if not re.fullmatch("[RCPI][SUHZR][AE]", kind):
        raise lines.error(f"unknown matrix type {quoted(header[:3])!r}; expected a type such as RSA or RUA")
    if kind[2] == "E":
        raise lines.error("the matrix is stored by unassembled elements; give an assembled matrix")
    if kind[1] == "Z":
        raise lines.error("the matrix is skew-symmetric; a symmetric or Hermitian one is needed")
    return kind


def _whole(lines: _Lines, form: str, count: int, what: str, largest: int) -> Array:
    """Read one-based integers and return them zero-based."""

    def convert(fields: list[str]) -> Array:
        try:
            numbers = np.array(fields, dtype=np.int64) - 1
        except (ValueError, OverflowError):
            raise lines.error(f"the {what} up to this line are not all integers") from None
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < largest):
            raise lines.error(f"the {what} up to this line are not all between 1 and {largest}")
        return numbers

    return lines.numbers(form, count, what, convert)


def _values(lines: _Lines, form: str, entries: int, kind: str) -> Array:
    is_complex = kind[0] == "C"

    def convert(fields: list[str]) -> Array:
        try:
            return np.array([_real(field) for field in fields])
        except ValueError as error:
            raise lines.error(f"the values up to this line are not all numbers: {quoted(str(error))}") from None

    numbers = lines.numbers(form, entries * (1 + is_complex), "values", convert)
    return numbers[0::2] + 1j * numbers[1::2] if is_complex else numbers


def _real(field: str) -> float:
    text = field.strip().upper().replace("D", "E")
    try:
        return float(text)
    except ValueError:
        return float(EXPONENT.sub(r"E\1", text))


def _expanded(M: sp.csc_array, structure: str) -> sp.csc_array:
    """The full matrix from its stored lower triangle (symmetric or Hermitian)."""
    if structure in "UR":
        return M
    mirror = M.T if structure == "S" else M.conj().T
    return sp.csc_array(M + mirror - sp.diags_array(M.diagonal()))
