"""`splitmerge convert`: a matrix from one file format to another."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..arguments import FILES, Code, Mistake, add_common, check_writable, epilog, writing
from ..output import say

if TYPE_CHECKING:
    from ...io.writing import Written

EXAMPLES = """\
  splitmerge convert K.mtx K.petsc            for PETSc, or for several processes that read some rows each
  splitmerge convert pair.npz#K stiff.npz     one of the matrices of a file, as SciPy's sparse matrix"""

OUTPUTS = """\
output formats:
  .petsc  PETSc's binary format, without the zeros of a dense matrix
  .mtx    Matrix Market; the lower triangle of a matrix that is exactly symmetric or Hermitian
  .npz    SciPy's sparse matrix, without the zeros of a dense matrix
  .npy    NumPy's dense array"""


def add(subparsers: Any) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "convert",
        help="write a matrix in another file format",
        description="Read one matrix and write it in the format that the suffix of OUT names, with all digits.",
        epilog=epilog(EXAMPLES, OUTPUTS, FILES),
    )
    parser.add_argument("IN", help="file with the matrix; file#name if it contains several")
    parser.add_argument("OUT", help="file to write, which ends in .petsc, .mtx, .npz or .npy")
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the matrix, write it, and say what was written."""
    from ...io.matrices import read_matrix
    from ...io.writing import SUFFIXES, write_matrix

    if Path(args.OUT).suffix.lower() not in SUFFIXES:
        raise Mistake(f"OUT {args.OUT}: give a name that ends in {', '.join(SUFFIXES)}")
    check_writable(args.OUT, "OUT", (args.IN,))
    matrix = read_matrix(args.IN)
    with writing(args.OUT, "OUT"):
        written = write_matrix(args.OUT, matrix)
    say(_line(args.OUT, written))
    return Code.SUCCESS


def _line(path: str, written: Written) -> str:
    kind = "" if written.symmetry == "general" else f" of the lower triangle ({written.symmetry})"
    return f"{path}: n = {written.n}, {written.entries} stored entries{kind}, {os.stat(path).st_size} bytes"
