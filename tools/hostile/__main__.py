"""`python -m tools.hostile --count 2000 --seed 0`: do all hostile files end in an answer or in one sentence?"""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .cases import KINDS, RARE, SEED_STRIDE, SPECIAL, Case, kind_of, write
from .command import commanded
from .outcome import Outcome, base_memory, folder_of, judged


def arguments() -> argparse.Namespace:
    """The options of the program."""
    parser = argparse.ArgumentParser(prog="python -m tools.hostile", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, metavar="N", help="number of files (default: 2000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the files (default: 0)")
    parser.add_argument("--case", type=int, metavar="N", help="only the file of this number, which is kept")
    parser.add_argument("--kind", choices=(*KINDS, *RARE, SPECIAL), help="only files of this kind")
    parser.add_argument(
        "--commands", type=int, default=0, metavar="N", help="give the first N files to the command line, too"
    )
    parser.add_argument("--verbose", action="store_true", help="print the outcome of every file")
    return parser.parse_args()


def shown(case: Case, outcome: Outcome) -> str:
    """One line for one file, with all of a traceback below it."""
    figures = f"{outcome.seconds:.2f} s, {outcome.peak / 1e6:.0f} of {outcome.allowed / 1e6:.0f} MB"
    file = f"{case.kind}, {case.path.name}, {case.size} bytes"
    return f"case {case.number} ({file}, {figures}): {outcome.word}: {outcome.text}"


def numbers(args: argparse.Namespace) -> Iterator[int]:
    """The numbers of the cases: as many as asked for, of one kind or of all."""
    every = itertools.count(args.seed * SEED_STRIDE)
    wanted = (number for number in every if args.kind is None or kind_of(number) == args.kind)
    return itertools.islice(wanted, args.count)


def one(number: int) -> int:
    """Write and keep one file, and print what becomes of it."""
    folder = folder_of(Path(tempfile.mkdtemp(prefix="hostile-")), number)
    case = write(number, folder)
    outcome = judged(case, base_memory())
    print(f"{case.path}\n{shown(case, outcome)}")
    return 0 if outcome.good else 1


def many(args: argparse.Namespace) -> int:
    """Judge all files, print the bad ones and a summary."""
    start, base = time.perf_counter(), base_memory()
    words: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="hostile-") as root:
        for index, number in enumerate(numbers(args)):
            folder = folder_of(Path(root), number)
            case = write(number, folder)
            outcomes = [judged(case, base)]
            if index < args.commands:
                outcomes.append(commanded(case))
            for outcome in outcomes:
                words[outcome.word] += 1
                worst = max(worst, outcome.peak / outcome.allowed)
                if args.verbose or not outcome.good:
                    print(shown(case, outcome), flush=True)
            kinds[f"{case.kind}: {outcomes[0].word}"] += 1
            shutil.rmtree(folder)
    bad = sum(count for word, count in words.items() if word not in ("answer", "sentence"))
    print("; ".join(f"{name} {count}" for name, count in sorted(kinds.items())))
    told = ", ".join(f"{count} {word}" for word, count in words.most_common())
    print(
        f"{args.count} files of seed {args.seed} in {time.perf_counter() - start:.0f} s: {told}; "
        f"peak memory at most {worst:.2f} of what is allowed; {bad} bad outcomes"
    )
    return 1 if bad else 0


def main() -> int:
    """Run what the arguments ask for."""
    args = arguments()
    return many(args) if args.case is None else one(args.case)


if __name__ == "__main__":
    sys.exit(main())
