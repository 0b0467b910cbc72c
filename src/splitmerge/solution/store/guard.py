"""Unreadable files: one class of errors, and the one place that turns the exceptions of other libraries into it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from ...system.memory import free_memory

# The longest piece of a foreign text that an error message quotes.
QUOTED_CHARACTERS = 200


class UnreadableFile(ValueError):
    """A file that cannot be read; the message says what is wrong with it and what to do."""


@contextmanager
def foreign(what: str) -> Iterator[None]:
    """Turn whatever a parser of another library raises into `UnreadableFile`.

    Parsers raise nearly anything for a damaged file, so that no list of exceptions is complete; hence nothing but a
    call of such a parser belongs into this block.
    """
    try:
        yield
    except UnreadableFile:
        raise
    except MemoryError:
        raise UnreadableFile(f"{what}: it does not fit into memory") from None
    except RecursionError:
        raise UnreadableFile(f"{what}: it is nested too deeply") from None
    except Exception as error:
        raise UnreadableFile(f"{what}: {quoted(str(error)) or type(error).__name__}") from error


@contextmanager
def named(path: str | PathLike[str]) -> Iterator[None]:
    """Put the name of the file before what is wrong with it."""
    name = os.fspath(path)
    try:
        yield
    except UnreadableFile as error:
        raise UnreadableFile(f"{name}: {error}") from error
    except FileNotFoundError:
        raise UnreadableFile(f"{name}: no such file; check the path") from None
    except OSError as error:
        raise UnreadableFile(f"{name}: {error.strerror or error}; check the path and its permissions") from error


def quoted(text: str) -> str:
    """Foreign text for a message: in one line, printable and short."""
    line = "".join(
        letter if letter.isprintable() else "?" for letter in " ".join(text[: 4 * QUOTED_CHARACTERS].split())
    )
    return line if len(line) <= QUOTED_CHARACTERS else f"{line[: QUOTED_CHARACTERS - 1]}…"


def check_regular(path: str | PathLike[str]) -> int:
    """The size of a regular file; anything else is refused, since opening a pipe may wait forever."""
    found = os.stat(path)
    if stat.S_ISDIR(found.st_mode):
        raise UnreadableFile("this is a folder; give a file")
    if not stat.S_ISREG(found.st_mode):
        raise UnreadableFile("this is a pipe, a socket or a device; copy its content to a regular file and give that")
    return found.st_size


def check_memory(size: int, what: str) -> None:
    """Refuse what needs more bytes than there are."""
    free = free_memory()
    if size > free:
        raise UnreadableFile(f"{what} needs {amount(size)}, and {amount(free)} are available; use a larger machine")


def amount(size: float) -> str:
    """A number of bytes for a message."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} bytes"
