"""From the arguments to an exit code: the parser, and what becomes of a mistake, a Ctrl-C and a closed pipe."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import traceback
from collections.abc import Sequence

from . import compare, demo, info, reproduce, solve
from .arguments import EXIT_CODES, Code, Mistake, Parser, add_common
from .output import complain, prepare_streams, say

# A command more is a module more in this line.
COMMANDS = (solve, compare, info, reproduce, demo)

NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|-inf", re.IGNORECASE)


def parser() -> Parser:
    """The parser of all commands."""
    top = Parser(
        prog="splitmerge",
        description="Few eigenpairs of A u = λ B u, A symmetric or Hermitian and B positive definite, from files.",
        epilog=EXIT_CODES + "\n\nsplitmerge COMMAND --help tells the rest, with examples.",
    )
    top.add_argument("--version", action="store_true", help="print the version and exit")
    add_common(top)
    subparsers = top.add_subparsers(title="commands", dest="command", metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        command.add(subparsers)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 success, 1 not converged, 2 a mistake, 130 interrupted."""
    given = list(sys.argv[1:] if argv is None else argv)
    prepare_streams()
    # what the arguments could not tell because they could not be read
    debug = "--debug" in given
    try:
        return _dispatch(parser().parse_args(_joined(given)), given)
    except SystemExit as done:  # of --help
        return Code.MISTAKE if done.code else Code.SUCCESS
    except KeyboardInterrupt:
        complain("interrupted before there was anything to show", kind="")
        return Code.INTERRUPTED
    except (Mistake, ValueError, ImportError, OSError, MemoryError) as error:
        if debug:
            traceback.print_exc()
        complain(_sentence(error))
    return Code.MISTAKE


def _dispatch(args: argparse.Namespace, given: list[str]) -> int:
    if args.version:
        from .. import __version__

        say(f"splitmerge {__version__}")
        return Code.SUCCESS
    if args.command is None:
        names = ", ".join(command.__name__.rpartition(".")[2] for command in COMMANDS)
        raise Mistake(f"give a command ({names}); splitmerge --help tells more")
    args.typed = shlex.join(["splitmerge", *given])
    code: int = args.run(args)
    return code


def _joined(given: list[str]) -> list[str]:
    """`--sigma -1e3` as `--sigma=-1e3`: argparse takes a negative number with an exponent for an option."""
    joined: list[str] = []
    for word in given:
        before = joined[-1] if joined else ""
        if NEGATIVE.fullmatch(word) and before.startswith("--") and len(before) > 2 and "=" not in before:
            joined[-1] = f"{before}={word}"
        else:
            joined.append(word)
    return joined


def _sentence(error: Exception) -> str:
    """What went wrong, in one line."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"{error.name} is needed for this and not installed; pip install {error.name}"
    if isinstance(error, MemoryError):
        return f"the memory does not suffice: {error}" if str(error) else "the memory does not suffice"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__
