"""A solution as text, CSV and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ..bench.provenance import provenance
from ..solution.display.words import digits_of, short
from ..solution.solution import Solution

HEAD = ("#", "eigenvalue", "residual", "error bound", "cluster")


def as_text(solution: Solution, *, explain: bool = False) -> str:
    """A table of the eigenpairs, followed by the verdict and the summary."""
    lines = table(HEAD, rows(solution))
    if explain:
        return "\n".join([*lines, "", solution.explain()])
    said = [f"{solution.verdict}: {solution.verdict.why}.", solution.summary()]
    if solution.b_report is not None:
        said.insert(0, str(solution.b_report))
    return "\n".join([*lines, "", *said])


def rows(solution: Solution) -> list[tuple[str, ...]]:
    """One row of strings per eigenpair; clusters are numbered only if they have several members."""
    numbers = zip(
        solution.eigenvalues.tolist(),
        solution.residuals.tolist(),
        solution.error_bounds.tolist(),
        solution.clusters.tolist(),
        strict=True,
    )
    digits = digits_of(solution)
    labels = solution.clusters.tolist()
    shared = list(dict.fromkeys(label for label in labels if labels.count(label) > 1))
    return [
        (
            str(i),
            f"{value:#.{digits}g}",
            short(residual),
            short(bound),
            str(shared.index(label) + 1) if label in shared else "-",
        )
        for i, (value, residual, bound, label) in enumerate(numbers, 1)
    ]


def table(head: Sequence[str], body: Sequence[Sequence[str]], words: int = 0) -> list[str]:
    """The lines of a table: the first `words` columns are left-aligned, the others right-aligned."""
    widths = [max(len(cell) for cell in column) for column in zip(head, *body, strict=True)]
    aligned = [*(str.ljust for _ in range(words)), *(str.rjust for _ in head[words:])]
    return [
        "  ".join(align(cell, width) for align, cell, width in zip(aligned, row, widths, strict=True)).rstrip()
        for row in (head, *body)
    ]


def as_csv(solution: Solution) -> str:
    """The table as CSV in full precision."""
    lines = ["number,eigenvalue,residual,error_bound,cluster"]
    columns = (solution.eigenvalues, solution.residuals, solution.error_bounds, solution.clusters)
    for i, row in enumerate(zip(*(column.tolist() for column in columns), strict=True), 1):
        lines.append(",".join(map(repr, (i, *row))))
    return "\n".join(lines) + "\n"


def as_json(solution: Solution, command: str, seed: int | None) -> dict[str, Any]:
    """All results except the eigenvectors and the history, which `-o` saves."""
    problem = solution.problem
    asked = {
        name: getattr(problem, name, None) for name in ("k", "which", "sigma", "tol", "b_policy", "certify", "interval")
    }
    return {
        "eigenvalues": solution.eigenvalues,
        "residuals": solution.residuals,
        "error_bounds": solution.error_bounds,
        "angle_bounds": solution.angle_bounds,
        "clusters": solution.clusters,
        "converged": solution.converged,
        "reason": solution.reason,
        "advice": solution.reason.advice,
        "verdict": solution.verdict,
        "why": solution.verdict.why,
        "n": solution.n,
        "asked": asked,
        "method": None if solution.method is None else repr(solution.method),
        "steps": solution.steps,
        "counts": solution.counts,
        "seconds": asdict(solution.seconds) | {"total": solution.seconds.total},
        "shift": solution.shift,
        "b_report": solution.b_report,
        "explain": solution.explain(),
        "provenance": provenance(command, seed),
    }
