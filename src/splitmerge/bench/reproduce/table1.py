"""Table 1: mean time to sin θ ≤ 1e-5 on the synthetic pairs, in thirty cells with the same starts for all methods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ... import gallery
from ...methods.first_order.gradient_descent import GradientDescent
from ...methods.first_order.mirror_descent import MirrorDescent
from ...methods.first_order.power import Power
from ...methods.first_order.split_merge import SplitMerge
from ...methods.first_order.stepsize import Sampled
from ...methods.krylov.lanczos import Lanczos
from ...methods.protocol import Method
from ..cases import synthetic
from ..jobs import Job
from ..measure import SHORT_RUN_SECONDS, Arpack, Default, Iteration, Side, timed
from ..report import Block, Cell, Column, Plot, Series, Table, Text
from ..summary import Stat, milliseconds, statistics
from .paper import LANCZOS_SHARES, TABLE1

CellKey = tuple[int, int]
Summary = Mapping[CellKey, Mapping[str, Stat]]
# The speed-ups of each cell: by time, by products with A, and the paper's.
Gains = Mapping[CellKey, tuple[float, float, float]]

# The paper's five methods, and their positions in its rows.
RANKED = {"GD": 0, "Power": 1, "PMD": 2, "Lanczos": 3, "Split-Merge": 4}
ITERATIONS: dict[str, Method] = {
    "GD": GradientDescent(),
    "Power": Power(),
    "PMD": MirrorDescent(stepsize=Sampled()),
    "Lanczos": Lanczos(reorthogonalise=False),
    "Split-Merge": SplitMerge(),
    "PMD adaptive": MirrorDescent(),
    "Lanczos reorthogonalised": Lanczos(),
}
EIGSH, DEFAULT = "eigsh", "splitmerge"
NAMES = (*ITERATIONS, EIGSH, DEFAULT)
WHY = {
    "GD": "gradient descent, step drawn from [0.9, 0.99]/λ₁(B)",
    "Power": "the power method, B factorised beforehand",
    "PMD": "preconditioned mirror descent, P the Cholesky factor of B, step drawn from [0.9, 0.99] as in the paper",
    "Lanczos": "the plain three-term recurrence",
    "Split-Merge": "the paper's method",
    "PMD adaptive": "mirror descent with our adaptive step, which needs no spectral information (not in the paper)",
    "Lanczos reorthogonalised": "with full reorthogonalisation (not in the paper)",
    EIGSH: "total time of scipy.sparse.linalg.eigsh(A, M=B), factorisation included; below it the paper's eigs",
    DEFAULT: "total time of splitmerge.solve: checks, factorisation, iteration and verification",
}
# Starts measured in one job.
STARTS_PER_JOB = 25
# With fewer starts than this, the mean is sensitive to disturbances; short runs are then repeated.
FEW_STARTS, SHORT_RUN_REPEATS = 10, 3
# The colours of the three sizes n in the plots of the page; those of methods are others.
SIZE_COLOURS = (8, 9, 10)
# Approximate seconds per start by n, so that the longest jobs are started first.
SECONDS_PER_START = {256: 0.1, 512: 0.6, 1024: 4.0}


def cells(sizes: Sequence[int] = gallery.SIZES) -> list[CellKey]:
    """(n, κ_B) of the thirty cells, or of those with n in `sizes`."""
    return [(n, kappa) for n in sizes for kappa in gallery.KAPPA_B]


def jobs(trials: int, settings: Mapping[str, Any], sizes: Sequence[int] = gallery.SIZES) -> list[Job]:
    """The jobs of table 1: groups of starts of each cell."""
    found = []
    for n, kappa in cells(sizes):
        for first in range(0, trials, STARTS_PER_JOB):
            last = min(first + STARTS_PER_JOB, trials)
            weight = SECONDS_PER_START[n] * (last - first) * (2.0 if kappa == 3 else 1.0)
            arguments = (n, kappa, settings["seed"], first, last, SHORT_RUN_REPEATS if trials < FEW_STARTS else 1)
            key = f"table1-n{n}-kappa{kappa}-starts{first}-{last - 1}"
            found.append(Job(key, run_part, arguments, settings, weight))
    return found


def run_part(n: int, kappa: int, seed: int, first: int, last: int, repeats: int = 1) -> dict[str, Any]:
    """All methods from the starts `first` to `last` − 1 of a cell; short runs are timed `repeats` times."""
    case = synthetic(n, kappa, seed)
    sides: list[Side] = [Iteration(case, name, method) for name, method in ITERATIONS.items()]
    sides += [Arpack(case, EIGSH), Default(case, DEFAULT)]
    trials = [timed(side, number, repeats).to_dict() for number in range(first, last) for side in sides]
    return {"n": n, "kappa_B": kappa, "pair": case.made, "seed": seed, "trials": trials}


def summarise(parts: Sequence[Mapping[str, Any]]) -> Summary:
    """The statistics of every cell, from the saved jobs."""
    trials: dict[CellKey, list[Any]] = {}
    for part in parts:
        data = part["data"]
        trials.setdefault((data["n"], data["kappa_B"]), []).extend(data["trials"])
    return {key: statistics(trials[key]) for key in cells() if key in trials}


def speedups(summary: Summary) -> dict[CellKey, tuple[float, float, float]]:
    """The speed-up of Split-Merge over Power in each cell: by time, by products with A, and the paper's."""
    found = {}
    for key, stats in summary.items():
        power, merge = stats["Power"], stats["Split-Merge"]
        found[key] = (power.seconds / merge.seconds, power.A_products / merge.A_products, TABLE1[key].speedup / 100)
    return found


