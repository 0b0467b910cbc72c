"""A solution as text, CSV and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ..bench.provenance import provenance
from ..solution.display.words import digits_of, short
from ..solution.solution import Solution
from .wrapping import blocks, columns, wrapped

HEAD = ("#", "eigenvalue", "residual", "error bound", "cluster")


def as_text(solution: Solution, *, explain: bool = False) -> str:
    """A table of the eigenpairs, followed by the verdict and the summary."""
    width = columns()
    lines = table(HEAD, rows(solution), width=width)
    if explain:
        return "\n".join([*lines, "", wrapped(solution.explain(), width)])
    said = [f"{solution.verdict}: {solution.verdict.why}.", solution.summary()]
    if solution.b_report is not None:
        said.insert(0, str(solution.b_report))
    return "\n".join([*lines, "", *(wrapped(line, width) for line in said)])


def pair_count(solution: Solution) -> str:
    """How many eigenpairs there are, in words."""
    count = solution.eigenvalues.size
    return f"{count} pair{'s' * (count != 1)}"


def cluster_numbers(solution: Solution) -> list[int | None]:
    """The number of the cluster of each pair, from 1; None for a pair that is alone. All outputs agree in them."""
    labels = solution.clusters.tolist()
    shared = [label for label, members in Counter(labels).items() if members > 1]
    numbers = {label: number for number, label in enumerate(shared, 1)}
    return [numbers.get(label) for label in labels]


def rows(solution: Solution) -> list[tuple[str, ...]]:
    """One row of strings per eigenpair."""
    numbers = zip(
        solution.eigenvalues.tolist(),
        solution.residuals.tolist(),
        solution.error_bounds.tolist(),
        cluster_numbers(solution),
        strict=True,
    )
    digits = digits_of(solution)
    return [
        (
            str(i),
            f"{value:#.{digits}g}",
            short(residual),
            short(bound),
            "-" if cluster is None else str(cluster),
        )
        for i, (value, residual, bound, cluster) in enumerate(numbers, 1)
    ]


def table(head: Sequence[str], body: Sequence[Sequence[str]], words: int = 0, width: int | None = None) -> list[str]:
    """The lines of a table: the first `words` columns are left-aligned, the others right-aligned.

    A table wider than `width` becomes several, each with the first column.
    """
    widths = [max(len(cell) for cell in column) for column in zip(head, *body, strict=True)]
    aligned = [*(str.ljust for _ in range(words)), *(str.rjust for _ in head[words:])]
    lines = [
        [align(cell, each) for align, cell, each in zip(aligned, row, widths, strict=True)] for row in (head, *body)
    ]
    found: list[str] = []
    for places in blocks(lines, width):
        found += [""] * bool(found)
        found += ["  ".join(line[place] for place in places).rstrip() for line in lines]
    return found


def as_csv(solution: Solution) -> str:
    """The table as CSV in full precision."""
    lines = ["number,eigenvalue,residual,error_bound,cluster"]
    numbers = (solution.eigenvalues, solution.residuals, solution.error_bounds)
    columns = (*(column.tolist() for column in numbers), cluster_numbers(solution))
    for i, (*row, cluster) in enumerate(zip(*columns, strict=True), 1):
        lines.append(",".join((*map(repr, (i, *row)), "" if cluster is None else str(cluster))))
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
        "clusters": cluster_numbers(solution),
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
