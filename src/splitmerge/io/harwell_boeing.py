"""Reader of Harwell–Boeing and Rutherford–Boeing files: a header with Fortran formats, pointers, indices, values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ..typing import Array

# A Fortran edit descriptor such as (1P,4E20.12): fields per line, type, field width.
FORMAT = re.compile(r"\(\s*(?:[+-]?\d+\s*P\s*,?)?\s*(\d*)\s*([IEDFG])\s*(\d+)(?:\.\d+)?(?:E\d+)?\s*\)", re.IGNORECASE)
# An exponent without the letter E, as Fortran writes exponents of three digits.
EXPONENT = re.compile(r"(?<=[\d.])([+-]\d+)$")


@dataclass
class _Lines:
    """The lines of a file, and the number of the last line read, for error messages."""

    path: Path
    lines: Iterator[str]
    number: int = 0

    def next(self, what: str) -> str:
        self.number += 1
        line = next(self.lines, None)
        if line is None:
            raise self.error(f"the file ends where {what} should be")
        return line.rstrip("\r\n")

    def error(self, text: str) -> ValueError:
        return ValueError(f"{self.path}: line {self.number}: {text}")

    def integers(self, line: str, count: int, what: str) -> list[int]:
        try:
            numbers = [int(line[start : start + 14]) for start in range(0, 14 * count, 14)]
        except ValueError:
            raise self.error(f"{what} should be {count} integers of 14 columns each; check the header") from None
        if min(numbers) < 0:
            raise self.error(f"{what} must not be negative; check the header")
        return numbers

    def numbers(self, form: str, count: int, what: str) -> list[str]:
        """Read `count` fields in the given Fortran format."""
        match = FORMAT.fullmatch(form.strip())
        if match is None:
            raise self.error(f"unknown Fortran format {form.strip()!r} of the {what}; check the header")
        a_line, width = int(match[1] or 1), int(match[3])
        fields: list[str] = []
        while len(fields) < count:
            line = self.next(f"{what} {len(fields) + 1} of {count}")
            expected = min(a_line, count - len(fields))
            # some writers deviate from their stated format; use it only if the fields are not separated by blanks
            some = line.split()
            if len(some) != expected:
                some = [line[start : start + width] for start in range(0, width * expected, width)]
            if not some[-1].strip():
                raise self.error(f"expected {expected} {what} of {width} columns each")
            fields += some
        return fields


def read_boeing(path: str | PathLike[str]) -> sp.csc_array:
    """Read the matrix of the file, expanding symmetric storage to the full matrix."""
    path = Path(path)
    with path.open(encoding="ascii", errors="replace") as file:
        return _read(_Lines(path, iter(file)))


def _read(lines: _Lines) -> sp.csc_array:
    lines.next("the title")
    counts = lines.next("the counts of lines")
    value_lines = lines.integers(counts, 4, "the counts of lines")[3]
    has_right_sides = counts[56:70].strip() not in ("", "0")
    header = lines.next("the type of the matrix")
    kind = header[:3].upper()
    if not re.fullmatch("[RCPI][SUHZR][AE]", kind):
        raise lines.error(f"unknown matrix type {header[:3]!r}; expected a type such as RSA or RUA")
    if kind[2] == "E":
        raise lines.error("the matrix is stored by unassembled elements; give an assembled matrix")
    rows, columns, entries = lines.integers(header[14:], 3, "rows, columns and entries")
    forms = lines.next("the formats")
    if has_right_sides:
        lines.next("the description of the right-hand sides")
    pointers = _whole(lines, forms[:16], columns + 1, "pointers", entries + 1)
    if pointers[0] != 0 or pointers[-1] != entries or (np.diff(pointers) < 0).any():
        raise lines.error(f"the column pointers must increase from 1 to {entries + 1} for {entries} entries")
    indices = _whole(lines, forms[16:32], entries, "indices", rows)
    values = _values(lines, forms[32:52], entries, kind) if value_lines else np.ones(entries)
    return _expanded(sp.csc_array((values, indices, pointers), shape=(rows, columns)), kind[1])


def _whole(lines: _Lines, form: str, count: int, what: str, largest: int) -> Array:
    """Read one-based integers and return them zero-based."""
    fields = lines.numbers(form, count, what)
    try:
        numbers = np.array(fields, dtype=np.int64) - 1
    except ValueError:
        raise lines.error(f"the {what} up to this line are not all integers") from None
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < largest):
        raise lines.error(f"the {what} up to this line are not all between 1 and {largest}")
    return numbers


def _values(lines: _Lines, form: str, entries: int, kind: str) -> Array:
    is_complex = kind[0] == "C"
    fields = lines.numbers(form, entries * (1 + is_complex), "values")
    try:
        numbers = np.array([_real(field) for field in fields])
    except ValueError as error:
        raise lines.error(f"the values up to this line are not all numbers: {error}") from None
    return numbers[0::2] + 1j * numbers[1::2] if is_complex else numbers


def _real(field: str) -> float:
    text = field.strip().upper().replace("D", "E")
    try:
        return float(text)
    except ValueError:
        return float(EXPONENT.sub(r"E\1", text))


def _expanded(M: sp.csc_array, structure: str) -> sp.csc_array:
    """The full matrix from its stored lower triangle (symmetric, Hermitian or skew-symmetric)."""
    if structure in "UR":
        return M
    mirror = {"S": M.T, "H": M.conj().T, "Z": -M.T}[structure]
    return sp.csc_array(M + mirror - sp.diags_array(M.diagonal()))
