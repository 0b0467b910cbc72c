"""A solution in a few lines of text, and the words that other displays share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import shorten, wrap
from typing import TYPE_CHECKING

import numpy as np

from ...problem.products import Tally

if TYPE_CHECKING:
    from ..solution import Solution

# Columns of the text, and lines that a reason or a verdict may take: eight lines of at most 800 characters altogether.
WIDTH, MAX_SENTENCE_LINES = 96, 2
# Eigenvalues shown at the beginning and at the end.
FIRST_VALUES, LAST_VALUES = 4, 1
WANTED = {"magnitude": "largest by magnitude", "ends": "largest and smallest"}
COSTS = {
    "A_products": "{} with A",
    "B_products": "{} with B",
    "B_solves": "{} solves with B",
    "K_solves": "{} solves with A − σB",
}


def asked(solution: Solution) -> str:
    """What was asked for: "4 smallest, n = 900"."""
    count, problem, size = solution.eigenvalues.size, solution.problem, f"n = {solution.n:,}"
    if problem is None:
        return f"{count} pair{'s' * (count != 1)}, {size}"
    if problem.interval is not None:
        low, high = problem.interval
        return f"all from {low:g} to {high:g}, {count} found, {size}"
    wanted = WANTED.get(problem.which, problem.which) if problem.sigma is None else f"nearest to {problem.sigma:g}"
    found = "" if count == problem.k else f", {count} found"
    return f"{problem.k} {wanted}{found}, {size}"


def in_few_lines(solution: Solution) -> str:
    """What was asked, the values, their residuals, the verdict, the reason for the end, and the cost."""
    worst = f"residuals {_largest(solution.residuals)}, error bounds {_largest(solution.error_bounds)}"
    seconds, steps = solution.seconds, f"{solution.steps:,} step{'s' * (solution.steps != 1)}"
    lines = [
        f"{type(solution).__name__}: {asked(solution)}, {solution.eigenvalues.dtype}",
        f"  eigenvalues {_values(solution)}",
        f"  {worst}",
        *_sentence(f"{'' if solution.converged else 'not '}converged: {solution.reason.advice}"),
        *_sentence(f"{solution.verdict}: {solution.verdict.why}"),
        f"  {', '.join([steps, *_costs(solution.counts)])}, {seconds.setup:.2g} + {seconds.iteration:.2g} s",
    ]
    return "\n".join(line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in lines)


def _sentence(text: str) -> list[str]:
    """The text in at most two lines."""
    short = shorten(text, MAX_SENTENCE_LINES * (WIDTH - 4) - 16, placeholder=" …")
    return wrap(short, WIDTH, initial_indent="  ", subsequent_indent="    ")[:MAX_SENTENCE_LINES]


def _values(solution: Solution) -> str:
    values = [f"{value:.8g}" for value in solution.eigenvalues.tolist()]
    if len(values) > FIRST_VALUES + LAST_VALUES:
        values[FIRST_VALUES:-LAST_VALUES] = ["…"]
    return "  ".join(values) or "none"


def _costs(counts: Tally) -> Iterator[str]:
    """What the iteration has made: "42 products with A, 32 with B"."""
    word = " products"
    for name, form in COSTS.items():
        number = getattr(counts, name)
        if number:
            yield form.format(f"{number:,}{word if name.endswith('products') else ''}")
            word = "" if name.endswith("products") else word


def _largest(numbers: np.ndarray) -> str:
    largest = float(np.max(numbers, initial=0.0))
    return f"≤ {short(largest)}" if math.isfinite(largest) else short(largest)


def cost(counts: Tally) -> str:
    """What `counts.products` are."""
    if not counts.K_solves:
        return "products with A"
    return "solves with A − σB" if not counts.A_products else "products with A and solves with A − σB"


def digits_of(solution: Solution) -> int:
    """The number of digits guaranteed by the error bounds plus one, between 6 and that of the precision."""
    most = 8 if solution.eigenvalues.dtype == np.float32 else 16
    with np.errstate(all="ignore"):
        known = np.log10(np.abs(solution.eigenvalues) / solution.error_bounds)
    known = known[np.isfinite(known)]
    return int(np.clip(math.ceil(float(known.max(initial=0.0))) + 1, 6, most))


def short(number: float) -> str:
    """A number with two significant digits; "unknown" if it is not finite."""
    return f"{number:.1e}" if math.isfinite(number) else "unknown"
