"""Figures 2 and 3: the clustered pairs Lapla3 and Lapla4, with a Cholesky factor of B and with PCG."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ...iterates import stepped
from ...methods.first_order.gradient_descent import GradientDescent
from ...methods.first_order.mirror_descent import MirrorDescent
from ...methods.first_order.power import Power
from ...methods.first_order.split_merge import SplitMerge
from ...methods.first_order.stepsize import Adaptive, Sampled, StepSize
from ...methods.krylov.lanczos import Lanczos
from ...methods.protocol import Method
from ...preconditioners import Preconditioner, Prepared
from ...problem.products import BSolver, Products, bound
from ...solvers.conjugate_gradient import ConjugateGradient
from ...typing import Array
from ..cases import Case, from_files, lapla
from ..jobs import Job
from ..measure import Iteration
from ..report import Cell, Column, Dot, Dots, Table
from ..summary import Stat, milliseconds, statistics
from .paper import PCG_STEPS

CHOLESKY, PCG = "Cholesky", f"PCG({PCG_STEPS})"
# Starts measured in one job.
STARTS_PER_JOB = 4
# Points of a saved convergence curve.
CURVE_POINTS = 400
# Rows of the largest B that is factorised as a dense matrix; larger ones would take gigabytes.
DENSE_FACTOR_MAX_ROWS = 6000


@dataclass(frozen=True)
class ByInner(Preconditioner):
    """PᴴP ≈ B by the inner solver: mirror descent with an exact P, where PCG replaces the Cholesky factor."""

    def _prepare(self, pencil: Products) -> Prepared:
        # count its products as those of the iteration, not of the set-up
        return _ByInner(bound(pencil.solver, pencil.solving(pencil.solver)))


class _ByInner(Prepared):
    def __init__(self, solver: BSolver) -> None:
        self.solver = solver

    def gram_solve(self, b: Array) -> Array:
        return self.solver.solve(b, None, None)[0]


def _mirror(stepsize: StepSize) -> dict[str, Method]:
    cg = ConjugateGradient(PCG_STEPS)
    return {CHOLESKY: MirrorDescent(stepsize=stepsize), PCG: MirrorDescent(ByInner(), stepsize, inner=cg)}


SIDES: dict[str, dict[str, Method]] = {
    "GD": {"": GradientDescent()},
    "Power": {CHOLESKY: Power(), PCG: Power(ConjugateGradient(PCG_STEPS))},
    "PMD": _mirror(Sampled()),
    "PMD adaptive": _mirror(Adaptive()),
    "Lanczos": {
        CHOLESKY: Lanczos(reorthogonalise=False),
        PCG: Lanczos(ConjugateGradient(PCG_STEPS), reorthogonalise=False),
    },
    "Lanczos reorthogonalised": {CHOLESKY: Lanczos(), PCG: Lanczos(ConjugateGradient(PCG_STEPS))},
    "Split-Merge": {CHOLESKY: SplitMerge(), PCG: SplitMerge(ConjugateGradient(PCG_STEPS))},
}


# The number of each method's colour in all plots of the page; figures.PALETTE has the same for the figures.
COLOURS = {
    "GD": 7,
    "Power": 0,
    "PMD": 5,
    "PMD adaptive": 1,
    "Lanczos": 2,
    "Lanczos reorthogonalised": 4,
    "Split-Merge": 3,
}


def label(method: str, inner: str) -> str:
    """The label of a method with its inner solver."""
    return f"{method}, {inner}" if inner else method


SOURCES: tuple[tuple[Any, ...], ...] = (("lapla", 3), ("lapla", 4))


def case_of(source: tuple[Any, ...], seed: int) -> Case:
    """The pair of a source such as ("lapla", 3) or ("files", "A.mtx", "B.mtx")."""
    kind, *rest = source
    if kind == "lapla":
        return lapla(rest[0], seed)
    case = from_files(rest[0], rest[1], seed)
    return replace(case, A=sp.csr_array(case.A), B=sp.csr_array(case.B))


def jobs(sources: Sequence[tuple[Any, ...]], trials: int, settings: Mapping[str, Any]) -> list[Job]:
    """The jobs of figures 2 and 3: all methods from groups of starts, convergence curves, and times of B-solves."""
    found = []
    for place, source in enumerate(sources):
        name, own = f"pair{place}", {**settings, "source": list(source)}
        weight = 12.0 * (1 + 2 * (source[-1] == 4))
        for first in range(0, trials, STARTS_PER_JOB):
            last = min(first + STARTS_PER_JOB, trials)
            arguments = (source, settings["seed"], first, last)
            key = f"figure2-{name}-starts{first}-{last - 1}"
            found.append(Job(key, run_part, arguments, own, weight * (last - first)))
        found.append(Job(f"figure3-{name}", run_curves, (source, settings["seed"]), own, weight))
        found.append(Job(f"factors-{name}", run_factors, (source, settings["seed"]), own, weight / 2))
    return found


def run_part(source: tuple[Any, ...], seed: int, first: int, last: int) -> dict[str, Any]:
    """All methods from the starts `first` to `last` − 1 of a pair."""
    case = case_of(source, seed)
    sides = [
        Iteration(case, label(name, inner), method) for name, kinds in SIDES.items() for inner, method in kinds.items()
    ]
    trials = [side.trial(number).to_dict() for number in range(first, last) for side in sides]
    return {"case": case.name, "n": case.n, "pair": case.made, "seed": seed, "trials": trials}


def run_curves(source: tuple[Any, ...], seed: int) -> dict[str, Any]:
    """sin θ against the time of the steps, without monitoring, from start 0."""
    case = case_of(source, seed)
    curves = {}
    for name, kinds in SIDES.items():
        for inner, method in kinds.items():
            curves[label(name, inner)] = _curve(Iteration(case, name, method))
    return {"case": case.name, "n": case.n, "pair": case.made, "seed": seed, "start": 0, "curves": curves}


def _curve(side: Iteration) -> dict[str, list[float]]:
    products, rng = side.products, side.case.generator(0)
    x = rng.standard_normal(side.case.n)
    memory = side.method.setup(products.setup, rng)
    seconds, sines, steps, made = [], [], [], []
    spent, begin = 0.0, time.perf_counter()
    for state in stepped(side.method, products, x, memory):
        spent += time.perf_counter() - begin
        seconds.append(spent)
        sines.append(side.case.sine(state.x))
        steps.append(state.step)
        made.append(products.counts.A_products)
        if side.check(state) is not None or state.step >= side.max_steps or not state.finite:
            break
        begin = time.perf_counter()
    # logarithmically spaced steps, so that the beginning is resolved as well as the end
    last = len(seconds) - 1
    chosen = np.unique(np.round(np.geomspace(1, last + 1, CURVE_POINTS)).astype(int)) - 1 if last else np.zeros(1, int)
    return {
        "seconds": [seconds[i] for i in chosen],
        "sine": [sines[i] for i in chosen],
        "step": [float(steps[i]) for i in chosen],
        "A_products": [float(made[i]) for i in chosen],
    }


def run_factors(source: tuple[Any, ...], seed: int) -> dict[str, Any]:
    """Milliseconds of one solve with B: by the sparse factor, by PCG, and by a dense factor.

    A dense factor would explain the paper's gain from PCG.
    """
    case = case_of(source, seed)
    b = case.start(0)
    found = {"case": case.name, "n": case.n, "pair": case.made, "seed": seed}
    for name, method in SIDES["Power"].items():
        products = Iteration(case, name, method).products
        found[name] = _milliseconds(lambda products=products: products.solve_B(b))
    if case.n <= DENSE_FACTOR_MAX_ROWS:
        factor = scipy.linalg.cho_factor(case.B.toarray(), overwrite_a=True, check_finite=False)
        found["full"] = _milliseconds(lambda: scipy.linalg.cho_solve(factor, b, check_finite=False))
    return found


def _milliseconds(call: Any) -> float:
    """The median time of seven calls, after a warm-up call."""
    times = []
    for _ in range(8):
        begin = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - begin))
    return float(np.median(times[1:]))


def summarise(parts: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Stat]]:
    """The statistics of every pair, by name."""
    trials: dict[str, list[Any]] = {}
    for part in parts:
        data = part["data"]
        if "trials" in data:
            trials.setdefault(data["case"], []).extend(data["trials"])
    return {name: statistics(own) for name, own in trials.items()}


def points(name: str, stats: Mapping[str, Stat]) -> list[Dots]:
    """Figure 2 for one pair: products with A, which no machine changes, and milliseconds, with Cholesky and PCG."""
    starts = min((stat.count for stat in stats.values()), default=0)
    return [
        _dots(stats, f"{name}: mean number of products with A, over {starts} starts", "products with A", True),
        _dots(stats, f"{name}: mean milliseconds ± standard deviation, over {starts} starts", "milliseconds", False),
    ]


def _dots(stats: Mapping[str, Stat], caption: str, unit: str, products: bool) -> Dots:
    rows = []
    for method, kinds in SIDES.items():
        found = []
        for inner in kinds:
            stat = stats.get(label(method, inner))
            if stat is None or not stat.successes:
                continue
            value, width = (stat.A_products, 0.0) if products else (1e3 * stat.seconds, 1e3 * stat.deviation)
            shown = f"{value:,.0f}" if products else f"{milliseconds(stat.seconds)} ± {milliseconds(stat.deviation)}"
            told = f"{label(method, inner)}: {shown} {unit}"
            found.append(Dot(value, told, width, COLOURS[method], inner == PCG))
        rows.append((method, tuple(found)))
    return Dots(caption, unit, tuple(rows), (f"{CHOLESKY}, or no solves (GD)", PCG))


def table(pairs: Mapping[str, Mapping[str, Stat]]) -> Table:
    """The numbers of figure 2."""
    rows = []
    for name, stats in pairs.items():
        for side, stat in stats.items():
            counts = (stat.steps, stat.A_products, stat.B_products, stat.B_solves, stat.P_solves)
            rows.append(
                (
                    Cell(name, name),
                    Cell(side, side),
                    Cell(f"{stat.share:.0%}", stat.share, "" if stat.share == 1 else "bad"),
                    *(Cell(f"{count:,.0f}" if stat.successes else "–", count) for count in counts),
                    Cell(milliseconds(stat.seconds), 1e3 * stat.seconds, below=f"± {milliseconds(stat.deviation)}"),
                    Cell(milliseconds(stat.setup), 1e3 * stat.setup),
                )
            )
    heads = {
        "successes": "share of the starts that reached sin θ ≤ 1e-5",
        "steps": "",
        "A": "mean number of products with A",
        "B": "mean number of products with B, including those of conjugate gradients",
        "B solves": "mean number of solves with B",
        "P solves": "mean number of solves with the preconditioner of the method or of conjugate gradients",
        "ms": "mean milliseconds of the iteration ± standard deviation",
        "set-up, ms": "milliseconds for the factorisation or preconditioner, and step sizes; not in the times",
    }
    columns = (
        Column("pair", numeric=False),
        Column("method", numeric=False),
        *(Column(*head) for head in heads.items()),
    )
    return Table("Clustered pairs: Cholesky against PCG", columns, tuple(rows), "figure2")
