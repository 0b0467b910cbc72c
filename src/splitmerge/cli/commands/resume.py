"""`splitmerge resume`: go on from a saved solution or a checkpoint, as `splitmerge solve --resume` does."""

from __future__ import annotations

import argparse
from typing import Any

from ..arguments import FILES, add_common, epilog
from . import solve

EXAMPLES = """\
  splitmerge resume modes.npz -k 10                 ten pairs instead of those in the file, which has the matrices
  splitmerge resume modes.npz --tol 1e-12           the same pairs to a smaller residual
  splitmerge resume run.ckpt K.mtx M.mtx            go on from a checkpoint, which has no matrices"""

NOTE = """What the file remembers (k, which, the method, the tolerance …) holds unless it is given here."""


def add(subparsers: Any) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "resume",
        help="go on from a saved solution or a checkpoint",
        description="Go on from a solution that solve -o saved, or from a checkpoint that solve --checkpoint wrote.",
        epilog=epilog(EXAMPLES, NOTE, FILES),
    )
    parser.add_argument("FILE", help="the saved solution (.npz) or the checkpoint")
    parser.add_argument("A", nargs="?", help="file with A, or with both matrices (default: from FILE)")
    parser.add_argument("B", nargs="?", help="file with B (default: from the file of A, or from FILE)")
    solve.add_options(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Solve from the vectors of the file, save and print the result."""
    args.resume = args.FILE
    return solve.run(args)
