"""Hostile .npy and .npz files: dense arrays and SciPy's sparse matrices."""

from __future__ import annotations

import functools
import io
import struct
import warnings
import zipfile
from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from .draw import Rng, damaged, number, pick

N = 12
TYPES = (
    *(
        "<f8",
        ">f8",
        "<f4",
        "<i8",
        "|b1",
        "<c16",
        "|u1",
        "|O",
        "<U5",
        "|S3",
        "|V8",
        "<f3",
        "<i16",
        "<M8[ns]",
        "<f2",
        "<g",
    ),
    *("O", "", "x" * 3000, "<f8'; import os; '", "<U99999999", "(2,2)<f8", "<f8,<i4"),
)
# More than a file may take that does not hold it as a matrix; written once, since that takes a second.
BOMB_BYTES = 240_000_000


def symmetric(rng: Rng) -> np.ndarray:
    """A valid dense matrix."""
    A = rng.standard_normal((N, N))
    return A + A.T


def npy_bytes(array: np.ndarray, *, allow_pickle: bool = False) -> bytes:
    """The array as .npy."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=allow_pickle)
    return file.getvalue()


def npy(rng: Rng) -> tuple[str, bytes]:
    """An .npy file with a lying header, or a damaged one."""
    return "A.npy", _npy(rng)


def _npy(rng: Rng) -> bytes:
    way = int(rng.integers(4))
    data = symmetric(rng)
    if way == 0:
        return damaged(rng, npy_bytes(data))
    if way == 1:
        odd = (
            np.array([[{}]], dtype=object),
            np.array("text"),
            np.zeros((0, 0)),
            np.ones(3),
            np.zeros((2, 2), "i4,f8"),
        )
        return npy_bytes(pick(rng, odd), allow_pickle=True)
    description = repr(pick(rng, TYPES)) if rng.random() < 0.5 else "'<f8'"
    header = f"{{'descr': {description}, 'fortran_order': {_order(rng)}, 'shape': {_shape(rng)}, }}"
    if way == 3:
        nested = (
            "(" * 300,
            "[" * 5000,
            "-" * 6000 + "1",
            "{" * 200 + "}" * 200,
            "'descr': '<f8'",
            "\0",
            "1" * 5000,
            "é",
        )
        header = header.replace(pick(rng, ("'<f8'", "}", "'shape'", "(")), pick(rng, nested), 1)
    text = header.encode("utf-8").ljust(int(rng.integers(1, 200))) + b"\n"
    version = pick(rng, (1, 1, 1, 2, 3, 4, 255))
    length = number(rng) % 2**16 if rng.random() < 0.2 else len(text) % 2**16
    width = "<H" if version == 1 else "<I"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack(width, length) + text + data.tobytes()


def _order(rng: Rng) -> str:
    return pick(rng, ("False", "False", "True", "None", "1", "'False'"))


def _shape(rng: Rng) -> str:
    n = number(rng)
    shapes = (
        f"({N}, {N})",
        f"({N}, {N})",
        f"({n}, {n})",
        f"({n},)",
        "()",
        "(0, 0)",
        "(-1, -1)",
        "(2.0, 2.0)",
        "(12L, 12L)",
    )
    return pick(rng, (*shapes, f"(0, {n})", f"({n}, {N}, {N})", "None", f"[{N}, {N}]", "(" + "1, " * 500 + ")"))


def npz_bytes(members: Mapping[str, bytes], *, compress: bool = False) -> bytes:
    """A zip archive of these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


