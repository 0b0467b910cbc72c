"""SIR, SAVE and PHD against statsmodels, and SIR of sparse data that are too wide to form a covariance.

`python -m benchmarks.sliced`. Ratios are of interleaved timings in the same run; the sparse benchmark runs in a
separate process to measure its peak memory.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from statsmodels.regression import dimred
from threadpoolctl import threadpool_limits

from splitmerge.learn import PrincipalHessianDirections, SlicedAverageVariance, SlicedInverseRegression

# The size of MNIST, and one at which statsmodels' PHD, which forms n products of p² numbers, ends.
ROWS, COLUMNS, SLICES, TIMING_ROUNDS = 70_000, 784, 10, 3
PHD_ROWS, PHD_COLUMNS = 5000, 100
SPARSE_ROWS, SPARSE_COLUMNS, DENSITY = 50_000, 20_000, 1e-3


def sample(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Smooth images of positive numbers, and a response with a trend and a curvature."""
    rng = np.random.default_rng(0)
    spread = np.exp(-0.5 * (np.subtract.outer(np.arange(columns), np.arange(40) * columns / 40) / 12) ** 2)
    X = np.abs(rng.standard_normal((rows, 40)) @ spread.T) + 0.3 * rng.standard_normal((rows, columns))
    u, v = (np.sin(np.arange(columns) / scale) / columns**0.5 for scale in (30, 70))
    return X, np.tanh(X @ u) + (X @ v) ** 2 + 0.1 * rng.standard_normal(rows)


def theirs(name: str, X: np.ndarray, y: np.ndarray) -> Any:
    """Their results; `fit` sorts and centres a copy of X."""
    options = {} if name == "PHD" else {"slice_n": len(y) // SLICES}
    return getattr(dimred, name)(y, X).fit(**options)


def race(name: str, ours: Any, X: np.ndarray, y: np.ndarray) -> None:
    best, found = dict.fromkeys(("ours", "theirs"), np.inf), {}
    for _ in range(TIMING_ROUNDS):
        for side, call in (("ours", lambda: ours.fit(X, y)), ("theirs", lambda: theirs(name, X, y))):
            begin = time.perf_counter()
            found[side] = call()
            best[side] = min(best[side], time.perf_counter() - begin)
    sine = np.sin(subspace_angles(ours.directions_.T, np.real(found["theirs"].params[:, :2]))).max()
    print(
        f"  {name:5s} {X.shape[0]}×{X.shape[1]}: {best['theirs'] / best['ours']:6.1f} times as fast "
        f"({best['ours']:.2f} s; sine of the subspaces {sine:.0e})"
    )


def against_statsmodels() -> None:
    large, small = sample(ROWS, COLUMNS), sample(PHD_ROWS, PHD_COLUMNS)
    for threads in (1, None):
        print(f"SIR, SAVE and PHD, 2 directions, {SLICES} slices, {threads or 'all'} threads: ratio to statsmodels'")
        with threadpool_limits(threads):
            race("SIR", SlicedInverseRegression(2, n_slices=SLICES), *large)
            race("SAVE", SlicedAverageVariance(2, n_slices=SLICES), *large)
            race("PHD", PrincipalHessianDirections(2), *small)


def sparse() -> None:
    """The sparse benchmark, run in this process."""
    rng = np.random.default_rng(0)
    X = sp.random_array((SPARSE_ROWS, SPARSE_COLUMNS), density=DENSITY, rng=rng, format="csr")
    y = np.tanh(np.asarray(X[:, :50].sum(axis=1)).ravel()) + 0.1 * rng.standard_normal(SPARSE_ROWS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    model = SlicedInverseRegression(2, n_slices=SLICES).fit(X, y)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"  {SPARSE_ROWS}×{SPARSE_COLUMNS}, {DENSITY:.1%} full: {seconds:.3g} s,")
    print(f"  peak memory {peak / 2**20:.2f} GiB ({before / 2**20:.2f} before the fit)")
    print("  " + model.route_)


def main() -> None:
    against_statsmodels()
    print("SIR of sparse data, matrix-free")
    sys.stdout.flush()
    subprocess.run([sys.executable, "-m", "benchmarks.sliced", "sparse"], check=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sparse()
    else:
        main()
