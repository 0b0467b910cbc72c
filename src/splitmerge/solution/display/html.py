"""A solution as HTML for notebooks: a table, the verdict and a picture, in the colours of the page around it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .curves import curves, tolerance
from .picture import colour_of, picture
from .words import asked, cost, digits_of, short

if TYPE_CHECKING:
    from ..solution import Solution

MAX_ROWS = 20
HEAD = ("", "eigenvalue", "error bound", "residual", "cluster")
# Notebooks have styles of their own for tables, so each cell says what it needs.
CELL = (
    "text-align:right;padding:1px 10px 1px 0;border:0;background:none;white-space:nowrap;"
    "font-variant-numeric:tabular-nums"
)


def as_html(solution: Solution) -> str:
    """A self-contained element; all text in it is escaped."""
    verdict = f"<b>{escape(solution.verdict)}</b>: {escape(solution.verdict.why)}."
    state = "Converged" if solution.converged else "<b>Not converged</b>"
    return (
        f'<div style="font-size:13px;line-height:1.4">'
        f"<div><b>{escape(asked(solution))}</b></div>"
        f"<div>{verdict}</div><div>{state}: {escape(solution.reason.advice)}</div>"
        f'<div style="display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start;margin:8px 0">'
        f"{_table(solution)}{_picture(solution)}</div>"
        f"<div>{escape(solution.summary())}</div></div>"
    )


def _table(solution: Solution) -> str:
    drawn = len(solution.history) > 0
    digits, labels = digits_of(solution), solution.clusters.tolist()
    # a column of dashes only takes room, which a phone does not have
    shown = len(HEAD) if len(set(labels)) < len(labels) else len(HEAD) - 1
    head = "".join(f'<th style="{CELL};font-weight:bold">{name}</th>' for name in HEAD[:shown])
    columns = (solution.eigenvalues, solution.error_bounds, solution.residuals)
    rows = []
    for pair, numbers in enumerate(zip(*(column[:MAX_ROWS].tolist() for column in columns), strict=True)):
        value, bound, residual = numbers
        spot = f'<span style="color:{colour_of(pair)}">●</span>' if drawn else ""
        cluster = str(labels[pair]) if labels.count(labels[pair]) > 1 else "–"
        cells = (f"{spot} {pair + 1}", f"{value:#.{digits}g}", short(bound), short(residual), cluster)
        rows.append("".join(f'<td style="{CELL}">{cell}</td>' for cell in cells[:shown]))
    left = solution.eigenvalues.size - MAX_ROWS
    if left > 0:
        rows.append(f'<td style="{CELL};text-align:left" colspan="{shown}">and {left:,} more</td>')
    body = "".join(f"<tr>{row}</tr>" for row in (head, *rows))
    table = f'<table style="border-collapse:collapse;border:0;margin:0;font-size:inherit;color:inherit">{body}</table>'
    return f'<div style="overflow-x:auto;max-width:100%">{table}</div>'


def _picture(solution: Solution) -> str:
    """Residuals of the pairs in the table, and of those that were followed in vain."""
    found = [curve for curve in curves(solution) if curve.pair < MAX_ROWS or not curve.wanted][: 2 * MAX_ROWS]
    if not found:
        return "<div>LAPACK computed the pairs directly, so there are no steps to show.</div>"
    drawn = picture(found, escape(cost(solution.counts)), tolerance(solution))
    return f'<div style="min-width:0"><div>relative residual (○ recomputed from A and B)</div>{drawn}</div>'
