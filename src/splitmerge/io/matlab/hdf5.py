"""MATLAB files of version 7.3, which are HDF5: datasets are transposed, a sparse matrix is a group of three."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...solution.store.compressed import check_compressed, check_numbers, index_array
from ...solution.store.guard import UnreadableFile, amount, check_memory, foreign, quoted
from ...system.packages import missing
from ...typing import Array
from ..entry import MAX_MATRICES, Entry, check_size

DAMAGED = "the file is corrupt, or not a .mat file of version 7.3"
# Deflate cannot do better; what is not stored at all is a few default values.
MAX_RATIO = 1032
UNSTORED_BYTES = 1_000_000
COMPLEX = ("real", "imag")


def read_hdf5(path: Path) -> Mapping[str, Entry]:
    """The matrices of the file by name."""
    try:
        import h5py
    except ImportError:
        sentence = missing("a MATLAB file of version 7.3", "h5py")
        raise UnreadableFile(f"{sentence}, or save with -v7") from None
    with foreign(DAMAGED), h5py.File(path, "r") as file:
        items = {name: _described(h5py, file, name) for name in list(file)[:MAX_MATRICES]}
    found: dict[str, Entry] = {}
    for name, item in items.items():
        if item is not None:
            found[name] = Entry(*item, lambda name=name: _loaded(h5py, path, name))  # type: ignore[misc]
    return found


def _described(h5py: Any, file: Any, name: str) -> tuple[tuple[int, ...], np.dtype[Any] | None] | None:
    """Shape and type of a matrix; None if the item is not a matrix or is stored in another file."""
    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        return None
    item = file[name]
    if isinstance(item, h5py.Group):
        if "MATLAB_sparse" not in item.attrs or not isinstance(item.get("jc"), h5py.Dataset):
            return None
        return (int(item.attrs["MATLAB_sparse"]), item["jc"].size - 1), np.dtype(float)
    if not isinstance(item, h5py.Dataset) or len(item.shape or ()) != 2 or item.size <= 1:
        return None
    is_number = item.dtype.kind in "biufc" or item.dtype.names == COMPLEX
    return (item.shape[::-1], np.dtype(float)) if is_number else None


def _loaded(h5py: Any, path: Path, name: str) -> Any:
    with foreign(DAMAGED):
        file = h5py.File(path, "r")
    with file:
        with foreign(DAMAGED):
            item = file[name]
        if isinstance(item, h5py.Dataset):
            matrix = _values(h5py, item, 2).T
            check_numbers(matrix, quoted(name), 2)
            return matrix
        return _sparse(h5py, item)


def _sparse(h5py: Any, group: Any) -> Any:
    indptr = _values(h5py, group["jc"], 1)
    with foreign(DAMAGED):
        rows, is_empty = int(group.attrs["MATLAB_sparse"]), "data" not in group or "ir" not in group
        parts = None if is_empty else (group["data"], group["ir"])
    data, indices = (np.zeros(0), np.zeros(0, int)) if parts is None else (_values(h5py, part, 1) for part in parts)
    check_size(rows, indptr.size - 1, max(indices.size, indptr.size))
    check_numbers(data, "data", 1)
    check_compressed(data, indices, indptr, (indptr.size - 1, rows))
    return sp.csc_array((data, index_array(indices), index_array(indptr)), shape=(rows, rows))


def _values(h5py: Any, item: Any, dimensions: int) -> Array:
    """The numbers of a dataset, after comparing its size with what is stored of it."""
    if not isinstance(item, h5py.Dataset):
        raise UnreadableFile("its sparse matrix is not as MATLAB saves it; save it again")
    with foreign(DAMAGED):
        shape, size, stored = item.shape, int(item.nbytes), int(item.id.get_storage_size())
        elsewhere = item.is_virtual or item.external is not None
    if elsewhere or shape is None or len(shape) != dimensions:
        raise UnreadableFile(f"its dataset {quoted(str(item.name))} is not as MATLAB saves it; save it again")
    if size > MAX_RATIO * stored + UNSTORED_BYTES:
        raise UnreadableFile(
            f"its dataset {quoted(str(item.name))} declares {amount(size)}, and {amount(stored)} are stored"
        )
    check_memory(size, f"its dataset {quoted(str(item.name))}")
    with foreign(DAMAGED):
        values: Array = item[()]
    return values["real"] + 1j * values["imag"] if values.dtype.names == COMPLEX else values
