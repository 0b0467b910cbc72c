"""Writer of PETSc's binary matrices, byte for byte as PETSc writes them."""

from __future__ import annotations

from os import PathLike
from typing import Any, BinaryIO

import numpy as np

from ...solution.store.replacement import replaced
from ...typing import Array
from ..canonical import canonical
from .layout import CHUNK_NUMBERS, INDEX_TYPES, VALUE_TYPES, Layout, packed_header

MAX_SHORT_INDEX = 2**31 - 1


def write_petsc(path: str | PathLike[str], matrix: Any, *, wide: bool = False) -> None:
    """Write a sparse or dense matrix as a sparse one; a file at `path` is replaced when the new one is complete.

    Real numbers are written as a real build of PETSc reads them, in double precision, complex ones as a complex build
    does. Indices have four bytes if they and the number of entries fit into them; otherwise, or if `wide` is True,
    eight bytes, as a build with 64-bit indices reads them.
    """
    M = canonical(matrix)
    wide = wide or max(*M.shape, M.nnz) > MAX_SHORT_INDEX
    layout = Layout(M.shape, M.nnz, False, INDEX_TYPES[wide], VALUE_TYPES[M.dtype.kind == "c"])
    with replaced(path) as file:
        file.write(packed_header(layout))
        _write(file, np.diff(M.indptr), layout.index_type)
        _write(file, M.indices, layout.index_type)
        _write(file, M.data, layout.value_type)


def _write(file: BinaryIO, numbers: Array, dtype: np.dtype[Any]) -> None:
    for start in range(0, numbers.size, CHUNK_NUMBERS):
        file.write(numbers[start : start + CHUNK_NUMBERS].astype(dtype).tobytes())
