"""Atomic file replacement."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` atomically on success; on failure `path` keeps its old content."""
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with open(beside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write `text` as UTF-8 atomically; characters that cannot be encoded (e.g. in file names) are replaced."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8", "replace"))