@functools.cache
def dense_bomb() -> bytes:
    """A small archive with a pair, and an array that nobody asks for."""
    members = {f"{name}.npy": npy_bytes(np.eye(N)) for name in "AB"}
    unasked = np.zeros((BOMB_BYTES // 8000, 1000))
    return npz_bytes(members | {"unasked.npy": npy_bytes(unasked)}, compress=True)


@functools.cache
def sparse_bomb(name: str) -> bytes:
    """A sparse matrix of which one part is much too long."""
    parts = {"indices": np.arange(N), "indptr": np.arange(N + 1), "data": np.ones(N), "shape": np.array([N, N])}
    parts |= {"format": np.array(b"csr"), name: np.zeros(BOMB_BYTES // 8, parts[name].dtype)}
    return npz_bytes({f"{name}.npy": npy_bytes(part) for name, part in parts.items()}, compress=True)


def dense(rng: Rng) -> tuple[str, bytes]:
    """An .npz of arrays, some of which are hostile, in an archive that may lie about them."""
    names = pick(rng, (("A", "B"), ("K", "M"), ("X",), ("A", "B", "C"), ("A", "a"), ("A\n\x1b[31m", "B")))
    members = {f"{name}.npy": npy_bytes(symmetric(rng)) for name in names}
    way = int(rng.integers(6))
    if way == 0:
        members[f"{pick(rng, names)}.npy"] = _npy(rng)
    if way == 1:
        extra = {
            "label.npy": npy_bytes(np.array("words")),
            "notes.txt": b"words",
            "bad.npy": b"no array",
            "../../x.npy": b"",
        }
        members |= {name: extra[name] for name in rng.permutation(list(extra))[: int(rng.integers(1, 4))].tolist()}
    data = dense_bomb() if way == 2 else npz_bytes(members, compress=rng.random() < 0.3)
    if way == 2:
        return "P.npz", pick(rng, (data, data, damaged(rng, data), _lying(rng, data)))
    if way == 3:
        return "P.npz", _lying(rng, data)
    if way == 4:
        return "P.npz", damaged(rng, data)
    if way == 5 and rng.random() < 0.2:
        return "P.npz", npz_bytes({f"{i}.npy": b"" for i in range(20_000)})
    return pick(rng, ("P.npz", "P.npz", "P.npz", "P.npy")), data


def _lying(rng: Rng, data: bytes) -> bytes:
    """The archive with a changed field of its directory or of a local header."""
    changed = bytearray(data)
    signature = pick(rng, (b"PK\x01\x02", b"PK\x01\x02", b"PK\x05\x06", b"PK\x03\x04"))
    at = data.find(signature) if rng.random() < 0.5 else data.rfind(signature)
    fields = {
        b"PK\x01\x02": ((8, "H"), (10, "H"), (16, "I"), (20, "I"), (24, "I"), (28, "H"), (30, "H"), (42, "I")),
        b"PK\x05\x06": ((4, "H"), (8, "H"), (10, "H"), (12, "I"), (16, "I"), (20, "H")),
        b"PK\x03\x04": ((6, "H"), (8, "H"), (18, "I"), (22, "I"), (26, "H"), (28, "H")),
    }
    offset, kind = pick(rng, fields[signature])
    struct.pack_into(f"<{kind}", changed, at + offset, number(rng) % (2**16 if kind == "H" else 2**32))
    return bytes(changed)


def sparse(rng: Rng) -> tuple[str, bytes]:
    """SciPy's .npz with hostile index arrays."""
    if rng.random() < 0.05:
        return "S.npz", sparse_bomb(pick(rng, ("indices", "indptr", "data", "shape")))
    A = sp.csr_array(np.where(rng.random((N, N)) < 0.3, symmetric(rng), 0))
    form = pick(rng, ("csr", "csr", "csc", "bsr", "coo", "dia"))
    M = A.asformat(form) if form != "bsr" else A.tobsr((2, 3))
    parts = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "bsr": ("indices", "indptr")}
    names = parts.get(form, ("offsets",) if form == "dia" else ("row", "col"))
    arrays = {name: np.array(getattr(M, name)) for name in (*names, "data")}
    arrays |= {"format": np.array(form.encode()), "shape": np.array(M.shape), "_is_array": np.array(True)}
    for _ in range(int(rng.integers(0, 3))):
        name = pick(rng, tuple(arrays))
        arrays[name] = hostile_array(rng, arrays[name])
    if rng.random() < 0.15:
        arrays.pop(pick(rng, tuple(arrays)))
    members = {f"{name}.npy": npy_bytes(array, allow_pickle=True) for name, array in arrays.items()}
    data = npz_bytes(members, compress=rng.random() < 0.5)
    return "S.npz", damaged(rng, data) if rng.random() < 0.2 else data


def hostile_array(rng: Rng, array: np.ndarray) -> np.ndarray:
    """The array with an entry, its length, its type or its shape changed."""
    way = int(rng.integers(9))
    if way == 0:
        return pick(rng, (array[:-1], array[1:])) if array.ndim else array.reshape(1)
    if way == 1:
        return np.repeat(array, 2, axis=0) if array.ndim else array.reshape(1, 1)
    if way == 2:
        kinds = (object, float, complex, bool, np.uint8, np.uint64, "S8", ">i8", np.float16)
        kind = pick(rng, kinds if array.dtype.kind in "iufcb" else (object, "S8"))
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            return array.astype(kind, casting="unsafe")
    if way == 3:
        return pick(
            rng, (array[None], array.ravel()[:0], np.array(7), np.array("word"), np.zeros(10_000), np.array(b"zzz"))
        )
    if way == 4:
        return array[::-1] if array.ndim else array
    with np.errstate(all="ignore"):
        kind = object if array.dtype.kind not in "iuf" else np.int64 if way < 8 else float
        changed = array.astype(kind)
    if changed.size:
        flat = changed.reshape(-1)
        flat[int(rng.integers(flat.size))] = (
            max(min(number(rng), 2**63 - 1), -(2**63)) if way < 8 else pick(rng, (np.nan, np.inf, 0.5))
        )
    return changed
