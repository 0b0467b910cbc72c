"""Tables of a report as CSV, with provenance columns in every row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .blocks import Table

# Names of the provenance columns at the end of every row.
TRACE_COLUMNS = ("seed", "threads", "version", "numpy", "scipy", "command", "date")


def trace(provenance: Mapping[str, Any]) -> list[Any]:
    """The values of the columns `TRACE_COLUMNS`."""
    named = {**provenance, "version": provenance.get("splitmerge", "")}
    return [named.get(name, "") for name in TRACE_COLUMNS]


def rows_as_csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A CSV file with a header line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


def table_as_csv(table: Table, provenance: Mapping[str, Any]) -> str:
    """A table as CSV: numbers in full precision, and small print in separate columns."""
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
    return rows_as_csv([*head, *TRACE_COLUMNS], rows)
