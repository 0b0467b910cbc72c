"""Writers of one matrix: PETSc, Matrix Market, SciPy and NumPy files, chosen by the suffix of the file.

Values keep all digits of double precision. A file is replaced as a whole, or left as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import scipy.sparse as sp

from ..solution.store.guard import check_memory
from ..solution.store.replacement import replaced
from .canonical import canonical
from .petsc import write_petsc

SUFFIXES = (".petsc", ".mtx", ".npz", ".npy")
# As in the banner of a Matrix Market file; only the lower triangle is stored unless it is general.
Symmetry = Literal["general", "symmetric", "hermitian"]


@dataclass(frozen=True)
class Written:
    """The order of a matrix, the number of entries that were stored, and which symmetry stands for the others."""

    n: int
    entries: int
    symmetry: Symmetry = "general"


class _Stream:
    """Only `write` of a file: NumPy writes to a real file by a function in C, whose errors have no reason."""

    def __init__(self, file: BinaryIO) -> None:
        self.write = file.write


def write_matrix(path: str | PathLike[str], matrix: Any) -> Written:
    """Write a square matrix, sparse or dense, in the format that the suffix of `path` determines.

    `.petsc` (PETSc's binary format) and `.npz` (SciPy's) store the nonzeros of a dense matrix, `.npy` all entries of a
    sparse one. `.mtx` (Matrix Market) stores the lower triangle of a matrix that is exactly symmetric or Hermitian.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path}: unknown file format; give a name that ends in {', '.join(SUFFIXES)}")
    if suffix == ".npy":
        return _write_npy(path, matrix)
    if suffix == ".mtx":
        return _write_matrix_market(path, matrix)
    M = canonical(matrix)
    if suffix == ".petsc":
        write_petsc(path, M)
    else:
        with replaced(path) as file:
            sp.save_npz(file, M)
    return Written(M.shape[0], M.nnz)


def _write_npy(path: str | PathLike[str], matrix: Any) -> Written:
    n, is_sparse = matrix.shape[0], bool(sp.issparse(matrix))
    if is_sparse:
        check_memory(n * n * matrix.dtype.itemsize, f"{path}: a dense matrix of order {n}")
    dense = matrix.toarray() if is_sparse else np.asarray(matrix)
    with replaced(path) as file:
        np.save(_Stream(file), dense, allow_pickle=False)
    return Written(n, n * n)


def _write_matrix_market(path: str | PathLike[str], matrix: Any) -> Written:
    import scipy.io

    is_sparse = bool(sp.issparse(matrix))
    M: Any = canonical(matrix) if is_sparse else np.asarray(matrix)
    # the shortest digits that tell single precision numbers apart are other numbers in double precision
    if M.dtype.kind in "fc":
        M = M.astype(np.float64 if M.dtype.kind == "f" else np.complex128, copy=False)
    n, symmetry = M.shape[0], _symmetry(M, is_sparse)
    with replaced(path) as file:
        scipy.io.mmwrite(file, M, symmetry=symmetry)
    if symmetry == "general":
        return Written(n, M.nnz if is_sparse else n * n)
    return Written(n, _below(M) if is_sparse else n * (n + 1) // 2, symmetry)


def _below(M: Any) -> int:
    """The number of entries on and below the diagonal."""
    return int(np.count_nonzero(np.repeat(np.arange(M.shape[0]), np.diff(M.indptr)) >= M.indices))


def _symmetry(M: Any, is_sparse: bool) -> Symmetry:
    """The symmetry of all stored entries, to the last bit."""
    entries, mirrored = M, M.T
    if is_sparse:
        T = M.T.tocsr()
        if not (np.array_equal(T.indptr, M.indptr) and np.array_equal(T.indices, M.indices)):
            return "general"
        entries, mirrored = M.data, T.data
    if M.dtype.kind == "c" and np.array_equal(entries, mirrored.conj()):
        return "hermitian"
    return "symmetric" if np.array_equal(entries, mirrored) else "general"
