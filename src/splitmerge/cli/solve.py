"""`splitmerge solve`: the eigenpairs of a pair in files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import FILES, Code, Mistake, add_common, add_json, add_pair, check_writable, epilog, read
from .output import complain, say, say_json

if TYPE_CHECKING:
    from ..solution.solution import Solution

# As many pairs as eigsh gives to whom asks for no number.
USUAL = 6
POLICIES = ("error", "ridge", "restrict")

EXAMPLES = """\
  splitmerge solve K.mtx M.mtx -k 10 --which smallest     the ten smallest of K u = λ M u
  splitmerge solve pair.npz --sigma 2.5 --certify         the six nearest to 2.5, counted
  splitmerge solve K.mtx M.mtx -o modes.npz --quiet       keep all in a file that splitmerge.load reads
  splitmerge solve K.mtx M.mtx --method split-merge --inner cg --preconditioner diagonal -k 1
  splitmerge solve K.mtx M.mtx --json                     for other programs"""


def add(subparsers: Any) -> None:
    """The options."""
    parser = subparsers.add_parser(
        "solve",
        help="eigenpairs of a pair in files",
        description="The few largest, smallest or nearest eigenpairs of A u = λ B u.",
        epilog=epilog(EXAMPLES, FILES),
    )
    add_pair(parser)
    _add_question(parser)
    _add_method(parser)
    _add_output(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def _add_question(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is wanted")
    group.add_argument("-k", type=int, metavar="N", help=f"how many pairs (default: {USUAL}, or n if that is less)")
    which = ("largest", "smallest", "magnitude", "ends")
    group.add_argument("--which", choices=which, default="largest", help="(default: largest)")
    group.add_argument("--sigma", type=float, metavar="S", help="those nearest to S instead")
    group.add_argument("--tol", type=float, default=1e-8, metavar="T", help="relative residual (default: 1e-8)")
    group.add_argument("--certify", action="store_true", help="prove by counting that no eigenvalue was passed over")
    group.add_argument(
        "--b-policy",
        choices=POLICIES,
        default="error",
        help="for a singular B: refuse it, add a little to it, or leave its null space out (default: error)",
    )


def _add_method(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how to find it")
    group.add_argument(
        "--method",
        metavar="NAME",
        help="default, accelerated, locally-optimal, split-merge, power, mirror-descent, gradient-descent, lanczos, or "
        "a rival of splitmerge.bench.rivals; a name that is none of them is answered with the list",
    )
    group.add_argument("--inner", choices=("cholesky", "cg"), help="how to solve with B (default: chosen)")
    group.add_argument("--inner-steps", type=int, metavar="N", help="at most N steps of cg a solve")
    group.add_argument("--preconditioner", metavar="NAME", help="diagonal, incomplete-cholesky or multigrid")
    group.add_argument("--max-steps", type=int, metavar="N", help="give up after N steps for one pair")
    group.add_argument("--max-seconds", type=float, metavar="S", help="give up after S seconds, set-up not counted")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of the random start (default: 0)")


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="FILE", help="modes.npz for all (splitmerge.load), or .csv for values")
    group.add_argument("--report", metavar="FILE", help="a page with tables and convergence plots: r.html")
    group.add_argument("--explain", action="store_true", help="tell which way was taken and why")
    add_json(group)  # type: ignore[arg-type]
    group.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    group.add_argument("--no-progress", action="store_true", help="no progress bar, which only a terminal gets anyway")


def run(args: argparse.Namespace) -> int:
    """Solve, keep the result, show it."""
    _check_outputs(args)
    from .names import build

    method, hint = build(args.method, args.inner, args.inner_steps, args.preconditioner)
    if args.seed < 0:
        raise Mistake(f"argument --seed: {args.seed} is negative; give 0 or more")
    A, B = read(args)
    solution = _solve(args, A, B, method, hint)
    failures = _keep(args, solution)
    if not args.quiet:
        _show(args, solution)
    for failure in failures:
        complain(failure)
    if not solution.converged:
        complain(f"{solution.reason.advice} What is shown is not converged.", kind="")
    if solution.reason.name == "INTERRUPTED":
        return Code.INTERRUPTED
    if failures:
        return Code.MISTAKE
    return Code.SUCCESS if solution.converged else Code.NOT_CONVERGED


def _solve(args: argparse.Namespace, A: Any, B: Any, method: Any, hint: Any) -> Solution:
    """The solution, also one that did not converge."""
    from .. import MaxSeconds, NotConverged, NotPositiveDefinite, Residual
    from ..solve import solve

    stop = None if args.max_seconds is None else Residual(args.tol) | MaxSeconds(args.max_seconds)
    bar = sys.stderr is not None and sys.stderr.isatty() and not (args.quiet or args.no_progress)
    try:
        return solve(
            A,
            B,
            min(USUAL, A.shape[0]) if args.k is None else args.k,
            which=args.which,
            sigma=args.sigma,
            method=method,
            tol=args.tol,
            stop=stop,
            max_steps=args.max_steps,
            rng=args.seed,
            b_policy=args.b_policy,
            certify=args.certify,
            progress=bar,
            preconditioner=hint,
        )
    except NotConverged as failure:
        return failure.solution
    except NotPositiveDefinite as error:
        more = "; --b-policy restrict or ridge does so" if args.b_policy == "error" and B is not None else ""
        raise Mistake(f"{error}{more}") from error


def _check_outputs(args: argparse.Namespace) -> None:
    """Refuse what could not be written, before the work begins."""
    if args.output is not None:
        if Path(args.output).suffix.lower() not in (".npz", ".csv"):
            raise Mistake(f"-o {args.output}: give a name that ends in .npz (everything) or .csv (the values)")
        check_writable(args.output, "-o", (args.A, args.B))
    if args.report is not None:
        check_writable(args.report, "--report", (args.A, args.B, args.output))


def _keep(args: argparse.Namespace, solution: Solution) -> list[str]:
    """Write the files. What fails is told after the result has been shown: it must not be lost."""
    failures = []
    for option, path, write in (("-o", args.output, _save), ("--report", args.report, _report)):
        if path is None:
            continue
        try:
            write(args, solution)
        except OSError as error:
            failures.append(f"{option} {path}: {error.strerror or error}")
    return failures


def _save(args: argparse.Namespace, solution: Solution) -> None:
    from .show import as_csv

    if Path(args.output).suffix.lower() == ".csv":
        Path(args.output).write_text(as_csv(solution), encoding="utf-8")
    else:
        solution.save(args.output)


def _report(args: argparse.Namespace, solution: Solution) -> None:
    from ..bench.report import write
    from .report import report_of

    write(report_of(solution, _files(args), args.typed, args.seed), args.report)


def _show(args: argparse.Namespace, solution: Solution) -> None:
    from .show import as_json, as_text

    if args.json:
        say_json(as_json(solution, args.typed, args.seed) | {"files": _files(args)})
    else:
        say(as_text(solution, explain=args.explain))


def _files(args: argparse.Namespace) -> list[str]:
    return [file for file in (args.A, args.B) if file is not None]
