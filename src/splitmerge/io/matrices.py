"""Readers of matrix pairs: Matrix Market, Harwell–Boeing and Rutherford–Boeing, NumPy, SciPy and MATLAB files.

Symmetric storage is expanded. Errors name the file and, for text formats, the line.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from ..typing import Array
from .harwell_boeing import read_boeing

# Exceptions that the readers raise for a corrupt file.
READ_ERRORS = (
    ValueError,
    OSError,
    EOFError,
    KeyError,
    TypeError,
    IndexError,
    zlib.error,
    zipfile.BadZipFile,
    scipy.io.matlab.MatReadError,
)

# Names of A and B in a file that contains both.
PAIR_NAMES = (("A", "B"), ("K", "M"), ("F", "S"), ("H", "S"))


def read_pair(path_A: str | PathLike[str], path_B: str | PathLike[str] | None = None) -> tuple[Any, Any]:
    """Read the matrices A and B from two files, or from one file that contains both.

    The suffix determines the format: `.mtx` and `.mtx.gz` (Matrix Market); `.hb`, `.rb`, `.rsa`, `.rua` etc.
    (Harwell–Boeing and Rutherford–Boeing); `.npz` (SciPy sparse matrices or NumPy arrays); `.npy`; `.mat` (version 7.3
    needs h5py). `file.mat#K` selects the matrix K of a file that contains several. Without a second file, the first
    contains A and B, K and M, F and S, or H and S; or a single matrix, and then B is None.

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
    found = _matrices(path)
    if name is None and len(found) > 1:
        upper = {key.upper(): key for key in found}
        for first, second in PAIR_NAMES:
            if first in upper and second in upper:
                return _pick(path, found, upper[first]), _pick(path, found, upper[second])
    return _pick(path, found, name), None


def read_matrix(path: str | PathLike[str]) -> Any:
    """Read one square matrix as an array, or as a `csr_array` if the file contains a sparse matrix."""
    file, name = _split(path)
    return _pick(file, _matrices(file), name)


def _split(path: str | PathLike[str]) -> tuple[Path, str | None]:
    """Split `file#name` into the file and the name of the matrix; the name is None without #."""
    text = fspath(path)
    file, mark, name = text.rpartition("#")
    if mark and not Path(text).exists():
        return Path(file), name
    return Path(text), None


def _matrices(path: Path) -> Mapping[str, Any]:
    """All matrices of the file by name."""
    reader = _reader(path)
    try:
        return reader(path)
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise ValueError(f"{path}: this is a folder; give a file") from None
    except READ_ERRORS as error:
        text = str(error) or type(error).__name__
        raise ValueError(
            text
            if text.startswith(str(path))
            else f"{path}: the file is corrupt, or its format does not match its suffix: {text}"
        ) from error


def _reader(path: Path) -> Callable[[Path], Mapping[str, Any]]:
    name = path.name.lower()
    if name.endswith((".mtx", ".mtx.gz", ".mm", ".mm.gz")):
        return _matrix_market
    suffix = path.suffix.lower()
    if suffix in (".npz", ".npy", ".mat"):
        return {".npz": _npz, ".npy": _npy, ".mat": _matlab}[suffix]
    # .rsa, .cua, .psa …: the suffix is the Harwell–Boeing matrix type
    if re.fullmatch(r"\.(hb|rb|[rcpi][suhzr][ae])", suffix):
        return _boeing
    raise ValueError(f"{path}: unknown file format; give .mtx, .mtx.gz, .hb, .rb, .npz, .npy or .mat")


def _pick(path: Path, found: Mapping[str, Any], name: str | None) -> Any:
    names = ", ".join(found)
    if name is None:
        if len(found) != 1:
            raise ValueError(
                f"{path}: contains {names or 'no matrix'}; select one, as in {path.name}#{next(iter(found), 'A')}"
            )
        name = next(iter(found))
    if name not in found:
        raise ValueError(f"{path}: contains {names}, but no {name}; select one of these")
    matrix: Any = found[name]
    shape = matrix.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{path}: {name} has shape {tuple(shape)}; a square matrix is needed")
    if matrix.dtype.kind not in "biufc":
        raise ValueError(f"{path}: {name} has dtype {matrix.dtype}; a numeric matrix is needed")
    if sp.issparse(matrix):
        sparse: Any = matrix
        return sp.csr_array(sparse)
    return np.asarray(matrix)


def _matrix_market(path: Path) -> Mapping[str, Any]:
    return {"matrix": scipy.io.mmread(path, spmatrix=False)}


def _boeing(path: Path) -> Mapping[str, Any]:
    return {"matrix": read_boeing(path)}


def _npy(path: Path) -> Mapping[str, Any]:
    with path.open("rb") as file:
        return {"matrix": np.load(file, allow_pickle=False)}


def _npz(path: Path) -> Mapping[str, Any]:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        if "format" in archive.files and "shape" in archive.files:
            return {"matrix": sp.load_npz(path)}
        arrays = {name: archive[name] for name in archive.files}
    return {name: array for name, array in arrays.items() if array.ndim == 2}


def _matlab(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            stream: Any = file
            found = scipy.io.loadmat(stream, spmatrix=False)
    except NotImplementedError:
        return _matlab_hdf5(path)
    return {name: value for name, value in found.items() if not name.startswith("__") and _is_matrix(value)}


def _is_matrix(value: Any) -> bool:
    if sp.issparse(value):
        return True
    return isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "biufc" and value.size > 1


def _matlab_hdf5(path: Path) -> Mapping[str, Any]:
    """Version 7.3: datasets are transposed, a sparse matrix is a group of `data`, `ir` and `jc`."""
    try:
        import h5py
    except ImportError:
        raise ValueError(f"{path}: MATLAB files of version 7.3 need h5py; pip install h5py, or save with -v7") from None
    found: dict[str, Any] = {}
    with h5py.File(path) as file:
        for name, item in file.items():
            if isinstance(item, h5py.Group) and "MATLAB_sparse" in item.attrs and "jc" in item:
                indptr = item["jc"][()]
                shape = (int(item.attrs["MATLAB_sparse"]), indptr.size - 1)
                data = _complex(item["data"][()]) if "data" in item else np.zeros(0)
                indices = item["ir"][()] if "ir" in item else np.zeros(0, int)
                found[name] = sp.csc_array((data, indices, indptr), shape=shape)
            elif isinstance(item, h5py.Dataset) and item.ndim == 2 and item.size > 1:
                found[name] = _complex(item[()]).T
    return {name: value for name, value in found.items() if value.dtype.kind in "biufc"}


def _complex(values: Array) -> Array:
    """Convert MATLAB's structured (real, imag) values to complex numbers."""
    return values["real"] + 1j * values["imag"] if values.dtype.names == ("real", "imag") else values
