"""`splitmerge demo`: all methods on one synthetic pair, as a table and a convergence plot."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...system.packages import missing
from ..arguments import Code, Mistake, add_common, add_json, check_writable, epilog, writing
from ..output import say, say_json
from ..wrapping import columns, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...methods.protocol import Method
    from ...objective.state import State
    from ...solution.solution import Solution
    from ...typing import Array

EXAMPLES = """\
  splitmerge demo                          the table, and a plot in out/demo.png
  splitmerge demo --n 64 --kappa 100       another pair
  splitmerge demo --n 64 --json            machine-readable output"""

SINE_TOLERANCE = 1e-5
# Share of the height of the plot below the curves, for their labels.
LABEL_SHARE = 0.34
# Width to the right of the slowest curve, for its label, as a share of the width up to there.
LABEL_MARGIN = 0.26
# Okabe and Ito's colour-blind safe palette without yellow and black, which is the default's, and three of Tol's.
COLOURS = ("#CC79A7", "#009E73", "#0072B2", "#E69F00", "#56B4E9", "#D55E00", "#777777", "#332288", "#999933")
HEAD = ("method", "steps", "A prod", "B prod", "B solves", "P solves", "ms", "sin θ", "residual", "λ error")


@dataclass(frozen=True)
class Row:
    """The result of one method; `error` is the relative error of the eigenvalue, `sines` has sin θ per step."""

    name: str
    solution: Solution
    error: float
    sines: list[float] = field(repr=False)


def add(subparsers: Any) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "demo",
        help="run all methods on a built-in pair: a table and a convergence plot",
        description="Compute the leading eigenpair of a synthetic problem by every method, to sin θ ≤ 1e-5.",
        epilog=epilog(EXAMPLES),
    )
    parser.add_argument("--n", type=int, default=256, help="order of the matrices (default: 256)")
    parser.add_argument("--kappa", type=float, default=10.0, help="condition number of B (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the pair and the start (default: 0)")
    parser.add_argument(
        "--out", default="out/demo.png", metavar="FILE", help="convergence plot (default: out/demo.png)"
    )
    add_json(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Solve the pair by all methods, and print and plot the results."""
    if args.n < 2 or not 1 <= args.kappa < math.inf or args.seed < 0:
        raise Mistake("give --n of at least 2, a finite --kappa of at least 1 and a non-negative --seed")
    picture = _picture(args.out)
    title = f"Synthetic pair, n = {args.n}, κ(A) = 100, κ(B) = {args.kappa:g}"
    rows = compare(args.n, args.kappa, args.seed)
    if picture:
        with writing(args.out, "--out"):
            draw(rows, title, Path(args.out))
    if args.json:
        from ...bench.provenance import provenance

        methods = [_as_json(row) for row in rows]
        told = {"title": title, "methods": methods, "picture": args.out if picture else None}
        say_json(told | {"provenance": provenance(args.typed, args.seed)})
        return Code.SUCCESS
    drawn = f"Convergence plot: {args.out}" if picture else f"No plot: {missing('it', 'matplotlib')}."
    width = columns()
    head = wrapped(f"{title}: leading pair to sin θ ≤ {SINE_TOLERANCE:g}", width)
    say(f"{head}\n\n{as_table(rows, width)}\n")
    notes = f"P is the preconditioner; times exclude the set-up (checks, factorisation).\n{drawn}\n"
    say(wrapped(notes, width))
    say(wrapped(next(row for row in rows if row.name == "Split-Merge").solution.explain(), width))
    return Code.SUCCESS


def methods() -> dict[str, Method]:
    """All methods of the library, some with several options."""
    import splitmerge as sm

    return {
        "gradient descent": sm.GradientDescent(),
        "power": sm.Power(),
        "mirror descent, sampled step": sm.MirrorDescent(stepsize=sm.Sampled()),
        "mirror descent, adaptive step": sm.MirrorDescent(),
        "Split-Merge": sm.SplitMerge(),
        "Split-Merge, CG(30)": sm.SplitMerge(inner=sm.ConjugateGradient(30, sm.Diagonal())),
        "Lanczos, three-term": sm.Lanczos(reorthogonalise=False),
        "Lanczos, reorthogonalised": sm.Lanczos(),
        "locally optimal": sm.LocallyOptimal(),
        "accelerated (the default)": sm.Accelerated(),
    }


def compare(n: int, kappa: float, seed: int) -> list[Row]:
    """Solve the pair with each method from the same start."""
    import scipy.linalg

    from ...gallery import synthetic_pair
    from ...run.reason import Reason
    from ...run.rules import SineAngle
    from ...solve import solve

    A, B = synthetic_pair(n, kappa, rng=seed)
    values, vectors = scipy.linalg.eigh(A, B, subset_by_index=[n - 1, n - 1])
    u = vectors[:, 0]
    rows = []
    for name, method in methods().items():
        sines: list[float] = []

        def watch(state: State, sines: list[float] = sines) -> None:
            sines.append(angle(state.vector, u, B))

        # a timed run without callback, then a run that records sin θ for the plot
        solution = solve(A, B, method=method, stop=SineAngle(u, SINE_TOLERANCE), rng=seed)
        watched = solve(A, B, method=method, stop=SineAngle(u, SINE_TOLERANCE), rng=seed, callback=watch)
        if Reason.INTERRUPTED in (solution.reason, watched.reason):
            # solve returns what it has; the comparison has no use for a part of it
            raise KeyboardInterrupt
        if not sines:
            # a few unknowns are decomposed by LAPACK, without a step
            sines.append(angle(watched.eigenvectors[:, 0], u, B))
        error = abs(float(solution.eigenvalues[0]) - float(values[0])) / float(values[0])
        rows.append(Row(name, solution, error, sines))
    return rows


