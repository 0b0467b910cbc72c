"""Select the rows, measure them and write the report."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from ..sparse.race import Absent
from . import dense_rows, operator_rows, sparse_rows
from .contest import Row
from .picture import draw
from .record import Record, absent, record
from .table import conditions, save, text
from .timing import race

SECTIONS: dict[str, Callable[[bool], Iterator[Row]]] = {
    "sparse": sparse_rows.rows,
    "operators-no-factorisation": operator_rows.rows,
    "dense": dense_rows.rows,
    "tiny": dense_rows.tiny_rows,
    "p2": sparse_rows.p2_rows,
    "matrix-free-B": operator_rows.matrix_free_rows,
    "import": dense_rows.import_rows,
}


def chosen(args: argparse.Namespace) -> list[Row]:
    names = [name for name in args.sections.split(",") if name] or list(SECTIONS)
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        sys.exit(f"unknown section {', '.join(unknown)}; give some of {', '.join(SECTIONS)}")
    try:
        pattern = re.compile(args.rows, re.IGNORECASE)
    except re.error as wrong:
        sys.exit(f"--rows {args.rows!r} is not a regular expression: {wrong}")
    rows = [row for name in names for row in SECTIONS[name](args.long) if pattern.search(row.label)]
    if not rows:
        sys.exit(f"no row matches {args.rows!r}; --list has their names")
    return rows


def measure(row: Row, repeat: int) -> Record:
    try:
        contest = row.prepare()
    except Absent as missing:
        return absent(row, str(missing))
    race(contest, repeat)
    return record(row, contest)


def run(args: argparse.Namespace) -> None:
    rows = chosen(args)
    if args.list:
        print("\n".join(row.label for row in rows))
        return
    begin, records = time.perf_counter(), []
    try:
        for i, row in enumerate(rows):
            before = time.perf_counter()
            print(f"[{i + 1}/{len(rows)}] {row.label}", end="", file=sys.stderr, flush=True)
            records.append(measure(row, args.repeat))
            print(f" {time.perf_counter() - before:.1f} s", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("\ninterrupted: the table has the rows measured so far", file=sys.stderr)
    facts: dict[str, Any] = conditions(args, time.perf_counter() - begin)
    table = text(records, facts)
    print(table)
    save(args.out, records, facts, table)
    draw(records, args.out.with_name(args.out.name + ".png"), facts)
    print(f"\nThis table, all numbers and a picture are in {args.out}.txt, .json and .png.")
