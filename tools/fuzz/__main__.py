"""`python -m tools.fuzz --seconds 1200 --seed 0`: search for wrong answers, crashes and hangs of the library."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator

import numpy as np

from .case import build, family_of
from .families import FAMILIES
from .pool import campaign
from .report import Tally, line
from .run import run

CASES_OF_A_SEED = 10_000_000


def numbers(seed: int, only: str | None, cases: int | None) -> Iterator[int]:
    """The cases of a seed, in order."""
    every = itertools.count(seed * CASES_OF_A_SEED)
    chosen = (number for number in every if only is None or family_of(number)[1] == only)
    return itertools.islice(chosen, cases)


def show(number: int) -> int:
    """Run one case here and print everything about it."""
    case = build(number)
    problem, reference = case.problem, case.reference
    print(case.describe(), f"note: {problem.note}, refusable: {case.request.refusable}", sep="\n")
    with np.printoptions(precision=6, linewidth=160, threshold=200):
        print("A =", problem.A, "B =", problem.B, sep="\n")
        if reference is not None:
            print(f"κ(B) = {reference.kappa:.1e}", "eigenvalues:", reference.values, sep="\n")
            print("rounding that is allowed for:", reference.allowance.astype(float), sep="\n")
        outcome = run(number)
        if outcome.answer is not None:
            print("answer:", outcome.answer, sep="\n")
        for name in ("eigenvalues", "residuals", "error_bounds", "verdict", "reason"):
            if hasattr(outcome.answer, name):
                print(f"{name}: {getattr(outcome.answer, name)}")
    print(f"{outcome.status} in {outcome.seconds:.3f} s", line(outcome) or "no findings", sep="\n")
    return int(any(outcome.findings))


def main() -> int:
    """Run a campaign, or one case."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, help="run for so long")
    parser.add_argument("--cases", type=int, help="run so many cases")
    parser.add_argument("--seed", type=int, default=0, help="which cases (default 0)")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes (default 1)")
    parser.add_argument("--only", choices=list(FAMILIES), help="one family of problems")
    parser.add_argument("--case", type=int, help="run one case here, and print everything about it")
    options = parser.parse_args()
    if options.case is not None:
        return show(options.case)
    if options.seconds is None and options.cases is None:
        options.seconds = 60.0
    tally = Tally()
    for outcome in campaign(numbers(options.seed, options.only, options.cases), options.jobs, options.seconds):
        tally.add(outcome)
        if text := line(outcome):
            print(text, flush=True)
    print(tally.summary())
    return int(tally.failed)


if __name__ == "__main__":
    sys.exit(main())
