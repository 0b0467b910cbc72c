"""Reading a solution: its parts are checked completely, one by one and against each other, before it is made."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...problem.problem import Problem
from ...run.history import History
from ...typing import Array
from ..solution import Absent, Solution
from .archive import Archive, open_archive
from .compressed import check_compressed, check_numbers
from .guard import UnreadableFile, amount, quoted
from .header import facts, is_whole, parsed, question
from .parts import ARRAYS

# A header is some kilobytes; parsed JSON takes up to 25 times its length.
MAX_HEADER_BYTES = 2_000_000
WHOLE_COLUMNS = ("pair", "step", "products")


def load(path: str | PathLike[str], A: Any = None, B: Any = None) -> Solution:
    """The solution that `Solution.save` wrote to `path`; A and B replace, or stand in for, the matrices in the file."""
    shown = os.fspath(path)
    try:
        arrays = _read(path)
    except UnreadableFile as error:
        raise UnreadableFile(f"{shown} is broken, or not a file that Solution.save wrote: {error}") from error
    try:
        return _built(parsed(arrays.pop("header").tobytes()), arrays, A, B)
    except UnreadableFile as error:
        raise UnreadableFile(f"{shown} cannot be loaded: {error}") from error


def _read(path: str | PathLike[str]) -> dict[str, Array]:
    with open_archive(path) as archive:
        _check_members(archive)
        return {name: archive.read(name) for name in archive.names}


def _check_members(archive: Archive) -> None:
    """Refuse members that `Solution.save` does not write, so that no more is read than the file is long."""
    if "header" not in archive.names:
        raise UnreadableFile("it has no header; give the file that Solution.save wrote")
    matrices = [f"{name}{part}" for name in "AB" for part in ("", ".data", ".indices", ".indptr")]
    known = {"header", "spare", *ARRAYS, *(f"history.{name}" for name in History.columns), *matrices}
    unknown = [*archive.others, *(name for name in archive.names if name not in known)]
    if unknown:
        raise UnreadableFile(f"it has an unknown part {quoted(unknown[0])!r}")
    if archive.compressed:
        raise UnreadableFile("its parts are compressed, which Solution.save never does; save the solution again")
    header = archive.layout("header")
    if header.dtype != np.uint8 or len(header.shape) != 1 or header.size > MAX_HEADER_BYTES:
        raise UnreadableFile(
            f"its header has shape {quoted(str(header.shape))} and consists of {header.described}; at most "
            f"{amount(MAX_HEADER_BYTES)} of JSON are read"
        )


def _built(header: Mapping[str, Any], arrays: dict[str, Array], A: Any, B: Any) -> Solution:
    n = _check_arrays(arrays)
    if header["problem"] is None and (A is not None or B is not None):
        raise UnreadableFile("it does not say which problem it solves, so A and B have no place in it")
    told = facts(header)
    parts: dict[str, Any] = {name: arrays.pop(name) for name in ARRAYS}
    if told["converged"]:
        for name in ("eigenvalues", "eigenvectors", "residuals"):
            if not np.isfinite(parts[name]).all():
                raise UnreadableFile(f"its {name} are not all finite, and it says that it converged")
    history, spare = _history(arrays), arrays.pop("spare", None)
    problem = None if header["problem"] is None else _problem(header["problem"], arrays, n, A, B)
    if arrays:
        raise UnreadableFile(f"it has a part {min(arrays)!r} that belongs to none of its matrices")
    return Solution(**parts, **told, history=history, problem=problem, spare=spare)


def _check_arrays(arrays: Mapping[str, Array]) -> int:
    """Refuse arrays whose types or shapes do not fit together; the length of the eigenvectors."""
    _check_there(arrays, ARRAYS)
    vectors = arrays["eigenvectors"]
    if vectors.ndim != 2 or vectors.dtype.kind not in "fc":
        raise UnreadableFile(f"its eigenvectors have shape {vectors.shape} and dtype {vectors.dtype}")
    n, k = vectors.shape
    for name in ARRAYS:
        kinds = "iu" if name == "clusters" else "f"
        if name != "eigenvectors" and (arrays[name].shape != (k,) or arrays[name].dtype.kind not in kinds):
            found = arrays[name]
            raise UnreadableFile(
                f"its {name} have shape {found.shape} and dtype {found.dtype}, beside {k} eigenvectors"
            )
    spare = arrays.get("spare")
    if spare is not None and (spare.ndim != 2 or spare.shape[0] != n or spare.dtype.kind not in "fc"):
        raise UnreadableFile(
            f"its spare vectors have shape {spare.shape} and dtype {spare.dtype}, beside eigenvectors of length {n}"
        )
    return int(n)


def _check_there(arrays: Mapping[str, Array], names: Iterable[str]) -> None:
    for name in names:
        if name not in arrays:
            raise UnreadableFile(f"it has no {name!r}")


def _history(arrays: dict[str, Array]) -> History:
    names = [f"history.{name}" for name in History.columns]
    _check_there(arrays, names)
    columns = [arrays.pop(name) for name in names]
    if any(column.ndim != 1 for column in columns) or len({column.size for column in columns}) > 1:
        raise UnreadableFile(f"the columns of its history have shapes {[column.shape for column in columns]}")
    for name, column in zip(History.columns, columns, strict=True):
        # a history without rows has columns of the default type
        if column.size and column.dtype.kind not in ("iu" if name in WHOLE_COLUMNS else "fiu"):
            raise UnreadableFile(f"the column {name} of its history has dtype {column.dtype}")
    return History.of(columns)


def _problem(said: Any, arrays: dict[str, Array], n: int, A: Any, B: Any) -> Problem:
    asked = question(said, n)
    if said["B"] is None and B is not None:
        raise UnreadableFile("its problem has no B (the identity), and one was given")
    if said["A"] is None:
        raise UnreadableFile("its problem has no A")
    stored = {name: _matrix(said[name], name, arrays) for name in ("A", "B")}
    matrices = {name: stored[name] if given is None else given for name, given in (("A", A), ("B", B))}
    for name, M in matrices.items():
        shape = (n, n) if M is None or isinstance(M, Absent) else np.shape(M)
        # a vector B is a lumped mass
        if shape != (n, n) and not (name == "B" and B is not None and shape == (n,)):
            raise UnreadableFile(f"{name} has shape {shape}, and the eigenvectors are of length {n}")
    return Problem(**matrices, **asked)


def _matrix(said: Any, name: str, arrays: dict[str, Array]) -> Any:
    """The matrix that the header describes; its parts are taken out of `arrays`."""
    if said is None:
        return None
    if said == "dense":
        _check_there(arrays, [name])
        matrix = arrays.pop(name)
        check_numbers(matrix, f"entries of {name}", 2)
        return matrix
    if isinstance(said, dict) and said.keys() == {"absent"} and isinstance(said["absent"], str):
        return Absent(said["absent"])
    shape = said.get("sparse") if isinstance(said, dict) and len(said) == 1 else None
    if not (isinstance(shape, list) and len(shape) == 2 and all(is_whole(size) for size in shape)):
        raise UnreadableFile(f"its {name} is {quoted(repr(said))}, which does not describe a matrix")
    names = [f"{name}.{part}" for part in ("data", "indices", "indptr")]
    _check_there(arrays, names)
    data, indices, indptr = (arrays.pop(part) for part in names)
    check_numbers(data, f"{name}.data", 1)
    check_compressed(data, indices, indptr, (shape[0], shape[1]))
    return sp.csr_array((data, indices, indptr), shape=(shape[0], shape[1]))
