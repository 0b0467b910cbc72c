"""The members of an .npz file: only those that are asked for are read, and nothing is unpickled."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import IO, Any

from ...typing import Array
from .guard import UnreadableFile, amount, check_regular, foreign, quoted
from .npy import Layout, read_entries, read_layout

DAMAGED = "the file is corrupt, or not an .npz file"
# Deflate cannot do better than this; a member that claims more lies about its size.
MAX_RATIO = 1032
# zipfile makes an object of some hundred bytes for every member, whether it is used or not
MAX_DIRECTORY_BYTES = 4_000_000
END_RECORD, END_RECORD_64 = b"PK\x05\x06", b"PK\x06\x06"


class _Member:
    """A member whose reading raises `UnreadableFile` only."""

    def __init__(self, member: IO[bytes], what: str) -> None:
        self._member = member
        self._what = what

    def read(self, size: int, /) -> bytes:
        with foreign(self._what):
            return self._member.read(size)

    def readinto(self, buffer: Any, /) -> int:
        with foreign(self._what):
            # typeshed does not know that zipfile's members are buffered readers
            count: int = self._member.readinto(buffer)  # type: ignore[attr-defined]
            return count


class Archive:
    """The arrays in an open .npz file, by name."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._size = size
        _check_directory(file, size)
        with foreign(DAMAGED):
            self._zip = zipfile.ZipFile(file)
        infos = {info.filename: info for info in self._zip.infolist()}
        self._infos = {name.removesuffix(".npy"): info for name, info in infos.items() if name.endswith(".npy")}
        self.others = tuple(name for name in infos if not name.endswith(".npy"))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arrays."""
        return tuple(self._infos)

    @property
    def compressed(self) -> bool:
        """Is any of the arrays compressed?"""
        return any(info.compress_type != zipfile.ZIP_STORED for info in self._infos.values())

    def layout(self, name: str) -> Layout:
        """The type and shape of an array, from its header alone."""
        with self._member(name) as member:
            return read_layout(member)

    def read(self, name: str) -> Array:
        """The array of that name."""
        with self._member(name) as member:
            layout = read_layout(member)
            array = read_entries(member, layout, self._infos[name].file_size - layout.header_bytes)
            # zipfile compares the checksum at the end of the member
            if member.read(1):
                raise UnreadableFile(f"its part {quoted(name)} is longer than its header declares; save it again")
            return array

    @contextmanager
    def _member(self, name: str) -> Iterator[_Member]:
        self._check(name)
        what = f"its part {quoted(name)} is damaged"
        with foreign(what):
            member = self._zip.open(self._infos[name])
        with member:
            yield _Member(member, what)

    def _check(self, name: str) -> None:
        if name not in self._infos:
            raise UnreadableFile(f"it has no {name!r}")
        info = self._infos[name]
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UnreadableFile(f"its part {quoted(name)} is encrypted, or compressed in another way than NumPy does")
        ratio = 1 if info.compress_type == zipfile.ZIP_STORED else MAX_RATIO
        if info.compress_size > self._size or info.file_size > ratio * info.compress_size + 1024:
            raise UnreadableFile(
                f"its part {quoted(name)} claims {amount(info.file_size)} in {amount(info.compress_size)} of a file of "
                f"{amount(self._size)}, which is impossible; save it again"
            )


@contextmanager
def open_archive(path: str | PathLike[str]) -> Iterator[Archive]:
    """Open an .npz file."""
    size = check_regular(path)
    with open(path, "rb") as file:
        yield Archive(file, size)


def _check_directory(file: IO[bytes], size: int) -> None:
    """Refuse a directory that would take much more memory than any archive of matrices needs."""
    file.seek(max(0, size - 66_000))
    tail = file.read(66_000)
    at = tail.rfind(END_RECORD)
    if at < 0 or len(tail) < at + 22:
        raise UnreadableFile(f"{DAMAGED}: it does not end with a zip directory")
    declared = int.from_bytes(tail[at + 12 : at + 16], "little")
    at_64 = tail.rfind(END_RECORD_64, 0, at)
    if at_64 >= 0 and len(tail) >= at_64 + 48:
        declared = max(declared % 0xFFFFFFFF, int.from_bytes(tail[at_64 + 40 : at_64 + 48], "little"))
    file.seek(0)
    if declared > min(size, MAX_DIRECTORY_BYTES):
        raise UnreadableFile(
            f"its zip directory claims {amount(declared)} in a file of {amount(size)}; at most "
            f"{amount(MAX_DIRECTORY_BYTES)} are read, so save the matrices alone"
        )
