"""Python overhead of a step relative to its BLAS calls, from interleaved timings with one thread.

`python -m benchmarks.overhead --base COMMIT` compares small solves with those of another commit instead.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable

import numpy as np
from scipy.linalg import blas
from threadpoolctl import threadpool_limits

import splitmerge as sm
from splitmerge.iterates import states
from splitmerge.preparation.solver import attached
from splitmerge.problem.products import Products

from . import since

# Steps per timed run, and interleaved runs of which the fastest counts.
STEPS_PER_RUN, TIMING_ROUNDS = 200, 25


def fastest(sides: dict[str, Callable[[], None]]) -> dict[str, float]:
    """Seconds per step of each variant: the minimum of `TIMING_ROUNDS` interleaved runs of `STEPS_PER_RUN` steps."""
    best = dict.fromkeys(sides, np.inf)
    for _, (name, side) in itertools.product(range(TIMING_ROUNDS), sides.items()):
        begin = time.perf_counter()
        side()
        best[name] = min(best[name], (time.perf_counter() - begin) / STEPS_PER_RUN)
    return best


def blas_alone(A: np.ndarray, U: np.ndarray, x: np.ndarray, vectors: bool) -> None:
    """The BLAS calls of a Split-Merge step: 2 products and 2 solves; with `vectors` also 5 dots and 5 axpys."""
    y = x.copy()
    for _ in range(STEPS_PER_RUN):
        for _ in range(2):
            blas.dsymv(1.0, A, x)
            blas.dtrsv(U, blas.dtrsv(U, x, trans=1), overwrite_x=1)
        if vectors:
            for _ in range(5):
                blas.ddot(x, y)
                blas.daxpy(x, y, a=1e-9)


def steps_alone(products: Products, x: np.ndarray) -> None:
    """The iterations alone, without driver."""
    rng = np.random.default_rng(0)
    for _ in itertools.islice(states(sm.SplitMerge(), products, x, rng), STEPS_PER_RUN + 1):
        pass


def whole_loop(A: np.ndarray, B: np.ndarray, x: np.ndarray) -> float:
    """The loop of `solve`: steps, history with residuals, stopping rule."""
    try:
        sm.solve(A, B, x0=x, method=sm.SplitMerge(), stop=sm.Residual(1e-300) | sm.MaxSteps(STEPS_PER_RUN))
    except sm.NotConverged as failure:
        return failure.solution.seconds.iteration / STEPS_PER_RUN
    raise AssertionError("a residual of 1e-300 was reached")


def main() -> None:
    print("Overhead of a Split-Merge step with Cholesky, one thread (ratio to its BLAS calls alone)")
    with threadpool_limits(1):
        for n in (256, 512, 1024):
            A, B = sm.gallery.synthetic_pair(n, 3, rng=0)
            x = np.random.default_rng(0).standard_normal(n)
            products = sm.Pencil(A, B).products
            factor = attached(products, None)[1]  # factorise outside the timed region
            products = products.solving(factor)
            # use the same arrays for all variants, because memory alignment changes the speed of BLAS
            A, U = products.A.matrix, factor.U
            best = fastest(
                {
                    "products and solves": lambda A=A, U=U, x=x: blas_alone(A, U, x, False),
                    "all BLAS calls": lambda A=A, U=U, x=x: blas_alone(A, U, x, True),
                    "step": lambda products=products, x=x: steps_alone(products, x),
                }
            )
            loop = min(whole_loop(A, B, x) for _ in range(TIMING_ROUNDS))
            core, every = best["products and solves"], best["all BLAS calls"]
            print(
                f"  n = {n:5}: products and solves {1e6 * core:7.1f} µs, all BLAS calls {1e6 * every:7.1f} µs; "
                f"step {best['step'] / every:.2f} × (of products and solves: {best['step'] / core:.2f} ×), "
                f"whole loop {loop / every:.2f} × ({loop / core:.2f} ×)"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__)
    parser.add_argument("--base", metavar="COMMIT", help="compare with this commit")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name contains TEXT")
    args = parser.parse_args()
    sys.exit(main() if args.base is None else since.main(args.base, args.only))