def angle(x: Array, u: Array, B: Array) -> float:
    """sin of the B-angle between x and the B-normalised u."""
    d = x - u * (u @ (B @ x))
    return math.sqrt((d @ (B @ d)) / (x @ (B @ x)))


def as_table(rows: list[Row], width: int | None = None) -> str:
    """A text table with one line per method."""
    from ..show import table

    body = []
    for row in rows:
        counts, solution = row.solution.counts, row.solution
        cells = (counts.A_products, counts.B_products, counts.B_solves, counts.P_solves)
        sizes = (row.sines[-1], float(solution.residuals[0]), row.error)
        ms = f"{1e3 * solution.seconds.iteration:.2f}"
        body.append((row.name, str(solution.steps), *map(str, cells), ms, *(f"{x:.1e}" for x in sizes)))
    return "\n".join(table(HEAD, body, 1, width))


def _as_json(row: Row) -> dict[str, Any]:
    solution = row.solution
    return {
        "name": row.name,
        "method": repr(solution.method),
        "eigenvalue": solution.eigenvalues[0],
        "error": row.error,
        "residual": solution.residuals[0],
        "sine": row.sines[-1],
        "steps": solution.steps,
        "counts": solution.counts,
        "seconds": solution.seconds,
        "products": solution.history.products,
        "sines": row.sines,
    }


def _picture(out: str) -> bool:
    """Is matplotlib installed? Creates the folder of the plot and checks that it is writable."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    check_writable(out, "--out")
    return True


def draw(rows: list[Row], title: str, path: Path) -> None:
    """Write the plot to a file."""
    from ...solution.store.replacement import replaced

    with replaced(path) as file:
        plotted(rows, title).savefig(file, dpi=120, format=path.suffix[1:].lower() or None)


def plotted(rows: list[Row], title: str) -> Figure:
    """sin θ against products with A, a machine-independent cost, on logarithmic axes; each curve has its label."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.subplots()
    curves = distinct([row for row in rows if len(row.solution.history)])
    # the labels stand on lines of their own below the curves, that of the fastest method lowest: no two cross
    lowest = math.log10(max(1e-16, min(row.sines[-1] for _, row in curves)))
    spacing = -LABEL_SHARE / (1 - LABEL_SHARE) * lowest / (len(curves) + 1)
    for place, (name, row) in enumerate(curves):
        default = "default" in name
        colour = "black" if default else COLOURS[place % len(COLOURS)]
        products, height = row.solution.history.products, 10 ** (lowest - (len(curves) - place) * spacing)
        axes.plot(products, row.sines, color=colour, linewidth=2.5 if default else 1.8, marker="o" if default else "")
        axes.plot([products[-1]] * 2, [row.sines[-1], height], color=colour, linewidth=0.8)
        axes.plot(products[-1], row.sines[-1], "o", color=colour, markersize=5)
        axes.annotate(name, (products[-1], height), (4, 0), textcoords="offset points", va="center")
    axes.axhline(SINE_TOLERANCE, color="grey", linewidth=0.8, linestyle=":")
    most = int(curves[-1][1].solution.history.products[-1])
    axes.set(xscale="log", yscale="log", ylim=(10 ** (lowest - (len(curves) + 0.6) * spacing), 1.8), title=title)
    axes.set(
        xlabel="products with A", ylabel="sin θ to the leading eigenvector", xlim=(0.8, most ** (1 + LABEL_MARGIN))
    )
    axes.set_yticks([10.0**power for power in range(math.ceil(lowest), 1)])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    return figure


def distinct(rows: list[Row]) -> list[tuple[str, Row]]:
    """The curves that can be told apart in a plot, with the names of all methods on each, the fastest first."""
    curves: list[tuple[str, Row]] = []
    for row in sorted(rows, key=lambda row: int(row.solution.history.products[-1])):
        same = [place for place, (_, other) in enumerate(curves) if _coincide(row, other)]
        if same:
            name, other = curves[same[0]]
            curves[same[0]] = f"{name} and {row.name}", other
        else:
            curves.append((row.name, row))
    return curves


def _coincide(one: Row, other: Row) -> bool:
    """Do both take the same products and reach the same angles, within the width of a line?"""
    if one.solution.history.products.tolist() != other.solution.history.products.tolist():
        return False
    return all(math.isclose(a, b, rel_tol=0.1, abs_tol=1e-12) for a, b in zip(one.sines, other.sines, strict=True))
