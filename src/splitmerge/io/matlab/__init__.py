"""MATLAB's .mat files of all versions, read here since only some matrices of a file are needed, and none is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...solution.store.guard import UnreadableFile
from ..entry import Entry
from .hdf5 import read_hdf5
from .level4 import read_level_4
from .level5 import read_level_5

__all__ = ["read_matlab"]


def read_matlab(path: Path) -> Mapping[str, Entry]:
    """The matrices of a .mat file by name; version 7.3, which is HDF5, needs h5py."""
    with path.open("rb") as file:
        start = file.read(128)
    if len(start) >= 20 and 0 in start[:4]:
        return read_level_4(path)
    if len(start) < 128 or start[126:128] not in (b"IM", b"MI"):
        raise UnreadableFile("the file is corrupt, or not a .mat file: its header is incomplete; save it again")
    version = start[125] if start[126:128] == b"IM" else start[124]
    if version not in (1, 2):
        raise UnreadableFile(f"it is a .mat file of the unknown version {version}; save it with -v7")
    return read_level_5(path) if version == 1 else read_hdf5(path)
