"""Linear discriminant analysis against scikit-learn: 5000 rows and 2000 columns, and 70,000 rows of 784 columns."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Theirs
from threadpoolctl import threadpool_limits

from splitmerge.learn import LinearDiscriminantAnalysis as Ours

SHAPES = ((5000, 2000), (70_000, 784))
CLASSES, TIMING_ROUNDS = 10, 3
CASES: tuple[dict[str, Any], ...] = (
    {"solver": "svd"},
    {"solver": "lsqr"},
    {"solver": "eigen"},
    {"solver": "eigen", "shrinkage": 0.1},
    {"solver": "lsqr", "shrinkage": "auto"},
    {"solver": "eigen", "shrinkage": "auto"},
)


def sample(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, rows)
    X = rng.standard_normal((rows, columns))
    X *= np.linspace(0.5, 2, columns)
    X += 0.1 * rng.standard_normal((CLASSES, columns))[y]
    return X, y


def race(X: np.ndarray, y: np.ndarray, sides: dict[str, Any]) -> dict[str, float]:
    """Seconds per fit: the minimum over interleaved rounds, after a warm-up on fewer columns."""
    best = dict.fromkeys(sides, np.inf)
    for side in sides.values():
        side.fit(X[:, :50], y)
    for _ in range(TIMING_ROUNDS):
        for name, side in sides.items():
            begin = time.perf_counter()
            side.fit(X, y)
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def report(X: np.ndarray, y: np.ndarray, options: dict[str, Any]) -> str:
    """Time both and compare their results."""
    theirs, ours = Theirs(**options), Ours(**options)
    seconds = race(X, y, {"theirs": theirs, "ours": ours})
    told = [f"{seconds['ours']:.2f} s"]
    if options["solver"] != "lsqr":
        sine = np.sin(subspace_angles(theirs.scalings_[:, : CLASSES - 1], ours.scalings_)).max()
        told.append(f"sine of the subspaces {sine:.0e}")
    apart = np.abs(theirs.predict_proba(X) - ours.predict_proba(X)).max()
    told.append(f"probabilities differ by {apart:.0e}")
    name = ", shrinkage ".join(str(value) for value in options.values())
    return f"  {name:22s} {seconds['theirs'] / seconds['ours']:6.1f}×  ({'; '.join(told)})"


def main() -> None:
    for rows, columns in SHAPES:
        X, y = sample(rows, columns)
        for threads in (1, None):
            shape = f"{rows}×{columns}, {CLASSES} classes, {threads or 'all'} threads"
            print(f"LDA, {shape}: times as fast as scikit-learn's")
            with threadpool_limits(threads):
                for options in CASES:
                    print(report(X, y, options), flush=True)


if __name__ == "__main__":
    main()
