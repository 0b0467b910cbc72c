"""The paper's claims, one by one: what it says, what was measured here, and whether the one bears the other out."""

from __future__ import annotations

from ..report import Cell, Column, Table
from . import claims_lapla, claims_table1, claims_theory
from .judgement import MARKS
from .results import Results

CLAIMS = (*claims_table1.CLAIMS, *claims_lapla.CLAIMS, *claims_theory.CLAIMS)


def table(results: Results) -> Table:
    """The claims with their judgements, for the report."""
    rows = []
    for number, claim in enumerate(CLAIMS, 1):
        judgement = claim.judged(results)
        rows.append(
            (
                Cell(str(number), number),
                Cell(claim.statement, claim.statement, below=claim.place),
                Cell(judgement.word, list(MARKS).index(judgement.word), MARKS[judgement.word]),
                Cell(judgement.figures, judgement.figures),
                Cell(judgement.reason, judgement.reason),
            )
        )
    names = ("the paper says", "here", "figures", "why")
    columns = (Column("no."), *(Column(name, numeric=False) for name in names))
    return Table("Every claim of the paper, judged by what was measured here", columns, tuple(rows), "claims")
