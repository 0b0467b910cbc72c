"""The HTML report of `splitmerge solve --report`: eigenpairs, convergence history, and the solution path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

import numpy as np

from ..bench.provenance import provenance
from ..bench.report import Block, Cell, Column, Plot, Report, Section, Series, Table, Text
from ..solution.display.curves import By, curves, tolerance
from ..solution.display.words import asked, cost, digits_of, short
from ..solution.solution import Solution
from .show import cluster_numbers

COLUMNS = (
    Column("number"),
    Column("eigenvalue"),
    Column("residual", "‖Au − λBu‖ relative to |λ| ‖Bu‖, recomputed from A and B"),
    Column("error bound", "an eigenvalue lies within this distance of the value"),
    Column("angle bound", "sine of the angle between the vector and the eigenspace of its cluster"),
    Column("cluster", "eigenvalues that are too close to be separated have the same cluster number"),
)


def report_of(solution: Solution, files: Sequence[str], command: str, seed: int | None) -> Report:
    """The report of a solution."""
    # reports are shared, so they contain file names without folders
    names = " and ".join(PurePath(file).name for file in files)
    verdict = f"Completeness: {solution.verdict} ({solution.verdict.why})."
    return Report(
        title=f"Eigenpairs of {names}",
        summary=(f"Asked for: {asked(solution)}.", solution.reason.advice, solution.summary(), verdict),
        sections=(
            Section("Pairs", (pairs(solution),)),
            Section("Convergence", convergence(solution)),
            Section("How they were found", (Text(tuple(solution.explain().splitlines())),)),
        ),
        provenance=provenance(command, seed),
    )


def pairs(solution: Solution) -> Table:
    """A table with one row per eigenpair."""
    digits = digits_of(solution)
    columns = (
        solution.eigenvalues,
        solution.residuals,
        solution.error_bounds,
        solution.angle_bounds,
    )
    clusters = cluster_numbers(solution)
    body = []
    for i, numbers in enumerate(zip(*(column.tolist() for column in columns), clusters, strict=True), 1):
        value, residual, bound, angle, cluster = numbers
        body.append(
            (
                Cell(str(i), i),
                Cell(f"{value:#.{digits}g}", value),
                *(Cell(short(number), number if np.isfinite(number) else None) for number in (residual, bound, angle)),
                Cell("-" if cluster is None else str(cluster), cluster),
            )
        )
    return Table("The pairs, best first", COLUMNS, tuple(body), "pairs")


def convergence(solution: Solution) -> tuple[Block, ...]:
    """Plots of the residual against products and seconds, with one curve per eigenpair."""
    if not len(solution.history):
        return (Text(("LAPACK computed the pairs directly, so there are no steps to show.",)),)
    axes: tuple[tuple[By, str], ...] = (("products", cost(solution.counts)), ("seconds", "seconds"))
    plots = (
        Plot(f"Residual against {name}", name, "relative residual", _series(solution, by), line=tolerance(solution))
        for by, name in axes
    )
    return *plots, Text(
        ("These are the residuals as the iteration knew them; those in the table are recomputed from A and B.",)
    )


def _series(solution: Solution, by: By) -> tuple[Series, ...]:
    """One curve per eigenpair; those of pairs that others displaced are dashed."""
    return tuple(
        Series(f"pair {curve.pair + 1}", curve.x, curve.y)
        if curve.wanted
        else Series(f"{curve.value:.6g}, not wanted", curve.x, curve.y, dashed=True, group="others")
        for curve in curves(solution, by)
        if curve.x.size
    )
