"""Hostile .mat files of versions 4, 5 and 7.3."""

from __future__ import annotations

import functools
import io
import struct
import zlib
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from .draw import Rng, damaged, number, pick
from .numpy_files import BOMB_BYTES, N, hostile_array, symmetric


def _content(rng: Rng) -> dict[str, Any]:
    A = symmetric(rng)
    S = sp.csc_matrix(np.where(np.abs(A) > 1, A, 0))
    found: dict[str, Any] = {"A": S if rng.random() < 0.5 else A, "B": np.eye(N)}
    if rng.random() < 0.3:
        found |= {"text": "words", "cell": np.array([1, "a"], dtype=object), "record": {"x": 1.0}, "Z": A + 1j * A}
    return found


def level_4(rng: Rng) -> tuple[str, bytes]:
    """A file of version 4 with a hostile header."""
    content = {name: value for name, value in _content(rng).items() if name in ("A", "B", "Z", "text")}
    file = io.BytesIO()
    scipy.io.savemat(file, content, format="4")
    data = bytearray(file.getvalue())
    if rng.random() < 0.7:
        value = number(rng) % 2**32
        struct.pack_into(pick(rng, ("<I", ">I")), data, 4 * int(rng.integers(5)), value)
    return "A.mat", damaged(rng, bytes(data)) if rng.random() < 0.4 else bytes(data)


def level_5(rng: Rng) -> tuple[str, bytes]:
    """A file of version 5 with a hostile tag, dimension, flag or index, compressed or not."""
    file = io.BytesIO()
    compress = rng.random() < 0.4
    content = _content(rng)
    if rng.random() < 0.05:
        return "A.mat", pick(rng, (_bomb(), damaged(rng, _bomb())))
    scipy.io.savemat(file, content, do_compression=compress)
    data = file.getvalue()
    if rng.random() < 0.3:
        return "A.mat", damaged(rng, data)
    if not compress:
        return "A.mat", _tampered(rng, data, 128)
    length = struct.unpack_from("<I", data, 132)[0]
    inner = _tampered(rng, zlib.decompress(data[136 : 136 + length]), 0)
    packed = zlib.compress(inner)
    claimed = number(rng) % 2**32 if rng.random() < 0.1 else len(packed)
    return "A.mat", data[:128] + struct.pack("<2I", 15, claimed) + packed + data[136 + length :]


@functools.cache
def _bomb() -> bytes:
    """A small file with a pair, and a matrix that nobody asks for."""
    file = io.BytesIO()
    content = {"A": np.eye(N), "unasked": np.zeros((BOMB_BYTES // 8000, 1000)), "B": np.eye(N)}
    scipy.io.savemat(file, content, do_compression=True)
    return file.getvalue()


def _tampered(rng: Rng, data: bytes, start: int) -> bytes:
    """One of the four-byte words changed, mostly one of the first."""
    changed = bytearray(data)
    words = (len(data) - start) // 4
    at = start + 4 * int(rng.integers(min(words, 24) if rng.random() < 0.8 else words))
    struct.pack_into("<I", changed, at, number(rng) % 2**32)
    return bytes(changed)


def hdf5(rng: Rng) -> tuple[str, bytes]:
    """A file of version 7.3 with hostile parts, or a damaged one."""
    import h5py

    C = sp.csc_array(np.where(rng.random((N, N)) < 0.3, symmetric(rng), 0))
    parts = {"data": C.data, "ir": C.indices.astype("u8"), "jc": C.indptr.astype("u8")}
    way = int(rng.integers(4))
    if way == 0:
        name = pick(rng, tuple(parts))
        parts[name] = hostile_array(rng, parts[name])
    file = io.BytesIO()
    with h5py.File(file, "w", userblock_size=512) as out:
        group = out.create_group("A")
        group.attrs["MATLAB_sparse"] = _attribute(rng) if way == 1 else np.uint64(N)
        for name, part in parts.items():
            if part.dtype.kind in "iufcbS":
                group.create_dataset(name, data=part, compression="gzip" if part.size > 1000 else None)
        out["B"] = np.eye(N)
        _more(rng, out, h5py)
    data = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + file.getvalue()[128:]
    return "A.mat", damaged(rng, data) if way == 3 else data


def _attribute(rng: Rng) -> Any:
    return pick(rng, (np.uint64(number(rng) % 2**64), "word", np.nan, np.inf, np.arange(3), -1, b"", 2.5))


def _more(rng: Rng, out: Any, h5py: Any) -> None:
    way = int(rng.integers(8))
    if way == 0:
        out.create_dataset("K", shape=(10**6, 10**6), dtype="f8", chunks=(100, 100))
    if way == 1:
        out["M"] = h5py.ExternalLink("/dev/zero", "/x")
        out["K"] = h5py.SoftLink("/nowhere")
    if way == 2:
        # not written, so that the file holds nothing of it
        out.create_dataset("K", shape=(BOMB_BYTES // 8000, 1000), dtype="f8", compression="gzip", chunks=(500, 500))
    if way == 3:
        out.create_dataset("K", shape=(20, 20), dtype="f8", external=[("/dev/zero", 0, 3200)])
    if way == 4:
        out["K"] = h5py.SoftLink("/A")
        out["names"] = np.array([[b"a", b"b"], [b"c", b"d"]])
