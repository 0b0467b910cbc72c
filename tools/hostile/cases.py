"""A case is a number: it determines the file and what reads it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import matlab_files, numpy_files, petsc_files, solutions, texts
from .draw import Rng, pick

SEED_STRIDE = 1_000_000
Builder = Callable[[Rng], tuple[str, bytes]]
KINDS: dict[str, Builder] = {
    "npy": numpy_files.npy,
    "npz": numpy_files.dense,
    "sparse npz": numpy_files.sparse,
    "solution": solutions.solution,
    "mtx": texts.matrix_market,
    "boeing": texts.boeing,
    "mat 4": matlab_files.level_4,
    "mat 5": matlab_files.level_5,
    "mat 7.3": matlab_files.hdf5,
    "petsc": petsc_files.petsc,
    "foreign": texts.foreign,
}
# Rare kinds: they take long to write, or there is not much to vary.
RARE: dict[str, Builder] = {"gzip bomb": texts.gzip_bomb}
SPECIAL = "special"


@dataclass(frozen=True)
class Case:
    """A file in a folder; `size` is that of its content."""

    number: int
    kind: str
    path: Path
    size: int


def kind_of(number: int) -> str:
    """The kind of the file of that number."""
    return _kind(np.random.default_rng(number))


def _kind(rng: Rng) -> str:
    drawn = rng.random()
    if drawn < 0.02:
        return SPECIAL if drawn < 0.01 else pick(rng, tuple(RARE))
    return pick(rng, tuple(KINDS))


def write(number: int, folder: Path) -> Case:
    """Write the file of that number."""
    rng = np.random.default_rng(number)
    kind = _kind(rng)
    if kind == SPECIAL:
        return Case(number, SPECIAL, _special(rng, folder), 0)
    name, data = {**KINDS, **RARE}[kind](rng)
    path = folder / name
    path.write_bytes(data)
    return Case(number, kind, path, len(data))


def _special(rng: Rng, folder: Path) -> Path:
    """What is not a regular file."""
    path = folder / pick(rng, ("A.npy", "A.npz", "A.mtx", "A.mtx.gz", "A.hb", "A.mat", "A.petsc", "solution"))
    way = int(rng.integers(7))
    if way == 0:
        path.mkdir()
    elif way == 1:
        os.mkfifo(path)
    elif way == 2:
        path.symlink_to(path)
    elif way == 3:
        path.symlink_to(pick(rng, ("/dev/zero", "/dev/null", "/dev/tty", "/dev/full", "/proc/self/mem")))
    elif way == 4:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    elif way == 5:
        path.write_bytes(b"")
        path.chmod(0)
    return path
