"""`splitmerge solve`: compute eigenpairs of a pair from files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..arguments import FILES, Code, Mistake, add_common, add_json, add_pair, check_writable, epilog, read, writing
from ..output import complain, say, say_json
from ..processes import communicator, read_distributed, speaks
from ..wrapping import columns, wrapped

if TYPE_CHECKING:
    from ...solution.solution import Solution

# Default number of eigenpairs, as in eigsh.
DEFAULT_PAIR_COUNT = 6
DEFAULT_SEED = 0
# The default relative residual norm, as in `solve`.
DEFAULT_TOL = 1e-8
POLICIES = ("error", "ridge", "restrict")

EXAMPLES = """\
  splitmerge solve K.mtx M.mtx -k 10 --which smallest     the ten smallest eigenvalues of K u = λ M u
  splitmerge solve pair.npz --sigma 2.5 --certify         the six nearest to 2.5, verified by inertia counts
  splitmerge solve K.mtx M.mtx --interval 0 2.5           all eigenvalues from 0 to 2.5, with proof
  splitmerge solve K.mtx M.mtx -o modes.npz --quiet       save all results for splitmerge.load
  splitmerge solve K.mtx M.mtx --method split-merge --inner cg --preconditioner diagonal -k 1
  splitmerge solve K.mtx M.mtx --checkpoint run.ckpt      write a checkpoint every minute
  splitmerge solve K.mtx M.mtx --resume run.ckpt          go on from it, with the options that it remembers
  splitmerge solve K.mtx M.mtx --json                     machine-readable output"""


def add(subparsers: Any) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "solve",
        help="compute eigenpairs of a pair from files",
        description="Compute eigenpairs of A u = λ B u: the largest, smallest, nearest to a shift, or in an interval.",
        epilog=epilog(EXAMPLES, FILES),
    )
    add_pair(parser)
    add_options(parser).add_argument(
        "--resume", metavar="FILE", help="go on from a checkpoint or a saved solution; options given here win"
    )
    add_common(parser)
    parser.set_defaults(run=run)


def add_options(parser: argparse.ArgumentParser) -> Any:
    """Add the options of a solve, and return the group of those of checkpoints."""
    _add_question(parser)
    _add_method(parser)
    checkpoints = _add_checkpoint(parser)
    _add_output(parser)
    return checkpoints


def _add_question(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("problem")
    group.add_argument(
        "-k", type=int, metavar="N", help=f"number of eigenpairs (default: min({DEFAULT_PAIR_COUNT}, n))"
    )
    which = ("largest", "smallest", "magnitude", "ends")
    group.add_argument("--which", choices=which, help="part of the spectrum (default: largest)")
    group.add_argument("--sigma", type=float, metavar="S", help="eigenvalues nearest to S (shift-invert)")
    group.add_argument(
        "--interval",
        nargs=2,
        type=float,
        metavar=("A", "B"),
        help="all eigenvalues from A to B, e.g. 0 2.5 or -inf 10 (spectrum slicing)",
    )
    group.add_argument("--tol", type=float, metavar="T", help="relative residual norm (default: 1e-8)")
    group.add_argument("--certify", action="store_true", help="verify by inertia counts that no eigenvalue is missing")
    group.add_argument(
        "--b-policy",
        choices=POLICIES,
        help="for the largest of a singular B: raise an error, add a ridge, or leave infinity out (default: error)",
    )


def _add_method(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("method")
    group.add_argument(
        "--method",
        metavar="NAME",
        help="default, accelerated, locally-optimal, split-merge, power, mirror-descent, gradient-descent, lanczos, or "
        "a method of splitmerge.bench.rivals; an unknown name lists them all",
    )
    group.add_argument("--inner", choices=("cholesky", "cg"), help="inner solver for B (default: automatic)")
    group.add_argument("--inner-steps", type=int, metavar="N", help="at most N CG steps per solve")
    group.add_argument("--preconditioner", metavar="NAME", help="diagonal, incomplete-cholesky or multigrid")
    group.add_argument("--max-steps", type=int, metavar="N", help="stop after N steps per eigenpair")
    group.add_argument("--max-seconds", type=float, metavar="S", help="stop after S seconds, excluding set-up")
    group.add_argument("--seed", type=int, metavar="N", help="seed of the random start (default: 0)")


def _add_checkpoint(parser: argparse.ArgumentParser) -> Any:
    group = parser.add_argument_group("checkpoints")
    group.add_argument("--checkpoint", metavar="FILE", help="write what a later run needs to go on, e.g. to run.ckpt")
    group.add_argument(
        "--checkpoint-every", type=float, metavar="S", help="seconds between two checkpoints (default: 60)"
    )
    return group


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="FILE", help="save all results (.npz) or the values (.csv)")
    group.add_argument("--report", metavar="FILE", help="write an HTML report, e.g. r.html")
    group.add_argument("--explain", action="store_true", help="explain how the problem was solved and why")
    add_json(group)  # type: ignore[arg-type]
    group.add_argument("-q", "--quiet", action="store_true", help="print only errors")
    group.add_argument("--no-progress", action="store_true", help="no progress bar (shown only on a terminal)")


def run(args: argparse.Namespace) -> int:
    """Solve the problem, save and print the result."""
    _check_outputs(args)
    from ..names import build

    method, hint = build(args.method, args.inner, args.inner_steps, args.preconditioner)
    if args.seed is not None and args.seed < 0:
        raise Mistake(f"argument --seed: {args.seed} is negative; give 0 or more")
    if args.seed is None and args.resume is None:
        args.seed = DEFAULT_SEED
    solution = _solve(args, *_matrices(args), method, hint)
    written, failures = _keep(args, solution)
    if not args.quiet:
        _show(args, solution, written)
    for failure in failures:
        complain(failure)
    if not solution.converged:
        complain(f"{solution.reason.advice} The results shown are not converged.", kind="")
    if solution.reason.name == "INTERRUPTED":
        return Code.INTERRUPTED
    if failures:
        return Code.MISTAKE
    return Code.SUCCESS if solution.converged else Code.NOT_CONVERGED


def _matrices(args: argparse.Namespace) -> tuple[Any, Any]:
    """A and B from their files; None if they are those of a saved solution."""
    comm = communicator()
    if args.A is None:
        if comm is not None:
            raise Mistake("several processes read the matrices from their own files; give A and B after FILE")
        return None, None
    return read(args) if comm is None else read_distributed(args.A, args.B, comm)


def _solve(args: argparse.Namespace, A: Any, B: Any, method: Any, hint: Any) -> Solution:
    """The solution, converged or not."""
    from ... import NotConverged, NotPositiveDefinite
    from ...problem.adapt import shape_of
    from ...solution.loading import load
    from ...solution.solution import Absent, Solution
    from ...solve import solve

    given = _given(args, method, hint)
    try:
        if args.resume is None:
            count = _pair_count(args, shape_of(A)[0])
            return solve(A, B, **{"k": count} | given | _stopping(args, DEFAULT_TOL))
        loaded = load(args.resume, A, B)
        if A is None and loaded.problem is not None and isinstance(loaded.problem.A, Absent):
            raise Mistake(f"{args.resume} has no matrices; give their files: splitmerge resume {args.resume} A B")
        if isinstance(loaded, Solution):
            given.setdefault("rng", DEFAULT_SEED)
        tol = DEFAULT_TOL if loaded.problem is None else loaded.problem.tol
        return loaded.resume(**given | _stopping(args, tol))
    except NotConverged as failure:
        return failure.solution
    except NotPositiveDefinite as error:
        more = "; use --b-policy restrict or ridge" if args.b_policy in (None, "error") and B is not None else ""
        raise Mistake(f"{error}{more}") from error


def _given(args: argparse.Namespace, method: Any, hint: Any) -> dict[str, Any]:
    """The arguments of `solve` that are on the command line; others have their defaults, or are remembered."""
    from ... import Checkpoint

    bar = sys.stderr is not None and sys.stderr.isatty() and not (args.quiet or args.no_progress)
    checkpoint = None
    if args.checkpoint is not None:
        every = {} if args.checkpoint_every is None else {"seconds": args.checkpoint_every}
        checkpoint = Checkpoint(args.checkpoint, **every)
    options = {
        "k": args.k,
        "which": args.which,
        "sigma": args.sigma,
        "method": method,
        "max_steps": args.max_steps,
        "rng": args.seed,
        "b_policy": args.b_policy,
        "certify": True if args.certify else None,
        "preconditioner": hint,
        "interval": None if args.interval is None else tuple(args.interval),
        "checkpoint": checkpoint,
    }
    given = {name: value for name, value in options.items() if value is not None} | {"progress": bar}
    # the name of the default method is None, too
    return given if args.method is None else given | {"method": method}


def _stopping(args: argparse.Namespace, tol: float) -> dict[str, Any]:
    """The tolerance and the rule on the command line; `tol` is that of the rule where none is given."""
    from ... import MaxSeconds, Residual

    given = {} if args.tol is None else {"tol": args.tol}
    if args.max_seconds is None:
        return given
    return given | {"stop": Residual(args.tol if args.tol is not None else tol) | MaxSeconds(args.max_seconds)}


def _pair_count(args: argparse.Namespace, n: int) -> int:
    """The number of eigenpairs; 1, the default of `solve`, for those in an interval."""
    if args.k is not None:
        if args.interval is not None:
            raise Mistake("-k and --interval are both given; all in the interval are computed: leave -k out")
        return int(args.k)
    return 1 if args.interval is not None else min(DEFAULT_PAIR_COUNT, n)


def _check_outputs(args: argparse.Namespace) -> None:
    """Raise `Mistake` if an output file cannot be written, before any computation."""
    inputs = args.A, args.B
    if args.output is not None:
        if Path(args.output).suffix.lower() not in (".npz", ".csv"):
            raise Mistake(f"-o {args.output}: give a name that ends in .npz (all results) or .csv (the values)")
        check_writable(args.output, "-o", inputs)
    if args.report is not None:
        check_writable(args.report, "--report", inputs, (args.output,))
    if args.checkpoint is not None:
        check_writable(args.checkpoint, "--checkpoint", inputs, (args.output, args.report))
    elif args.checkpoint_every is not None:
        raise Mistake("--checkpoint-every is for --checkpoint only; omit it, or give both")


def _keep(args: argparse.Namespace, solution: Solution) -> tuple[list[str], list[str]]:
    """Write the files: their names with what they hold, and error messages, which must not cost the result."""
    written, failures = [], []
    for option, path, write in (("-o", args.output, _save), ("--report", args.report, _report)):
        if path is None:
            continue
        try:
            with writing(path, option):
                written.append(f"{path}: {write(args, solution)}")
        except Mistake as failure:
            failures.append(str(failure))
    return written, failures


def _save(args: argparse.Namespace, solution: Solution) -> str:
    from ...solution.store.replacement import replace_text
    from ..show import as_csv, pair_count

    if Path(args.output).suffix.lower() != ".csv":
        solution.save(args.output)
        return f"all results of {pair_count(solution)}, for splitmerge resume or splitmerge.load"
    if speaks():
        replace_text(args.output, as_csv(solution))
    return f"the values of {pair_count(solution)}, without vectors"


def _report(args: argparse.Namespace, solution: Solution) -> str:
    from ...bench.report import html
    from ...solution.store.replacement import replace_text
    from ..page import report_of
    from ..show import pair_count

    if speaks():
        replace_text(args.report, html(report_of(solution, _files(args), args.typed, args.seed)))
    return f"the report of {pair_count(solution)}"


def _show(args: argparse.Namespace, solution: Solution, written: list[str]) -> None:
    from ..show import as_json, as_text

    if args.json:
        say_json(as_json(solution, args.typed, args.seed) | {"files": _files(args), "written": written})
        return
    said = [wrapped(f"wrote {line}", columns()) for line in written]
    say("\n".join([as_text(solution, explain=args.explain), *said]))


def _files(args: argparse.Namespace) -> list[str]:
    """The files of the matrices, or the one that was resumed from."""
    return [file for file in (args.A, args.B) if file is not None] or [args.resume]