def blocks(summary: Summary) -> list[Block]:
    """The tables and plots of the report: products, which no machine changes, then times, then the set-up."""
    gains = speedups(summary)
    return [
        _text(summary, gains),
        _products(summary, gains),
        _plot(gains, 1, "Speed-up in products with A: Power over Split-Merge; the paper's, in time, dotted"),
        _times(summary, gains),
        _plot(gains, 0, "Speed-up in time: Power over Split-Merge, dashed; the paper's dotted"),
        _ratios(summary),
        _setups(summary),
    ]


def _text(summary: Summary, gains: Gains) -> Text:
    trials = next(iter(summary.values()))["Power"].count
    reached = [sum(gain[i] >= gain[2] for gain in gains.values()) for i in (0, 1)]
    few = f" With few starts, runs below {1e3 * SHORT_RUN_SECONDS:g} ms are timed {SHORT_RUN_REPEATS} times."
    return Text(
        (
            f"Means over {trials} starts until sin θ ≤ 1e-5, at most 100,000 steps. All methods start from the same "
            "vectors and solve with a factorisation of B computed beforehand, whose time is in the last table; eigsh "
            "(at the loosest tolerance that reaches the angle) and splitmerge are timed as a whole, including the "
            "factorisation. The best of the paper's five methods is bold, the second best underlined. ✗ marks methods "
            "that did not converge from every start." + few * (trials < FEW_STARTS),
            f"The speed-up of Split-Merge over Power is {_range(gains, 1)} in products with A and {_range(gains, 0)} "
            f"in time; the paper reports {_range(gains, 2)} in time. Its value is reached in {reached[1]} of "
            f"{len(gains)} cells by products and in {reached[0]} by time.",
        )
    )


def _plot(gains: Gains, place: int, caption: str) -> Plot:
    """The speed-up of Split-Merge over Power against κ_B: a colour per n, and a line style per quantity."""
    name = ("time", "products")[place]
    series = []
    for number, n in enumerate(dict.fromkeys(key[0] for key in gains)):
        own = {key[1]: gain for key, gain in gains.items() if key[0] == n}
        x, colour = np.array(list(own)), SIZE_COLOURS[number]
        ours, theirs = (np.array([gain[i] for gain in own.values()]) for i in (place, 2))
        series.append(Series(f"n = {n}, {name}", x, ours, dashed=place == 0, colour=colour))
        series.append(Series(f"n = {n}, paper", x, theirs, dotted=True, colour=colour))
    kappas = tuple(float(kappa) for kappa in dict.fromkeys(key[1] for key in gains))
    return Plot(caption, "κ_B", "Power / Split-Merge", tuple(series), log_x=True, log_y=False, line=1.0, x_ticks=kappas)


def _range(gains: Gains, place: int) -> str:
    numbers = [gain[place] for gain in gains.values()]
    return f"{100 * min(numbers):.0f}–{100 * max(numbers):.0f} %"


HEAD = (Column("n"), Column("κ_B", "condition number of B"))


def _head(key: CellKey) -> tuple[Cell, Cell]:
    return Cell(str(key[0]), key[0]), Cell(str(key[1]), key[1])


