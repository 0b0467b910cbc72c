"""What Python adds to the BLAS calls of a step: both timed alternately in one run, one thread.

`python -m benchmarks.overhead --base COMMIT` compares small solves with those of a commit instead.
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

from . import since

STEPS, ROUNDS = 200, 25


def fastest(sides: dict[str, Callable[[], None]]) -> dict[str, float]:
    """Seconds a step of each side: the minimum of `ROUNDS` interleaved runs of `STEPS` steps."""
    best = dict.fromkeys(sides, np.inf)
    for _, (name, side) in itertools.product(range(ROUNDS), sides.items()):
        begin = time.perf_counter()
        side()
        best[name] = min(best[name], (time.perf_counter() - begin) / STEPS)
    return best


def blas_alone(A: np.ndarray, U: np.ndarray, x: np.ndarray, vectors: bool) -> None:
    """The calls of a Split-Merge step: 2 products, 2 solves; with `vectors` also 4 + 1 dots and 5 axpys."""
    y = x.copy()
    for _ in range(STEPS):
        for _ in range(2):
            blas.dsymv(1.0, A, x)
            blas.dtrsv(U, blas.dtrsv(U, x, trans=1), overwrite_x=1)
        if vectors:
            for _ in range(5):
                blas.ddot(x, y)
                blas.daxpy(x, y, a=1e-9)


def steps_alone(pencil: sm.Pencil, x: np.ndarray) -> None:
    """The generator, without a driver."""
    for _ in itertools.islice(sm.iterates(pencil, method=sm.SplitMerge(), x0=x), STEPS + 1):
        pass


def whole_loop(A: np.ndarray, B: np.ndarray, x: np.ndarray) -> float:
    """The iteration of `solve`: steps, history with residuals, stopping rule."""
    try:
        sm.solve(A, B, x0=x, method=sm.SplitMerge(), stop=sm.Residual(1e-300) | sm.MaxSteps(STEPS))
    except sm.NotConverged as failure:
        return failure.solution.seconds.iteration / STEPS
    raise AssertionError("a residual of 1e-300 was reached")


def main() -> None:
    print("Overhead of a Split-Merge step with Cholesky, one thread (ratio to its BLAS calls alone)")
    with threadpool_limits(1):
        for n in (256, 512, 1024):
            A, B = sm.gallery.synthetic_pair(n, 3, rng=0)
            x = np.random.default_rng(0).standard_normal(n)
            pencil = sm.Pencil(A, B)
            next(sm.iterates(pencil, method=sm.SplitMerge(), x0=x))  # factorise outside the time
            # the same arrays on both sides: where an array lies in memory changes the speed of BLAS
            A, U = pencil.A.matrix, pencil.solver.U
            best = fastest(
                {
                    "products and solves": lambda A=A, U=U, x=x: blas_alone(A, U, x, False),
                    "all BLAS calls": lambda A=A, U=U, x=x: blas_alone(A, U, x, True),
                    "step": lambda pencil=pencil, x=x: steps_alone(pencil, x),
                }
            )
            loop = min(whole_loop(A, B, x) for _ in range(ROUNDS))
            core, every = best["products and solves"], best["all BLAS calls"]
            print(
                f"  n = {n:5}: products and solves {1e6 * core:7.1f} µs, all BLAS calls {1e6 * every:7.1f} µs; "
                f"step {best['step'] / every:.2f} × (of products and solves: {best['step'] / core:.2f} ×), "
                f"whole loop {loop / every:.2f} × ({loop / core:.2f} ×)"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__)
    parser.add_argument("--base", metavar="COMMIT", help="compare with the source of this commit")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with this in their names")
    args = parser.parse_args()
    sys.exit(main() if args.base is None else since.main(args.base, args.only))
