"""`splitmerge reproduce`: the paper's table, figures and claims, measured again."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import Code, Mistake, add_common, add_json, epilog
from .output import complain, say, say_json

TARGETS = {
    "table1": "mean times on the thirty synthetic cells, beside the paper's",
    "figure1": "sparsity patterns of the clustered pairs",
    "figure2": "Cholesky against PCG(30) on the clustered pairs",
    "figure3": "sin θ against time on the clustered pairs",
    "rivals": "the algorithms that the paper names, and the solvers of others",
    "claims": "every claim of the paper with a verdict; measures what it needs",
    "all": "all of it",
}
EXAMPLES = """\
  splitmerge reproduce all --quick --out out/paper      everything from two starts, in some minutes
  splitmerge reproduce table1                           100 starts as in the paper, under an hour on two cores
  splitmerge reproduce figure2 --pair Lapla3_A.mtx Lapla3_B.mtx --trials 10"""
RESUME = """\
The folder holds report.html, the tables as CSV, every trial in trials.csv, results.json, and the figures as PNG and
SVG. Each part is kept in its folder parts/ as soon as it is measured: the same command goes on where it was stopped."""


def add(subparsers: Any) -> None:
    """The options."""
    parser = subparsers.add_parser(
        "reproduce",
        help="the paper's table, figures and claims, measured again",
        description="Measure the evaluation of “Split-Merge Revisited” again, beside the paper's numbers.",
        epilog=epilog(
            EXAMPLES, "targets:\n" + "\n".join(f"  {name:<9}{text}" for name, text in TARGETS.items()), RESUME
        ),
    )
    parser.add_argument("target", choices=TARGETS, metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--trials", type=int, default=100, metavar="N", help="starts (default: 100, as in the paper)")
    parser.add_argument("--quick", action="store_true", help="two starts only")
    parser.add_argument(
        "--sizes", type=int, nargs="+", metavar="N", help="of table 1 these n only (default: 256 512 1024)"
    )
    parser.add_argument("--out", default="reproduction", metavar="DIR", help="folder (default: reproduction)")
    parser.add_argument(
        "--pair",
        nargs=2,
        action="append",
        default=[],
        metavar=("A", "B"),
        help="files of a pair in place of the gallery's clustered ones; may be given twice",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of pairs and starts (default: 0)")
    parser.add_argument("--processes", type=int, metavar="N", help="parts at a time (default: one for each core)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="BLAS threads of each (default: 1)")
    add_json(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure, write, and say what came of it."""
    from concurrent.futures.process import BrokenProcessPool

    from ..bench.reproduce import reproduce
    from ..bench.reproduce.claims import CLAIMS
    from ..errors import NotConverged

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
        )
    except KeyboardInterrupt:
        complain(f"interrupted; what is done is kept in {args.out}, and the same command goes on from there", kind="")
        return Code.INTERRUPTED
    except (NotConverged, BrokenProcessPool) as error:
        complain(f"{error}; what is done is kept in {args.out}", kind="")
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
            lines.append(f"  {judgement.word:<15} {claim.statement} {judgement.figures}")
    say("\n".join([*lines, *(f"wrote {path}" for path in outcome.files)]))
    return Code.SUCCESS