def _times(summary: Summary, gains: Gains) -> Table:
    rows = []
    for key, stats in summary.items():
        order = sorted(RANKED, key=lambda name: stats[name].seconds)
        paper = TABLE1[key]
        row = [*_head(key)]
        for name in NAMES:
            theirs = paper[RANKED[name]] if name in RANKED else paper.eigs if name == EIGSH else None
            share = LANCZOS_SHARES.get(key, 1.0) if name == "Lanczos" else 1.0
            row.append(_time(stats[name], theirs, share, name in RANKED and order.index(name)))
        rows.append((*row, _gain(gains[key], 0)))
    columns = (
        *HEAD,
        *(Column(name, WHY[name]) for name in NAMES),
        Column("speed-up", "time of Power over that of Split-Merge; the paper's below"),
    )
    return Table("Table 1: mean milliseconds of iteration; the paper's in small print", columns, tuple(rows), "table1")


def _gain(gains: tuple[float, float, float], place: int) -> Cell:
    return Cell(f"{100 * gains[place]:.0f} %", gains[place], below=f"{100 * gains[2]:.0f} %")


def _time(stat: Stat, theirs: float | None, share: float, place: int | bool) -> Cell:
    below = "" if theirs is None else milliseconds(theirs) + (f" ✗ {share:.0%}" if share < 1 else "")
    mark = _mark(place)
    if stat.successes == 0:
        return Cell("✗ 0 %", None, "bad", below)
    failed = f" ✗ {stat.share:.0%}" if stat.share < 1 else ""
    why = f"± {milliseconds(stat.deviation)} ms over {stat.successes} of {stat.count} starts"
    return Cell(f"{milliseconds(stat.seconds)}{failed}", 1e3 * stat.seconds, mark, below, why)


def _mark(place: int | bool) -> Any:
    """The mark of the best and of the second best; False is no place."""
    return {0: "best", 1: "second"}.get(place, "") if not isinstance(place, bool) else ""


def _ratios(summary: Summary) -> Table:
    """Speeds relative to Power, which are comparable between machines."""
    rows = []
    for key, stats in summary.items():
        paper, row = TABLE1[key], [*_head(key)]
        for name in NAMES:
            if name == "Power":
                continue
            theirs = paper[RANKED[name]] if name in RANKED else paper.eigs if name == EIGSH else None
            ratio = stats["Power"].seconds / stats[name].seconds
            below = "" if theirs is None else f"{paper.power / theirs:.2f}"
            row.append(Cell(f"{ratio:.2f}", ratio, below=below))
        rows.append(tuple(row))
    columns = (*HEAD, *(Column(name, WHY[name]) for name in NAMES if name != "Power"))
    caption = "Time of Power over that of the method (above 1 the method is faster); the paper's in small print"
    return Table(caption, columns, tuple(rows), "table1-ratios")


def _products(summary: Summary, gains: Gains) -> Table:
    """Products with A and solves with B, which no machine changes."""
    rows = []
    counted = [name for name in NAMES if name != EIGSH]
    for key, stats in summary.items():
        order = sorted(RANKED, key=lambda name: stats[name].A_products if stats[name].successes else math.inf)
        row = [*_head(key)]
        for name in counted:
            stat = stats[name]
            mark = _mark(name in RANKED and order.index(name))
            row.append(Cell(_count(stat.A_products), stat.A_products, mark, _count(stat.solves)))
        rows.append((*row, _gain(gains[key], 1)))
    columns = (
        *HEAD,
        *(Column(name, WHY[name]) for name in counted),
        Column("speed-up", "products with A of Power over those of Split-Merge; the paper's, in time, below"),
    )
    caption = "Products with A; in small print solves with B, and the paper's speed-up in time"
    return Table(caption, columns, tuple(rows), "table1-products")


def _count(number: float) -> str:
    return f"{number:,.0f}" if math.isfinite(number) else "–"


def _setups(summary: Summary) -> Table:
    """The time of the set-up, which is in no other table but within eigsh and splitmerge."""
    rows = [
        (*_head(key), *(Cell(milliseconds(stats[name].setup), 1e3 * stats[name].setup) for name in ITERATIONS))
        for key, stats in summary.items()
    ]
    columns = (*HEAD, *(Column(name, WHY[name]) for name in ITERATIONS))
    caption = "Set-up in milliseconds, not included above: checks of A and B, factorisation of B, step sizes"
    return Table(caption, columns, tuple(rows), "table1-setup")
