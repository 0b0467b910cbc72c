"""`splitmerge reproduce`: reproduction of the paper's table, figures and claims."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..arguments import Code, Mistake, add_common, add_json, epilog
from ..output import complain, say, say_json
from ..wrapping import columns, wrapped

TARGETS = {
    "table1": "mean times on the thirty synthetic problems, next to the paper's",
    "figure1": "sparsity patterns of the clustered pairs",
    "figure2": "Cholesky against PCG(30) on the clustered pairs",
    "figure3": "sin θ against time on the clustered pairs",
    "rivals": "the competing algorithms that the paper names, and external solvers",
    "claims": "every claim of the paper with a verdict, after the measurements it needs",
    "all": "all targets",
}
# Suffixes of the files that are written.
RESULTS = (".json", ".csv", ".html", ".png", ".svg")
EXAMPLES = """\
  splitmerge reproduce all --quick --out out/paper      all targets with two starts, in a few minutes
  splitmerge reproduce table1                           100 starts as in the paper, less than an hour on two cores
  splitmerge reproduce figure2 --pair Lapla3_A.mtx Lapla3_B.mtx --trials 10"""
RESUME = """\
The output folder contains report.html, the tables as CSV, all trials in trials.csv, results.json, and the figures as
PNG and SVG. Completed parts are saved in parts/, so that the same command resumes an interrupted run."""


def add(subparsers: Any) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "reproduce",
        help="reproduce the paper's table, figures and claims",
        description="Reproduce the evaluation of “Split-Merge Revisited” next to the paper's numbers.",
        epilog=epilog(
            EXAMPLES, "targets:\n" + "\n".join(f"  {name:<9}{text}" for name, text in TARGETS.items()), RESUME
        ),
    )
    parser.add_argument("target", choices=TARGETS, metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument(
        "--trials", type=int, default=100, metavar="N", help="random starts (default: 100, as in the paper)"
    )
    parser.add_argument("--quick", action="store_true", help="use two starts only")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="sizes n of table 1 (default: 256 512 1024)")
    parser.add_argument("--out", default="reproduction", metavar="DIR", help="output folder (default: reproduction)")
    parser.add_argument(
        "--pair",
        nargs=2,
        action="append",
        default=[],
        metavar=("A", "B"),
        help="files of a pair to use instead of the gallery's clustered pairs; may be given twice",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the pairs and starts (default: 0)")
    parser.add_argument("--processes", type=int, metavar="N", help="parallel processes (default: one per core)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="BLAS threads per process (default: 1)")
    add_json(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the measurements, write the files and print the summary."""
    from concurrent.futures.process import BrokenProcessPool

    from ...bench.reproduce import reproduce
    from ...bench.reproduce.claims import CLAIMS
    from ...errors import NotConverged

    _check_folder(args.out)
    try:
        outcome = reproduce(
            args.target,
            args.out,
            trials=args.trials,
            quick=args.quick,
            seed=args.seed,
            processes=args.processes,
            threads=args.threads,
            **({"sizes": args.sizes} if args.sizes else {}),
            pairs=[tuple(pair) for pair in args.pair],
            command=args.typed,
            tell=lambda line: complain(line, kind=""),
        )
    except KeyboardInterrupt:
        complain(f"interrupted; completed parts are saved in {args.out}, run the same command to resume", kind="")
        return Code.INTERRUPTED
    except (NotConverged, BrokenProcessPool) as error:
        complain(f"{error}; completed parts are saved in {args.out}", kind="")
        return Code.NOT_CONVERGED
    except OSError as error:
        raise Mistake(f"--out {args.out}: {error.strerror or error}") from error
    if args.json:
        say_json(outcome.to_dict() | {"files": [str(path) for path in outcome.files]})
        return Code.SUCCESS
    lines = [*outcome.report.summary]
    for claim in CLAIMS:
        judgement = claim.judged(outcome.results)
        if judgement.word != "not measured":
            beside = claim.beside(outcome.results)
            lines.append(f"  {judgement.word:<17}  {claim.statement} {judgement.figures}{beside and f' ({beside})'}")
    say(wrapped("\n".join(lines), columns()))
    say("\n".join(f"wrote {path}" for path in outcome.files))
    return Code.SUCCESS


def _check_folder(out: str) -> None:
    """Refuse a folder in which a device, a pipe or a socket has a name that one of the results may have."""
    from ...solution.store.replacement import UnwritableFile, check_replaceable

    try:
        for path in (found for suffix in RESULTS for found in Path(out).rglob(f"*{suffix}")):
            check_replaceable(path)
    except UnwritableFile as error:
        raise Mistake(f"--out {error}") from error
