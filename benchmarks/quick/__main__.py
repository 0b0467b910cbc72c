"""`python -m benchmarks.quick`: one table of ratios, other solver's time / ours; above 1 we are faster.

Rows that we lose come first. The table, all numbers as JSON and a picture go to out/bench-quick.txt, .json and .png.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quick", description=__doc__)
    parser.add_argument("--rows", default="", metavar="PATTERN", help="rows with this regular expression in their name")
    parser.add_argument("--sections", default="", metavar="NAMES", help="these sections, separated by commas")
    parser.add_argument("--threads", type=int, choices=(1, 2), default=1, help="threads of BLAS (default: 1)")
    parser.add_argument(
        "--repeat", type=int, default=3, metavar="R", help="at least R rounds of every row (default: 3)"
    )
    parser.add_argument("--out", type=Path, metavar="STEM", help="files STEM.txt, .json and .png")
    parser.add_argument("--long", action="store_true", help="all dense cells and larger problems; takes an hour")
    parser.add_argument("--list", action="store_true", help="only the names of the rows")
    args = parser.parse_args()
    args.out = args.out or Path("out/bench-long" if args.long else "out/bench-quick")
    return args


def main() -> None:
    args = arguments()
    # BLAS reads its number of threads when NumPy is imported
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(args.threads)))
    from .run import run

    run(args)


main()
