"""`splitmerge compare`: our methods, the paper's, its competitors and external solvers on a pair from files."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from ..arguments import FILES, Code, Mistake, add_common, add_json, add_pair, check_writable, epilog, read, writing
from ..names import look_up
from ..output import complain, say, say_json
from ..wrapping import columns, wrapped

if TYPE_CHECKING:
    from ...bench.contest import Entry
    from ...bench.report import Table

EXAMPLES = """\
  splitmerge compare K.mtx M.mtx                              all methods, for the largest eigenvalue
  splitmerge compare K.mtx M.mtx -k 4 --which smallest        the four smallest eigenvalues
  splitmerge compare K.mtx M.mtx --only default eigsh lobpcg  these three methods
  splitmerge compare K.mtx M.mtx --report r.html              write an HTML report, too"""
OUTCOMES = """\
outcomes:
  right          the residual meets --tol, and the eigenvalues agree with a reference verified by inertia counts
  WRONG          the method reported convergence, but the eigenvalues differ from the reference
  not converged  the method failed or reached the time limit
  absent         the solver is not installed, or does not apply to this problem"""


def add(subparsers: Any) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "compare",
        help="compare our methods with other solvers on a pair from files",
        description="Time, matrix products and accuracy of every method on one pair, with one BLAS thread.",
        epilog=epilog(EXAMPLES, OUTCOMES, FILES),
    )
    add_pair(parser)
    parser.add_argument("-k", type=int, default=1, metavar="N", help="number of eigenpairs (default: 1)")
    parser.add_argument(
        "--which", choices=("largest", "smallest"), default="largest", help="end of the spectrum (default: largest)"
    )
    parser.add_argument("--tol", type=float, default=1e-8, metavar="T", help="relative residual norm (default: 1e-8)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="methods to run; an unknown name lists them")
    parser.add_argument(
        "--max-seconds", type=float, default=60.0, metavar="S", help="time limit per method (default: 60)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random starts (default: 0)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="number of BLAS threads (default: 1)")
    parser.add_argument("--report", metavar="FILE", help="write an HTML report, e.g. r.html")
    add_json(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run all methods and print the table; after Ctrl-C, print the results so far."""
    from threadpoolctl import threadpool_limits

    from ...errors import NotConverged

    if args.report is not None:
        check_writable(args.report, "--report", (args.A, args.B))
    for option in ("seed", "threads"):
        if getattr(args, option) < (option == "threads"):
            least = int(option == "threads")
            raise Mistake(f"argument --{option}: {getattr(args, option)} is too small; give {least} or more")
    chosen = _chosen(args.only)
    A, B = read(args)
    entries: list[Entry] = []
    try:
        with threadpool_limits(args.threads):
            whole = _collect(args, A, B, chosen, entries)
    except NotConverged as error:
        complain(f"the reference solution for the comparison failed: {error}", kind="")
        return Code.NOT_CONVERGED
    if not entries:
        raise KeyboardInterrupt
    _show(args, entries)
    if not whole:
        complain("interrupted; the table shows the methods completed so far", kind="")
        return Code.INTERRUPTED
    return Code.SUCCESS


def _chosen(only: list[str] | None) -> list[str] | None:
    """The contestants' full names for the names given by the user."""
    if only is None:
        return None
    from ...bench.contest import names

    known = {name.lower().replace("_", "-").replace(" ", "-"): name for name in names()}
    known["default"] = names()[0]
    return [look_up(name.replace(" ", "-"), known, "method") for name in only]


def _collect(args: argparse.Namespace, A: Any, B: Any, chosen: list[str] | None, entries: list[Entry]) -> bool:
    """Append the results to `entries`; False if interrupted."""
    from tqdm import tqdm

    from ...bench.contest import Challenge, contest, names

    task = Challenge(A, B, args.k, args.which, args.tol, args.seed, args.max_seconds)
    total = len(names() if chosen is None else chosen)
    with tqdm(total=total, desc="compare, computing the reference", disable=None, leave=False, file=sys.stderr) as bar:
        try:
            for entry in contest(task, chosen):
                entries.append(entry)
                bar.set_description(f"compare, done with {entry.name}")
                bar.update()
        except KeyboardInterrupt:
            return False
    return True


def _show(args: argparse.Namespace, entries: list[Entry]) -> None:
    from ...bench.contest import table
    from ...bench.provenance import provenance

    files = [file for file in (args.A, args.B) if file is not None]
    origin = provenance(args.typed, args.seed) | {"threads": args.threads}
    caption = f"{' and '.join(files)}: {args.k} {args.which}, relative residual {args.tol:g}"
    found = table(entries, caption)
    if args.json:
        say_json({"entries": [entry.to_dict() for entry in entries], "files": files, "provenance": origin})
    else:
        _say_table(found, entries)
    # after the table, which a failure to write must not cost
    if args.report is not None:
        from ...bench.report import Report, Section, html
        from ...solution.store.replacement import replace_text

        summary = (f"Every method on {' and '.join(files)}, run in sequence and evaluated by the same code.",)
        report = Report("Comparison", summary, (Section("Methods", (found,)),), origin)
        with writing(args.report, "--report"):
            replace_text(args.report, html(report))
        if not args.json:
            say(f"wrote {args.report}: the report of {len(entries)} methods")


def _say_table(found: Table, entries: list[Entry]) -> None:
    from ..show import table as as_lines

    words = sum(not column.numeric for column in found.columns)
    body = [[cell.text for cell in row] for row in found.rows]
    width = columns()
    lines = as_lines([column.name for column in found.columns], body, words, width)
    notes = [f"{entry.name}: {entry.why}" for entry in entries if entry.outcome != "right" and entry.why]
    said = [wrapped(note, width) for note in notes]
    say("\n".join([wrapped(found.caption, width), *lines, *(["", *said] if said else [])]))
