"""Files that are written as a whole or not at all."""

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
    """A file to write to, which takes the place of `path` when the block ends well; a crash leaves what was there."""
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
    """The text as a file; what is no UTF-8, such as the name of a file, must not cost it."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8", "replace"))
