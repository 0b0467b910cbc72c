"""A matrix in a file that is not read yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..solution.store.guard import UnreadableFile

# Up to this number of rows, row pointers take less memory than the interpreter; more rows must have entries.
ROWS_WITHOUT_ENTRIES = 10_000_000
ROWS_PER_ENTRY = 10
# Of a file with more matrices only the first are listed.
MAX_MATRICES = 10_000


@dataclass(frozen=True)
class Entry:
    """Shape and type of a matrix, `size` in bytes as far as it is known, and how to read it.

    `dtype` is None if the entries are no numbers; `described` names their type.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any] | None
    load: Callable[[], Any]
    described: str = "something else"
    size: int = 0


def read_entry(matrix: Any) -> Entry:
    """The entry of a matrix that is in memory."""
    return Entry(matrix.shape, matrix.dtype, lambda: matrix, f"dtype {matrix.dtype}")


def check_size(rows: int, columns: int, entries: int) -> None:
    """Refuse a sparse matrix that is not square, or that declares many more rows than it has entries."""
    if rows != columns or rows < 1:
        raise UnreadableFile(f"the matrix has shape ({rows}, {columns}); a square matrix is needed")
    if rows > ROWS_WITHOUT_ENTRIES + ROWS_PER_ENTRY * entries:
        raise UnreadableFile(
            f"the matrix declares {rows} rows and columns, and has {entries} entries; leave out the empty rows"
        )
