"""`python -m tools.goldens --base COMMIT`: compare the results of the working tree with those of a commit."""

from __future__ import annotations

import argparse
import pickle
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from ..base import ROOT, source_of, started
from .cases import CASES, REFUSED
from .compare import Class, compare, reworded


def results(target: Path) -> dict[str, tuple[dict[str, Any], float]]:
    """The records of a process and their seconds, up to a possible crash."""
    found = {}
    if target.exists():
        with target.open("rb") as file:
            while True:
                try:
                    name, record, seconds = pickle.load(file)
                except (EOFError, pickle.UnpicklingError):
                    break
                found[name] = record, seconds
    return found


def run(base: str, names: list[str]) -> list[dict[str, tuple[dict[str, Any], float]]]:
    """The records of the base and of the working tree, from two concurrent processes."""
    with source_of(base) as source, tempfile.TemporaryDirectory() as folder:
        sides = [(source, Path(folder) / "base.pickle"), (ROOT / "src", Path(folder) / "now.pickle")]
        asked = Path(folder) / "names"
        asked.write_text("\n".join(names))
        children = [started(source, "tools.goldens.child", str(target), str(asked)) for source, target in sides]
        try:
            codes = [child.wait() for child in children]
        finally:
            for child in children:
                child.kill()
        for code, what in zip(codes, ("base", "working tree"), strict=True):
            if code:
                print(f"the process of the {what} ended with exit code {code}", file=sys.stderr)
        return [results(target) for _, target in sides]


def report(names: list[str], base: dict[str, Any], now: dict[str, Any], *, verbose: bool) -> Counter[Class]:
    """Print the cases that are not bit-equal (all if `verbose`), and count the cases of each class."""
    total: Counter[Class] = Counter()
    for name in names:
        a, b = (side.get(name, (None, 0.0)) for side in (base, now))
        verdict, notes = compare(a[0], b[0], refused=name in REFUSED)
        total[verdict] += 1
        if verdict is not Class.EQUAL or verbose:
            seconds = f"  ({a[1]:.2f} s, {b[1]:.2f} s)" if verbose else ""
            print(f"{verdict.value}: {name}{seconds}")
            for note in notes if verbose else notes[:6]:
                print(f"    {note}")
            if len(notes) > 6 and not verbose:
                print(f"    and {len(notes) - 6} more; --verbose shows them")
        if verbose and a[0] and b[0]:
            for path in reworded(a[0], b[0]):
                print(f"    {path} is worded differently (ignored)")
    return total


def main() -> int:
    """Run the cases with both versions and compare them; returns 1 if a result differs."""
    parser = argparse.ArgumentParser(prog="python -m tools.goldens", description=__doc__)
    parser.add_argument("--base", default="HEAD", metavar="COMMIT", help="commit to compare with (default: HEAD)")
    parser.add_argument("--only", default="", metavar="PATTERN", help="only cases that match this regular expression")
    parser.add_argument(
        "--verbose", action="store_true", help="print all cases with their seconds, and all differences"
    )
    parser.add_argument("--list", action="store_true", help="list the cases and exit")
    args = parser.parse_args()
    names = [name for name in CASES if re.search(args.only, name)]
    if args.list:
        print("\n".join(names))
        return 0
    begin = time.perf_counter()
    total = report(names, *run(args.base, names), verbose=args.verbose)
    said = ", ".join(f"{total[each]} {each.value}" for each in Class)
    print(f"{len(names)} cases against {args.base}: {said}; {time.perf_counter() - begin:.0f} s")
    return 1 if total[Class.DIFFERENT] or not names else 0


sys.exit(main())
