"""CCA against scikit-learn and cca-zoo, and for sparse text-like views that are too wide to form covariances.

`python -m benchmarks.cca`, or `python -m benchmarks.cca pictures` for the halves of pictures only. Ratios are of
interleaved timings in the same run; the text benchmark runs in a separate process to measure its peak memory.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.ndimage import gaussian_filter
from sklearn.cross_decomposition import CCA as TheirCCA
from threadpoolctl import threadpool_limits

import splitmerge as sm
from splitmerge.learn import CCA

try:
    from cca_zoo.linear import CCA as ZooCCA
except ImportError:
    ZooCCA = None

ROWS, COLUMNS, COMPONENTS, TIMING_ROUNDS = 5000, 500, 5, 3
# A fit that takes longer is timed once.
MAX_REPEATED_SECONDS = 60.0
PICTURES, SIDE, MARGIN, STROKE_PIXELS = 70_000, 28, 1, 2.0
TEXT_ROWS, WORDS, TOPICS, WORDS_PER_DOCUMENT = 50_000, 20_000, 12, 24


def oracle(X: np.ndarray, Y: np.ndarray, k: int) -> np.ndarray:
    """Canonical correlations by QR and SVD."""
    Q, P = (np.linalg.qr(M - M.mean(axis=0))[0] for M in (X, Y))
    return np.linalg.svd(Q.T @ P, compute_uv=False)[:k]


def correlations(estimator: Any, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Correlations of the scores, computed by the same code for all estimators."""
    x, y = estimator.transform([X, Y]) if estimator.__module__.startswith("cca_zoo") else estimator.transform(X, Y)
    return np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(x.T, y.T, strict=True)])


def fitted(estimator: Any, X: np.ndarray, Y: np.ndarray) -> float:
    """Seconds of a fit; cca-zoo takes a list of views."""
    views = ([X, Y],) if estimator.__module__.startswith("cca_zoo") else (X, Y)
    begin = time.perf_counter()
    estimator.fit(*views)
    return time.perf_counter() - begin


def strokes(count: int, rng: np.random.Generator, side: int) -> np.ndarray:
    """Smooth random pictures with mean 0 and variance 1."""
    found = np.empty((count, side, side), np.float32)
    for rows in np.array_split(np.arange(count), max(1, count // 5000)):
        smooth = gaussian_filter(rng.standard_normal((len(rows), side, side)), (0, STROKE_PIXELS, STROKE_PIXELS))
        found[rows] = smooth / smooth.std()
    return found


def drawn(found: np.ndarray) -> np.ndarray:
    """Numbers from 0 to 255, one row a picture, from strokes: they fade towards the margin."""
    side = found.shape[1]
    across = np.abs(np.arange(side) - (side - 1) / 2) / (side / 2)
    fade = 3 * np.maximum.outer(across, across) ** 4
    return np.clip(100 * (found - fade), 0, 255).round().reshape(len(found), -1).astype(np.float64)


def pictures(count: int, rng: np.random.Generator) -> np.ndarray:
    """Pictures like MNIST's: smooth strokes from 0 to 255 that fade towards the margin, whose pixels are constant."""
    return framed(drawn(strokes(count, rng, SIDE)), SIDE)


def framed(found: np.ndarray, side: int) -> np.ndarray:
    """The pictures with a margin of zeros."""
    inside = np.zeros((side, side))
    inside[MARGIN : side - MARGIN, MARGIN : side - MARGIN] = 1
    return found * inside.ravel()


def against_others() -> None:
    X, Y = sm.gallery.two_views(ROWS, COLUMNS, COLUMNS, [0.95, 0.9, 0.85, 0.8, 0.75], rng=0)
    print(f"CCA {ROWS} × ({COLUMNS} + {COLUMNS}), k = {COMPONENTS}")
    compare(X, Y, COMPONENTS)


def halves() -> None:
    """The upper and the lower halves of pictures, of which some pixels are constant."""
    found = pictures(PICTURES, np.random.default_rng(0))
    X, Y = np.hsplit(found, 2)
    constant = int((found.std(axis=0) == 0).sum())
    print(f"CCA of halves of {PICTURES} pictures, {X.shape[1]} + {Y.shape[1]} pixels ({constant} constant), k = 2")
    compare(np.ascontiguousarray(X), np.ascontiguousarray(Y), 2)


def compare(X: np.ndarray, Y: np.ndarray, k: int) -> None:
    varying = [M[:, M.std(axis=0) > 0] for M in (X, Y)]
    true = oracle(varying[0], varying[1], k)
    if ZooCCA is None:
        print("  cca-zoo is not installed, skipped")
    for threads in (1, None):
        sides: dict[str, Any] = {"ours": CCA(k), "scikit-learn's": TheirCCA(k)}
        if ZooCCA is not None:
            sides["cca-zoo's"] = ZooCCA(k)
        seconds = dict.fromkeys(sides, np.inf)
        with threadpool_limits(threads), warnings.catch_warnings():
            # scikit-learn warns if it stops before convergence, ours of constant columns
            warnings.simplefilter("ignore")
            for _ in range(TIMING_ROUNDS):
                for name, side in sides.items():
                    if not MAX_REPEATED_SECONDS < seconds[name] < np.inf:
                        seconds[name] = min(seconds[name], fitted(side, X, Y))
        for name, side in sides.items():
            error = np.abs(correlations(side, X, Y) - true).max()
            ratio = f"ours is {seconds[name] / seconds['ours']:.1f} times as fast" if name != "ours" else ""
            print(f"  {threads or 'all'} threads: {name:<15}{seconds[name]:6.3g} s, error {error:.1g}  {ratio}")


def documents(topics: np.ndarray, words: int, rng: np.random.Generator) -> sp.csr_array:
    """Word counts with Zipf's law; about half of the words of each document depend on its topic."""
    zipf = 1 / np.arange(1, words + 1)
    order = [rng.permutation(words) for _ in range(TOPICS)]
    drawn = rng.choice(words, (len(topics), WORDS_PER_DOCUMENT), p=zipf / zipf.sum())
    for topic, ranks in enumerate(order):
        about = (topics == topic)[:, None] & (rng.random(drawn.shape) < 0.5)
        drawn[about] = ranks[drawn[about]]
    rows = np.repeat(np.arange(len(topics)), WORDS_PER_DOCUMENT)
    return sp.coo_array((np.ones(drawn.size), (rows, drawn.ravel())), shape=(len(topics), words)).tocsr()


def text(ridge: float) -> None:
    """The text benchmark, run in this process."""
    rng = np.random.default_rng(0)
    topics = rng.integers(TOPICS, size=TEXT_ROWS)
    X, Y = documents(topics, WORDS, rng), documents(topics, WORDS, rng)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    cca = CCA(10, ridge=ridge, random_state=0).fit(X, Y)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    full = X.nnz / TEXT_ROWS / WORDS
    print(f"  {TEXT_ROWS} × ({WORDS} + {WORDS}), {full:.2%} full, k = 10, ridge {ridge:g}: {seconds:.3g} s,")
    print(f"  peak memory {peak / 2**20:.2f} GiB ({before / 2**20:.2f} before the fit)")
    print(f"  correlations {np.array2string(cca.correlations_, precision=4)}")
    print("  " + cca.route_.replace("\n", "\n  "))


def main() -> None:
    against_others()
    halves()
    print("CCA of sparse text-like views, matrix-free")
    sys.stdout.flush()
    subprocess.run([sys.executable, "-m", "benchmarks.cca", "0.1"], check=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["pictures"]:
        halves()
    elif len(sys.argv) > 1:
        text(float(sys.argv[1]))
    else:
        main()
