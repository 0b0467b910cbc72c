"""What the commands have in common: exit codes, the parser, options, the files that are read and written."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, NoReturn

from .output import say


class Code(IntEnum):
    """Exit codes."""

    SUCCESS = 0
    NOT_CONVERGED = 1
    MISTAKE = 2
    INTERRUPTED = 130


EXIT_CODES = """exit codes:
  0    success
  1    not converged: the partial result is shown and saved
  2    a mistake in the arguments or the files
  130  interrupted by Ctrl-C: the partial result, if there is one, is shown and saved"""

FILES = """files:
  .mtx .mtx.gz (Matrix Market), .hb .rb .rsa … (Harwell-Boeing, Rutherford-Boeing), .npz .npy, .mat;
  file.mat#K picks one matrix; a file that holds A and B, K and M, F and S or H and S is a pair by itself"""


class Mistake(Exception):
    """The user's, in one sentence."""


class Parser(argparse.ArgumentParser):
    """argparse's, with errors in one sentence and without abbreviations, which a later option would break."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        options.setdefault("allow_abbrev", False)
        super().__init__(*args, **options)

    def print_help(self, file: Any = None) -> None:
        """To stdout, whose reader may go away."""
        say(self.format_help().rstrip())

    def error(self, message: str) -> NoReturn:
        """Leave the printing to `main`."""
        raise Mistake(f"{message}; {self.prog} --help tells more")


def add_common(parser: argparse.ArgumentParser) -> None:
    """Options that may stand before or after the command."""
    parser.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help="show the traceback of an error"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def add_pair(parser: argparse.ArgumentParser) -> None:
    """The files of the pair."""
    parser.add_argument("A", help="file of A, or of the pair")
    parser.add_argument("B", nargs="?", help="file of B (default: in the file of A, or the identity)")


def read(args: argparse.Namespace) -> tuple[Any, Any]:
    """The pair that the arguments name."""
    from ..io.matrices import read_pair

    return read_pair(args.A, args.B)


def epilog(examples: str, *more: str) -> str:
    """What follows the options in a help text."""
    return "\n\n".join((f"examples:\n{examples}", *more, EXIT_CODES))


def check_writable(path: str, option: str, inputs: Sequence[str | None] = ()) -> None:
    """Refuse a path that could not be written, or would destroy what was read, before the work begins."""
    file = Path(path)
    folder = file.parent
    if file.is_dir():
        raise Mistake(f"{option} {path}: this is a folder; give a file")
    if not folder.is_dir():
        raise Mistake(f"{option} {path}: there is no folder {folder}; make it first")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise Mistake(f"{option} {path}: no permission to write there")
    for source in inputs:
        if source is not None and file.exists() and _same(file, source):
            raise Mistake(f"{option} {path}: that is the file of the matrices; give another")


def _same(file: Path, source: str) -> bool:
    """Is it the file that `source`, perhaps with the name of a matrix, stands for?"""
    found = [Path(text) for text in (source, source.rpartition("#")[0]) if text and Path(text).exists()]
    return any(os.path.samefile(file, other) for other in found)
