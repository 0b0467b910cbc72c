"""Readers of matrix pairs: Matrix Market, Harwell–Boeing, Rutherford–Boeing, NumPy, SciPy, MATLAB and PETSc files.

Symmetric storage is expanded. Errors name the file and, for text formats, the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..solution.store.compressed import native
from ..solution.store.guard import UnreadableFile, check_memory, check_regular, named, quoted
from .entry import Entry
from .harwell_boeing import read_boeing
from .matlab import read_matlab
from .matrix_market import read_matrix_market
from .numpy_files import read_npy, read_npz
from .petsc import read_petsc

Reader = Callable[[Path], Mapping[str, Entry]]

# Names of A and B in a file that contains both.
PAIR_NAMES = (("A", "B"), ("K", "M"), ("F", "S"), ("H", "S"))
# Readers of binary formats; PETSc's manual calls its files .dat.
BY_SUFFIX: dict[str, Reader] = {
    ".npz": read_npz,
    ".npy": read_npy,
    ".mat": read_matlab,
    ".petsc": read_petsc,
    ".dat": read_petsc,
}
# Largest number of matrix names that an error message lists.
LISTED_NAMES = 20


def read_pair(path_A: str | PathLike[str], path_B: str | PathLike[str] | None = None) -> tuple[Any, Any]:
    """Read the matrices A and B from two files, or from one file that contains both.

    The suffix determines the format: `.mtx` and `.mtx.gz` (Matrix Market); `.hb`, `.rb`, `.rsa`, `.rua` etc.
    (Harwell–Boeing and Rutherford–Boeing); `.npz` (SciPy sparse matrices or NumPy arrays); `.npy`; `.mat` (version 7.3
    needs h5py); `.petsc` and `.dat` (PETSc's binary format). `file.mat#K` selects the matrix K of a file that contains
    several. Without a second file, the first contains A and B, K and M, F and S, or H and S; or a single matrix, and
    then B is None. Of a file with several matrices only those that are needed are read. What cannot be read is refused
    with a ValueError.

    >>> import tempfile, pathlib, numpy as np, splitmerge as sm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "pair.npz"
    ...     np.savez(path, K=np.diag([2.0, 3.0]), M=np.eye(2))
    ...     A, B = sm.read_pair(path)
    >>> A
    array([[2., 0.],
           [0., 3.]])
    """
    if path_B is not None:
        return read_matrix(path_A), read_matrix(path_B)
    path, name = _split(path_A)
    with named(path):
        found = _entries(path)
        if name is None and len(found) > 1:
            upper = {key.upper(): key for key in found}
            for first, second in PAIR_NAMES:
                if first in upper and second in upper:
                    return _picked(path, found, upper[first]), _picked(path, found, upper[second])
        return _picked(path, found, name), None


def read_matrix(path: str | PathLike[str]) -> Any:
    """Read one square matrix as an array, or as a `csr_array` if the file contains a sparse matrix."""
    file, name = _split(path)
    with named(file):
        return _picked(file, _entries(file), name)


def _split(path: str | PathLike[str]) -> tuple[Path, str | None]:
    """Split `file#name` into the file and the name of the matrix; the name is None without #."""
    text = fspath(path)
    if "\0" in text:
        raise UnreadableFile(f"{quoted(text)}: a path cannot contain a NUL character; check the path")
    file, mark, name = text.rpartition("#")
    if mark and not Path(text).exists():
        return Path(file), name
    return Path(text), None


def _entries(path: Path) -> Mapping[str, Entry]:
    """All matrices of the file by name."""
    reader = _reader(path)
    check_regular(path)
    return reader(path)


def _reader(path: Path) -> Reader:
    name = path.name.lower()
    if name.endswith((".mtx", ".mtx.gz", ".mm", ".mm.gz")):
        return read_matrix_market
    suffix = path.suffix.lower()
    if suffix in BY_SUFFIX:
        return BY_SUFFIX[suffix]
    # .rsa, .cua, .psa …: the suffix is the Harwell–Boeing matrix type
    if re.fullmatch(r"\.(hb|rb|[rcpi][suhzr][ae])", suffix):
        return read_boeing
    raise UnreadableFile("unknown file format; give .mtx, .mtx.gz, .hb, .rb, .npz, .npy, .mat or .petsc")


def _picked(path: Path, found: Mapping[str, Entry], name: str | None) -> Any:
    names = ", ".join(quoted(name) for name in list(found)[:LISTED_NAMES]) + ", …" * (len(found) > LISTED_NAMES)
    if name is None:
        if len(found) != 1:
            example = quoted(next(iter(found), "A"))
            raise UnreadableFile(f"contains {names or 'no matrix'}; select one, as in {path.name}#{example}")
        name = next(iter(found))
    if name not in found:
        raise UnreadableFile(f"contains {names or 'no matrix'}, but no {name}; select one of these")
    entry, shown = found[name], quoted(name)
    shape = entry.shape
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise UnreadableFile(f"{shown} has shape {quoted(str(tuple(shape)))}; a square matrix is needed")
    if entry.dtype is None or entry.dtype.kind not in "biufc":
        raise UnreadableFile(f"{shown} consists of {entry.described}; a numeric matrix is needed")
    check_memory(entry.size, shown)
    matrix: Any = entry.load()
    if sp.issparse(matrix):
        sparse: Any = matrix
        return sp.csr_array(sparse)
    return native(np.asarray(matrix))
