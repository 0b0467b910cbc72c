"""Hostile PETSc files: lying headers, lengths and indices, in all four variants of the format."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .draw import Rng, damaged, number, pick
from .numpy_files import N, symmetric

CLASS_ID = 1211216
PARTS = ("header", "lengths", "indices")


def petsc(rng: Rng) -> tuple[str, bytes]:
    """A file with something wrong, or sometimes nothing."""
    A = sp.csr_array(np.where(rng.random((N, N)) < 0.3, symmetric(rng), 0))
    index, value = pick(rng, (">i4", ">i8")), pick(rng, (">f8", ">c16"))
    if rng.random() < 0.1:
        return "A.petsc", _mutilated(rng, _dense(index, A.toarray().astype(value)))
    parts = {
        "header": np.array([CLASS_ID, N, N, A.nnz]),
        "lengths": np.diff(A.indptr).astype(np.int64),
        "indices": A.indices.astype(np.int64),
    }
    way = int(rng.integers(7))
    if way <= 2:
        _tamper(rng, parts[PARTS[way]], index)
    if way == 3:
        _shift(rng, parts)
    if way == 4:
        A.data = _resized(rng, parts, A.data)
    data = b"".join(part.astype(index).tobytes() for part in parts.values()) + A.data.astype(value).tobytes()
    return pick(rng, ("A.petsc", "A.petsc", "A.petsc", "A.dat")), _mutilated(rng, data) if way >= 5 else data


def _dense(index: str, M: np.ndarray) -> bytes:
    return np.array([CLASS_ID, N, N, -1], index).tobytes() + M.tobytes()


def _mutilated(rng: Rng, data: bytes) -> bytes:
    return pick(rng, (damaged(rng, data), data + data, data + rng.bytes(8), data[:-8], data[::-1], data))


def _tamper(rng: Rng, part: np.ndarray, index: str) -> None:
    """One number changed, as far as its type allows."""
    limits = np.iinfo(index)
    part[int(rng.integers(part.size))] = min(max(number(rng), limits.min), limits.max)


def _shift(rng: Rng, parts: dict[str, np.ndarray]) -> None:
    """Numbers changed so that the sums stay what they were: lengths that go astray, indices out of order."""
    part = parts[pick(rng, ("lengths", "indices"))]
    i, j = rng.integers(part.size, size=2)
    by = int(pick(rng, (1, N, 2**31 - 1 - N, int(part[j]) - int(part[i]))))
    part[i] += by
    part[j] -= by


def _resized(rng: Rng, parts: dict[str, np.ndarray], values: np.ndarray) -> np.ndarray:
    """Another number of entries, in the header and in the file, but not in the lengths of the rows."""
    count = int(rng.integers(2 * values.size))
    parts["header"][3] = count
    parts["indices"] = np.resize(parts["indices"], count)
    return np.resize(values, count)
