"""Shared by the commands: exit codes, the argument parser, common options, checks of input and output files."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Any, NoReturn

from .output import say
from .wrapping import HelpFormatter


class Code(IntEnum):
    """Exit codes."""

    SUCCESS = 0
    NOT_CONVERGED = 1
    MISTAKE = 2
    INTERRUPTED = 130


EXIT_CODES = """exit codes:
  0    success
  1    not converged: the partial result is shown and saved
  2    invalid arguments or files
  130  interrupted by Ctrl-C: the partial result, if any, is shown and saved"""

FILES = """files:
  .mtx .mtx.gz (Matrix Market), .hb .rb .rsa … (Harwell-Boeing, Rutherford-Boeing), .npz .npy, .mat,
  .petsc .dat (PETSc's binary matrices);
  file.mat#K selects one matrix; a file that contains A and B, K and M, F and S or H and S is read as a pair"""


class Mistake(Exception):
    """A user error, described in one sentence."""


class Parser(argparse.ArgumentParser):
    """An argparse parser that raises `Mistake`, and accepts no abbreviations, which new options could break."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("formatter_class", HelpFormatter)
        options.setdefault("allow_abbrev", False)
        if sys.version_info >= (3, 14):
            options.setdefault("color", False)  # escape sequences would be wrapped as if they were shown
        super().__init__(*args, **options)

    def print_help(self, file: Any = None) -> None:
        """Print the help to stdout, which may be a closed pipe."""
        say(self.format_help().rstrip())

    def error(self, message: str) -> NoReturn:
        """Raise the error for `main` to print."""
        raise Mistake(f"{message}; see {self.prog} --help")


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options that are valid before and after the command."""
    parser.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help="show the traceback of an error"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option `--json`."""
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def add_pair(parser: argparse.ArgumentParser) -> None:
    """Add the positional arguments A and B."""
    parser.add_argument("A", help="file with A, or with both matrices")
    parser.add_argument("B", nargs="?", help="file with B (default: from the file of A, or the identity)")


def read(args: argparse.Namespace) -> tuple[Any, Any]:
    """Read the pair from the files given as arguments."""
    from ..io.matrices import read_pair

    return read_pair(args.A, args.B)


def epilog(examples: str, *more: str) -> str:
    """The epilog of a help text: examples, further sections and exit codes."""
    return "\n\n".join((f"examples:\n{examples}", *more, EXIT_CODES))


def check_writable(
    path: str, option: str, inputs: Sequence[str | None] = (), outputs: Sequence[str | None] = ()
) -> None:
    """Raise `Mistake` if a path is not writable, is an input file or another output, before any computation."""
    from ..solution.store.replacement import UnwritableFile, check_replaceable

    file = Path(path)
    folder = file.parent
    try:
        check_replaceable(path)
    except UnwritableFile as error:
        raise Mistake(f"{option} {error}") from error
    except (OSError, ValueError) as error:
        raise Mistake(f"{option} {path}: {getattr(error, 'strerror', None) or error}; give another path") from error
    if not folder.is_dir():
        raise Mistake(f"{option} {path}: there is no folder {folder}; create it first")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise Mistake(f"{option} {path}: no write permission; give another path")
    if file.exists() and any(_same(file, source) for source in inputs if source is not None):
        raise Mistake(f"{option} {path}: this is an input file; give another path")
    if any(file.resolve() == Path(other).resolve() for other in outputs if other is not None):
        raise Mistake(f"{option} {path}: another option writes this file; give another path")


@contextmanager
def writing(path: str, option: str) -> Iterator[None]:
    """Turn a failure to write a file into `Mistake`, which names the option and the file."""
    from ..solution.store.replacement import UnwritableFile

    try:
        yield
    except UnwritableFile as error:
        raise Mistake(f"{option} {error}") from error
    except OSError as error:
        raise Mistake(f"{option} {path}: {error.strerror or error}") from error


def _same(file: Path, source: str) -> bool:
    """Is `file` the file of `source`, which may end in #name?"""
    found = [Path(text) for text in (source, source.rpartition("#")[0]) if text and Path(text).exists()]
    return any(os.path.samefile(file, other) for other in found)
