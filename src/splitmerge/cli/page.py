"""The HTML report of `splitmerge solve --report`: eigenpairs, convergence history, and the solution path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

import numpy as np

from ..bench.provenance import provenance
from ..bench.report import Block, Cell, Column, Plot, Report, Section, Series, Table, Text
from ..solution.solution import Solution
from .show import cluster_numbers, digits_of, short

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
        summary=(solution.reason.advice, solution.summary(), verdict),
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
    history = solution.history.to_dict()
    if not history["pair"].size:
        return (Text(("LAPACK computed the pairs directly, so there are no steps to show.",)),)
    tol = None if solution.problem is None else solution.problem.tol
    return tuple(
        Plot(f"Residual against {name}", name, "relative residual", _series(history, column), line=tol)
        for column, name in (("products", "products with A"), ("seconds", "seconds"))
    )


def _series(history: dict[str, np.ndarray], column: str) -> tuple[Series, ...]:
    """One curve per eigenpair, restricted to positive finite residuals for the logarithmic axis."""
    shown = np.isfinite(history["residual"]) & (history["residual"] > 0)
    found = []
    for pair in np.unique(history["pair"]).tolist():
        rows = (history["pair"] == pair) & shown
        if rows.any():
            found.append(Series(f"pair {pair + 1}", history[column][rows], history["residual"][rows]))
    return tuple(found)
