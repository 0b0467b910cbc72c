"""NumPy's .npy and .npz files, and the sparse matrices that SciPy keeps in the latter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..solution.store.archive import Archive, open_archive
from ..solution.store.compressed import check_compressed, check_numbers, check_range, index_array, native
from ..solution.store.guard import UnreadableFile, quoted
from ..solution.store.npy import Layout, read_entries, read_layout
from ..typing import Array
from .entry import Entry, check_size

# What `scipy.sparse.save_npz` writes for each format, besides `format`, `shape` and `data`.
SPARSE_PARTS = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "dia": ("offsets",),
    "coo": ("row", "col"),
}


def read_npy(path: Path) -> Mapping[str, Entry]:
    """The array of an .npy file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        layout = read_layout(file)

    def load() -> Array:
        with path.open("rb") as file:
            file.seek(layout.header_bytes)
            return read_entries(file, layout, size - layout.header_bytes)

    return {"matrix": _entry(layout, load)}


def read_npz(path: Path) -> Mapping[str, Entry]:
    """The sparse matrix of an .npz file, or its arrays with two dimensions."""
    with open_archive(path) as archive:
        if {"format", "shape"} <= set(archive.names):
            return {"matrix": _sparse(archive)}
        layouts = {name: _layout(archive, name) for name in archive.names}

    def load(name: str) -> Array:
        with open_archive(path) as archive:
            return archive.read(name)

    return {
        name: _entry(layout, lambda name=name: load(name))
        for name, layout in layouts.items()
        if layout is not None and len(layout.shape) == 2
    }


def _layout(archive: Archive, name: str) -> Layout | None:
    """The layout of an array; None for a part that is none, which does not matter unless it is asked for."""
    try:
        return archive.layout(name)
    except UnreadableFile:
        if len(archive.names) == 1:
            raise
        return None


def _entry(layout: Layout, load: Any) -> Entry:
    described = layout.described if layout.dtype is None else f"dtype {layout.dtype}"
    # what the header says of the size is compared with the file when it is read, which gives a better message
    return Entry(layout.shape, layout.dtype, load, described)


def _sparse(archive: Archive) -> Entry:
    """The matrix that `scipy.sparse.save_npz` wrote, read now since its size is that of its parts."""
    form = _format(archive)
    shape = _small(archive, "shape")
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise UnreadableFile(f"its shape is {quoted(str(shape.tolist()))}; two whole numbers are needed")
    rows, columns = (int(size) for size in shape)
    names = ("data", *SPARSE_PARTS[form])
    layouts = {name: archive.layout(name) for name in names}
    check_size(rows, columns, math.prod(layouts["data"].shape))
    _check_lengths(layouts, rows)
    data, *parts = (archive.read(name) for name in names)
    check_numbers(data, "data", {"bsr": 3, "dia": 2}.get(form, 1))
    # SciPy has no sparse matrices in half precision
    data = data.astype(np.float32) if data.dtype.kind == "f" and data.dtype.itemsize == 2 else native(data)
    matrix = _assembled(form, data, [native(part) for part in parts], rows)
    return Entry(matrix.shape, matrix.dtype, lambda: matrix, f"dtype {matrix.dtype}")


def _check_lengths(layouts: Mapping[str, Layout], n: int) -> None:
    """Refuse parts whose lengths do not fit together, before any of them is read."""
    count = layouts["data"].shape[:1]
    for name, layout in layouts.items():
        fits = (len(layout.shape) == 1 and layout.shape[0] <= n + 1) if name == "indptr" else layout.shape[:1] == count
        if not fits:
            raise UnreadableFile(
                f"its {name} has shape {quoted(str(layout.shape))}, its data {quoted(str(layouts['data'].shape))}, and "
                f"the matrix is of order {n}; save it again"
            )


def _format(archive: Archive) -> str:
    value = _small(archive, "format")
    word = value.item() if value.shape == () and value.dtype.kind in "SU" else ""
    form: str = word.decode("latin1") if isinstance(word, bytes) else word
    if form not in SPARSE_PARTS:
        raise UnreadableFile(f"its sparse format is {quoted(form)!r}; use one of {', '.join(SPARSE_PARTS)}")
    return form


def _small(archive: Archive, name: str) -> Array:
    """An array of a few bytes; a longer one is not read."""
    layout = archive.layout(name)
    if layout.size > 1000:
        raise UnreadableFile(f"its {name} has {layout.size} bytes; the matrix is not as SciPy saves it, save it again")
    return archive.read(name)


def _assembled(form: str, data: Array, parts: list[Array], n: int) -> Any:
    if form == "dia":
        return _diagonals(data, parts[0], n)
    if form == "coo":
        row, column = parts
        if not row.shape == column.shape == data.shape:
            raise UnreadableFile(
                f"it has {row.size} rows and {column.size} columns of {data.size} values; save it again"
            )
        check_range(row, n, "row")
        check_range(column, n, "col")
        return sp.coo_array((data, (index_array(row), index_array(column))), shape=(n, n))
    indices, indptr = parts
    if form == "bsr":
        return _blocks(data, indices, indptr, n)
    check_compressed(data, indices, indptr, (n, n))
    kind = sp.csr_array if form == "csr" else sp.csc_array
    return kind((data, index_array(indices), index_array(indptr)), shape=(n, n))


def _blocks(data: Array, indices: Array, indptr: Array, n: int) -> Any:
    height, width = data.shape[1:]
    if not height or not width or n % height or n % width:
        raise UnreadableFile(f"its blocks of {height} × {width} do not divide a matrix of order {n}; save it again")
    check_compressed(data, indices, indptr, (n // height, n // width))
    return sp.bsr_array((data, index_array(indices), index_array(indptr)), shape=(n, n))


def _diagonals(data: Array, offsets: Array, n: int) -> Any:
    if offsets.shape != data.shape[:1] or offsets.dtype.kind not in "iu":
        raise UnreadableFile(f"it has {offsets.size} offsets beside {data.shape[0]} diagonals; save it again")
    if offsets.size and not (offsets.min() > -n and int(offsets.max()) < n):
        raise UnreadableFile(f"its offsets go from {offsets.min()} to {offsets.max()}, outside of the matrix")
    if np.unique(offsets).size != offsets.size:
        raise UnreadableFile("it has a diagonal twice; save it again")
    return sp.dia_array((data, index_array(offsets)), shape=(n, n))
