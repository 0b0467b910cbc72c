"""`python -m tools.fuzz.known --seconds 60 --seed 0`: sparse pairs whose eigenvalues are known by construction.

A = S D Sᵀ and B = S Sᵀ with a sparse S have the eigenvalues D. No reference is computed, so that pairs are large enough
for a search that no count of eigenvalues follows, and solves are those of everyday: default options.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import splitmerge as sm

Array = np.ndarray
LEAST_N, MOST_N, MOST_PAIRS = 1501, 2800, 10
CASES_OF_A_SEED = 10_000_000
# Beside error bounds: units of rounding of the largest eigenvalue, and the fraction up to which a cluster may be cut.
ROUNDING_UNITS, CLUSTER_FRACTION = 500, 1e-6
MAX_SECONDS = 20.0


def band_and_others(rng: np.random.Generator, n: int) -> Array:
    """A few values near zero, a dense band on one side, whose edge is last, and isolated values on the other side.

    The first of these is a little farther from zero than the edge.
    """
    edge, count = 10 ** rng.uniform(-1, 1), int(rng.integers(0, MOST_PAIRS))
    inside = edge * rng.uniform(0.05, 0.95, count) * rng.choice([-1, 1], count)
    apart = edge * (1 + 10 ** rng.uniform(-4, -0.7)) * (1 + np.r_[0.0, np.cumsum(rng.uniform(0.05, 1, 8))])
    band = rng.uniform(0, 1, n - inside.size - apart.size) ** rng.uniform(0.3, 3) * 10 ** rng.uniform(-1, 1)
    return np.r_[inside, apart, -edge - np.sort(band)[::-1]] * rng.choice([-1, 1])


def outliers(rng: np.random.Generator, n: int) -> Array:
    """A bulk, and isolated values on both sides of it."""
    return np.r_[rng.choice([-1, 1], 20) * (1 + 10 ** rng.uniform(-4, 1, 20)), rng.uniform(-1, 1, n - 20)]


def copies(rng: np.random.Generator, n: int) -> Array:
    """Every value several times, as on a symmetric body."""
    return np.resize(rng.uniform(0, 1, n // int(rng.integers(2, 5))) ** 2 * 10, n)


def grid(rng: np.random.Generator, n: int) -> Array:
    """Those of a square grid, most of them twice."""
    side = int(np.sqrt(n)) + 1
    line = 2 - 2 * np.cos(np.pi * np.arange(1, side + 1) / (side + 1))
    return (line[:, None] + line).ravel()[:n]


def clusters(rng: np.random.Generator, n: int) -> Array:
    """A few clusters of any width."""
    return rng.uniform(-3, 3, 6)[rng.integers(0, 6, n)] + 10 ** rng.uniform(-8, -1) * rng.standard_normal(n)


def split_copies(rng: np.random.Generator, n: int) -> Array:
    """Small values with up to six copies, which a small perturbation has split, and the others farther away."""
    base = np.cumsum(10 ** rng.uniform(-3, 0, int(rng.integers(3, 40))))
    near = np.repeat(base, rng.choice([1, 1, 1, 2, 2, 3, 4, 6], base.size))
    near = near * (1 + float(rng.choice([0, 1e-13, 1e-9, 1e-5, 1e-3])) * rng.uniform(-1, 1, near.size))
    signs = rng.choice([-1, 1] if rng.random() < 0.4 else [1], near.size)
    return np.r_[near * signs, rng.uniform(1, 30, n - near.size) * base[-1]]


SPECTRA: tuple[Callable[[np.random.Generator, int], Array], ...] = (
    band_and_others,
    outliers,
    copies,
    grid,
    clusters,
    lambda rng, n: rng.uniform(-1, 1, n),
    lambda rng, n: 10 ** rng.uniform(-6, 0, n) * rng.choice([-1, 1] if rng.random() < 0.5 else [1], n),
    lambda rng, n: (np.arange(1, n + 1) // int(rng.integers(1, 4))) ** 2.0,
    lambda rng, n: np.r_[np.zeros(8), rng.uniform(0.1, 4, n - 8)],
    split_copies,
)


class Case(NamedTuple):
    """A pair with these eigenvalues, and what is asked for."""

    values: Array
    A: Any
    B: Any
    k: int
    question: dict[str, Any]


def build(number: int) -> Case:
    """The case with this number."""
    rng = np.random.default_rng(number)
    n, k = int(rng.integers(LEAST_N, MOST_N)), int(rng.integers(1, MOST_PAIRS + 1))
    spectrum = SPECTRA[int(rng.integers(len(SPECTRA)))]
    values = spectrum(rng, n)
    question = {"sigma": 0.0} if spectrum is split_copies else _question(rng, values)
    if spectrum is band_and_others:
        # the edge of the band is the last one that is wanted next to zero
        question, k = {"sigma": 0.0}, int(np.flatnonzero(np.abs(values) >= np.abs(values[-1]))[0]) + 1
    values = rng.permutation(values)
    below = rng.uniform(-0.5, 0.5, n - 1) * (rng.random(n - 1) < rng.choice([0, 0.6]))
    root = sp.csr_array(sp.diags_array([np.ones(n), below], offsets=[0, -1]))
    root = sp.csr_array(sp.diags_array(10 ** rng.uniform(-1, 1, n) ** rng.integers(0, 2)) @ root[rng.permutation(n)])
    A, B = sp.csr_array(root @ sp.diags_array(values) @ root.T), sp.csr_array(root @ root.T)
    return Case(values, (A + A.T) / 2, (B + B.T) / 2, k, question)


def _question(rng: np.random.Generator, values: Array) -> dict[str, Any]:
    """An end of the spectrum, or a shift: zero, in a gap, next to an eigenvalue, anywhere or beyond all."""
    if rng.random() < 0.5:
        return {"which": str(rng.choice(["largest", "smallest", "magnitude", "ends"]))}
    ascending, i = np.sort(values), int(rng.integers(values.size - 1))
    gap = (ascending[i] + ascending[i + 1]) / 2
    places = [0.0, gap, ascending[i] + 1e-4 * abs(ascending[i]), rng.uniform(ascending[0], ascending[-1])]
    return {"sigma": float(rng.choice([*places, ascending[-1] + 0.01 * abs(ascending[-1])]))}


def best(values: Array, k: int, question: dict[str, Any]) -> Array:
    """What the k wanted of these values are compared by, in order."""
    if "sigma" in question:
        return np.sort(np.abs(values - question["sigma"]))[:k]
    ascending, which = np.sort(values), question["which"]
    if which == "ends":
        return np.r_[ascending[: k // 2], ascending[values.size - (k - k // 2) :]]
    if which == "magnitude":
        return np.sort(np.abs(values))[::-1][:k]
    return ascending[:k] if which == "smallest" else ascending[::-1][:k]


def findings(case: Case, solution: sm.Solution) -> Iterator[str]:
    """What is wrong with a solution."""
    found, bounds = solution.eigenvalues, solution.error_bounds
    size = float(np.abs(case.values).max())
    rounding = ROUNDING_UNITS * float(np.finfo(float).eps) * size
    error = np.abs(case.values[:, None] - found).min(axis=0)
    if (error > bounds + rounding).any():
        yield f"an error of {error.max():.1e} and a bound of {bounds[error.argmax()]:.1e}"
    allowed = float(np.where(np.isfinite(bounds), bounds, 0.0).max()) + rounding
    if "cluster" in solution.verdict.why:
        allowed += CLUSTER_FRACTION * float(np.abs(found).max())
    wrong = np.abs(best(case.values, case.k, case.question) - best(found, case.k, case.question)).max()
    if wrong > allowed and solution.verdict != "unchecked":
        yield f"wrong by {wrong:.1e}, and {allowed:.1e} is allowed for; {solution.verdict} ({solution.verdict.why})"


def run(number: int) -> tuple[str, list[str]]:
    """What came of a case, and what is wrong with that."""
    case, begin = build(number), time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            solution = sm.solve(case.A, case.B, case.k, rng=number, **case.question)
    except sm.NotConverged:
        return "not converged", []
    except (ValueError, MemoryError) as error:
        return "refused", [f"refused: {error}"]
    except Exception as error:
        return "crash", [f"{type(error).__name__}: {error}"]
    seconds = time.perf_counter() - begin
    late = [f"{seconds:.0f} s"] if seconds > MAX_SECONDS else []
    return str(solution.verdict), [*late, *findings(case, solution)]


def main() -> int:
    """Run cases until the time is up; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz.known", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="run for so long (default 60)")
    parser.add_argument("--seed", type=int, default=0, help="which cases (default 0)")
    parser.add_argument("--case", type=int, help="run only this case")
    options = parser.parse_args()
    numbers = itertools.count(options.seed * CASES_OF_A_SEED) if options.case is None else [options.case]
    outcomes: Counter[str] = Counter()
    wrong, end = 0, time.monotonic() + options.seconds
    for number in numbers:
        outcome, found = run(number)
        outcomes[outcome] += 1
        wrong += bool(found)
        if found:
            case = build(number)
            print(f"--case {number} n={case.values.size} k={case.k} {case.question}: {'; '.join(found)}", flush=True)
        if time.monotonic() > end:
            break
    print(f"{outcomes.total()} pairs with known eigenvalues: {wrong} wrong; {dict(outcomes)}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
