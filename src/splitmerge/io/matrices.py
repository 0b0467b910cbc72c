"""Pairs from files: Matrix Market, Harwell–Boeing and Rutherford–Boeing, NumPy, SciPy and MATLAB.

Symmetric storage is expanded. What is damaged is refused with the file and, where there are lines, the line.
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

# What readers raise when a file is damaged.
DAMAGES = (
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

# Names under which a file that holds both matrices may have them.
PAIRS = (("A", "B"), ("K", "M"), ("F", "S"), ("H", "S"))


def read_pair(path_A: str | PathLike[str], path_B: str | PathLike[str] | None = None) -> tuple[Any, Any]:
    """The matrices A and B from two files, or from one that holds both.

    The name says the format: `.mtx` and `.mtx.gz` (Matrix Market), `.hb`, `.rb`, `.rsa`, `.rua` and their like
    (Harwell–Boeing and Rutherford–Boeing), `.npz` (SciPy's sparse matrices, or NumPy's arrays), `.npy`, and `.mat`
    (also version 7.3 if h5py is installed). `file.mat#K` picks the matrix K of a file that holds several. Without a
    second file the first holds A and B, K and M, F and S or H and S; or a single matrix, and then B is None.

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
        for first, second in PAIRS:
            if first in upper and second in upper:
                return _pick(path, found, upper[first]), _pick(path, found, upper[second])
    return _pick(path, found, name), None


def read_matrix(path: str | PathLike[str]) -> Any:
    """One square matrix: an array, or a `csr_array` where the file holds a sparse one."""
    file, name = _split(path)
    return _pick(file, _matrices(file), name)


def _split(path: str | PathLike[str]) -> tuple[Path, str | None]:
    """The file and, after a #, the name of a matrix in it."""
    text = fspath(path)
    file, mark, name = text.rpartition("#")
    if mark and not Path(text).exists():
        return Path(file), name
    return Path(text), None


def _matrices(path: Path) -> Mapping[str, Any]:
    """Every matrix of the file by its name."""
    reader = _reader(path)
    try:
        return reader(path)
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise ValueError(f"{path}: this is a folder; give a file") from None
    except DAMAGES as error:
        text = str(error) or type(error).__name__
        raise ValueError(
            text if text.startswith(str(path)) else f"{path}: damaged or not what its name says: {text}"
        ) from error


def _reader(path: Path) -> Callable[[Path], Mapping[str, Any]]:
    name = path.name.lower()
    if name.endswith((".mtx", ".mtx.gz", ".mm", ".mm.gz")):
        return _matrix_market
    suffix = path.suffix.lower()
    if suffix in (".npz", ".npy", ".mat"):
        return {".npz": _npz, ".npy": _npy, ".mat": _matlab}[suffix]
    # .rsa, .cua, .psa …: the type of the matrix is the suffix
    if re.fullmatch(r"\.(hb|rb|[rcpi][suhzr][ae])", suffix):
        return _boeing
    raise ValueError(f"{path}: unknown kind of file; give .mtx, .mtx.gz, .hb, .rb, .npz, .npy or .mat")


def _pick(path: Path, found: Mapping[str, Any], name: str | None) -> Any:
    names = ", ".join(found)
    if name is None:
        if len(found) != 1:
            raise ValueError(
                f"{path}: holds {names or 'no matrix'}; pick one, as in {path.name}#{next(iter(found), 'A')}"
            )
        name = next(iter(found))
    if name not in found:
        raise ValueError(f"{path}: holds {names}, but no {name}")
    matrix: Any = found[name]
    shape = matrix.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{path}: {name} has shape {tuple(shape)}; a square matrix is needed")
    if matrix.dtype.kind not in "biufc":
        raise ValueError(f"{path}: {name} has dtype {matrix.dtype}; numbers are needed")
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
    """MATLAB's pairs of real and imaginary parts as complex numbers."""
    return values["real"] + 1j * values["imag"] if values.dtype.names == ("real", "imag") else values
