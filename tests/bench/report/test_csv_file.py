"""Tables as CSV: numbers in full precision, small print beside them, and where they come from in every row."""

import csv
import io

from splitmerge.bench.provenance import provenance
from splitmerge.bench.report import Cell, Column, Table
from splitmerge.bench.report.csv_file import TRACE_COLUMNS, table_as_csv

ORIGIN = {
    "splitmerge": "1.2",
    "python": "3.99",
    "numpy": "4.5",
    "scipy": "6.7",
    "threads": 3,
    "command": "splitmerge reproduce table1",
    "date": "2026-01-02",
    "seed": 8,
}
TABLE = Table(
    "a table",
    (Column("method", numeric=False), Column("ms"), Column("steps")),
    (
        (Cell("Power", "power"), Cell("0.33", 1 / 3, below="0.3"), Cell("1,234", 1234)),
        (Cell("GD", "gd"), Cell("✗ 0 %", None, below="0.5"), Cell("–")),
    ),
)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_numbers_are_exact_and_words_are_as_they_are_shown():
    first, second = rows_of(table_as_csv(TABLE, ORIGIN))
    assert float(first["ms"]) == 1 / 3
    assert (first["method"], first["ms (small print)"], first["steps"]) == ("Power", "0.3", "1234")
    assert (second["method"], second["ms"], second["ms (small print)"], second["steps"]) == ("GD", "✗ 0 %", "0.5", "–")


def test_the_origin_is_in_every_row():
    """Each in its own column; the version is that of this library."""
    for row in rows_of(table_as_csv(TABLE, ORIGIN)):
        told = {name: row[name] for name in TRACE_COLUMNS}
        expected = {name: str(ORIGIN[name]) for name in TRACE_COLUMNS if name != "version"}
        assert told == expected | {"version": "1.2"}


def test_what_is_not_known_of_the_origin_is_empty():
    (first, _) = rows_of(table_as_csv(TABLE, {}))
    assert {first[name] for name in TRACE_COLUMNS} == {""}
    assert set(TRACE_COLUMNS) - {"version"} <= set(provenance("splitmerge", 0))
