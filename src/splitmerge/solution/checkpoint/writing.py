"""Writing a checkpoint: a temporary file beside it takes its place once all of it is on the disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from ...system.processes import current
from ...typing import Array
from ..store.replacement import UnwritableFile, check_replaceable, replaced
from .header import Header
from .layout import crc_of, encoded_head, trailer
from .rows import write_rows


def write(path: str | PathLike[str], header: Header, X: Array) -> None:
    """Replace the file by a checkpoint with this header and these vectors; a failure leaves the file as it was.

    Of distributed vectors, X are the rows of this process; process 0 writes them all.
    """
    processes = current()
    if processes is None:
        with _begun(path, header) as put:
            put(0, X)
    else:
        processes.collect(X, lambda: _begun(path, header))


@contextmanager
def _begun(path: str | PathLike[str], header: Header) -> Iterator[Callable[[int, Array], None]]:
    """A function that writes rows, range after range from the first; at the end the file is replaced."""
    head = encoded_head(header.said())
    layout, crc = header.layout(len(head)), crc_of(head)
    with replaced(path) as file:
        file.write(head)

        def put(first: int, rows: Array) -> None:
            nonlocal crc
            crc = write_rows(file, layout, first, rows, crc)

        yield put
        file.seek(layout.offset(layout.n))
        file.write(trailer(crc))


def check_target(path: str | PathLike[str]) -> None:
    """Refuse a path that no checkpoint can be written to, before any work; nothing is left behind."""
    processes = current()
    if processes is not None and processes.rank > 0:
        # process 0 writes
        return
    shown = f"checkpoint is {os.fspath(path)}"
    try:
        check_replaceable(path)
        target = Path(os.path.realpath(path))
        there = target.exists()
    except UnwritableFile as error:
        raise ValueError(f"checkpoint is {error}") from error
    except (OSError, ValueError) as error:
        # a path with a null character is a ValueError
        raise ValueError(f"{shown}: {getattr(error, 'strerror', None) or error}; give another path") from error
    if not target.parent.is_dir():
        raise ValueError(f"{shown}, and there is no folder {target.parent}; create it first")
    if there and not os.access(target, os.W_OK):
        raise ValueError(f"{shown}, a file without write permission; give another path")
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise ValueError(f"{shown}: {error.strerror or error}; give another path") from error
