"""Entry point of the command line: argument parsing, dispatch, and conversion of exceptions to exit codes."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import traceback
from collections.abc import Sequence

from ..system.packages import missing
from .arguments import EXIT_CODES, Code, Mistake, Parser, add_common
from .commands import compare, completion, convert, demo, info, reproduce, resume, solve
from .output import complain, prepare_streams, say

# The modules of the commands, in the order of the help text.
COMMANDS = (solve, resume, compare, info, convert, reproduce, demo, completion)

# A negative number as argparse does not recognise it, e.g. with an exponent.
NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|-inf(inity)?", re.IGNORECASE)


def parser() -> Parser:
    """The parser of the program with all its commands."""
    top = Parser(
        prog="splitmerge",
        description="Compute a few eigenpairs of A u = λ B u, A Hermitian and B positive definite, from files.",
        epilog=EXIT_CODES + "\n\nSee splitmerge COMMAND --help for options and examples.",
    )
    top.add_argument("--version", action="store_true", help="print the version and exit")
    add_common(top)
    subparsers = top.add_subparsers(title="commands", dest="command", metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        command.add(subparsers)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 success, 1 not converged, 2 invalid input, 130 interrupted."""
    given = list(sys.argv[1:] if argv is None else argv)
    prepare_streams()
    # read before parsing, because parsing itself may fail
    debug = "--debug" in given
    try:
        return _dispatch(parser().parse_args(_joined(given)), given)
    except SystemExit as done:  # raised by argparse after --help
        return Code.MISTAKE if done.code else Code.SUCCESS
    except (KeyboardInterrupt, RuntimeError) as error:
        # while a class is made, Python 3.11 raises a RuntimeError from an interrupt
        if not isinstance(error, KeyboardInterrupt) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        complain("interrupted before the first result", kind="")
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
        raise Mistake(f"give a command ({names}); see splitmerge --help")
    args.typed = shlex.join(["splitmerge", *given])
    code: int = args.run(args)
    return code


def _joined(given: list[str]) -> list[str]:
    """Rewrite `--sigma -1e3` as `--sigma=-1e3`, because argparse parses -1e3 as an option.

    The two numbers after `--interval` cannot be joined to it; argparse takes what contains a space for a value.
    """
    joined: list[str] = []
    for place, word in enumerate(given):
        before = joined[-1] if joined else ""
        if NEGATIVE.fullmatch(word) and "--interval" in given[max(place - 2, 0) : place]:
            joined.append(f" {word}")
        elif NEGATIVE.fullmatch(word) and before.startswith("--") and len(before) > 2 and "=" not in before:
            joined[-1] = f"{before}={word}"
        else:
            joined.append(word)
    return joined


def _sentence(error: Exception) -> str:
    """The error message in one line."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return missing("this command", error.name)
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}" if str(error) else "not enough memory"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__
