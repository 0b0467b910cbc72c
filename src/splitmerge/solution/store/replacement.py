"""Replacement of an output file: the whole new content, or the old file as it was."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import BinaryIO

from ...system.atomic_file import whole_file


class UnwritableFile(ValueError):
    """A path that is not that of a regular file, and that nothing may replace."""


def check_replaceable(path: str | PathLike[str]) -> int | None:
    """The permission bits of the regular file at `path`, behind a link if it is one; None if there is no file.

    A folder, a device, a pipe or a socket is refused: to replace it would destroy it.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISREG(mode):
        return stat.S_IMODE(mode)
    what = "a folder" if stat.S_ISDIR(mode) else "a device, a pipe or a socket"
    raise UnwritableFile(f"{os.fspath(path)}: this is {what}, which is not replaced; give the name of a file")


@contextmanager
def replaced(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """A file that takes the place and the permission bits of the one at `path` when the block ends without an error."""
    permissions = check_replaceable(path)
    with whole_file(path) as file:
        if permissions is not None and hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), permissions)
        yield file


def replace_text(path: str | PathLike[str], text: str) -> None:
    """Write `text` as UTF-8; what cannot be encoded, such as parts of a file name, is replaced by "?"."""
    with replaced(path) as file:
        file.write(text.encode("utf-8", "replace"))
