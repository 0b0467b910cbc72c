"""A table of a report as CSV, every row with what it takes to trace it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .blocks import Table

# what every row ends with
TRACE = ("seed", "threads", "version", "numpy", "scipy", "command", "date")


def trace(provenance: Mapping[str, Any]) -> list[Any]:
    """The values of the columns `TRACE`."""
    named = {**provenance, "version": provenance.get("splitmerge", "")}
    return [named.get(name, "") for name in TRACE]


def rows_as_csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows below their head."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


def table_as_csv(table: Table, provenance: Mapping[str, Any]) -> str:
    """The keys of the cells, as they have all digits; small print goes into columns of its own."""
    printed = [any(row[i].below for row in table.rows) for i in range(len(table.columns))]
    head = [
        name
        for column, small in zip(table.columns, printed, strict=True)
        for name in ([column.name, f"{column.name} (small print)"] if small else [column.name])
    ]
    rows = []
    for row in table.rows:
        line: list[Any] = []
        for column, cell, small in zip(table.columns, row, printed, strict=True):
            line.append(cell.key if column.numeric and cell.key is not None else cell.text)
            line += [cell.below] * small
        rows.append([*line, *trace(provenance)])
    return rows_as_csv([*head, *TRACE], rows)
