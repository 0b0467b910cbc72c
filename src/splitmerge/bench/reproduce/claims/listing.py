"""The list of the paper's claims, and a table of their judgements by the measurements."""

from __future__ import annotations

from ...report import Cell, Column, Table
from ..results import Results
from . import lapla, table1, theory
from .judgement import MARKS

CLAIMS = (*table1.CLAIMS, *lapla.CLAIMS, *theory.CLAIMS)


def table(results: Results, *, every: bool = True) -> Table:
    """A table of the claims and their judgements, for the report; without `every`, of those that were measured."""
    rows = []
    for number, claim in enumerate(CLAIMS, 1):
        judgement = claim.judged(results)
        if judgement.word == "not measured" and not every:
            continue
        beside = "" if judgement.word == "not measured" else claim.beside(results)
        rows.append(
            (
                Cell(str(number), number),
                Cell(claim.statement, claim.statement, below=claim.place),
                Cell(judgement.word, list(MARKS).index(judgement.word), MARKS[judgement.word], beside),
                Cell(judgement.figures, judgement.figures),
                Cell(judgement.reason, judgement.reason),
            )
        )
    names = ("the paper says", "here", "figures", "why")
    columns = (Column("no."), *(Column(name, numeric=False) for name in names))
    which = "Every claim of the paper" if every else "The claims that this run measures"
    return Table(f"{which}, judged by our measurements", columns, tuple(rows), "claims")
