"""One table of the estimators' times against scikit-learn's, cca-zoo's and statsmodels', on one set of pictures.

`python -m benchmarks.learn` draws 70,000 pictures of 28 × 28 pixels in ten classes, like MNIST's, and fits
discriminants, canonical correlations of the upper and the lower halves, and sliced inverse regression with one thread
and with all. `--rows 5000 --side 10 --rounds 1` is a trial of seconds. Every side is warmed up and then timed in turn
with the others; its time is the least of the rounds. A peer that takes more than a minute is timed once. Results are
compared: a row whose results differ says so, and its ratio does not count.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.cross_decomposition import CCA as TheirCCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLDA
from threadpoolctl import threadpool_info, threadpool_limits

from splitmerge.learn import CCA, LinearDiscriminantAnalysis, SlicedInverseRegression

from . import sliced
from .cca import MAX_REPEATED_SECONDS, ZooCCA, correlations, drawn, framed, oracle, strokes
from .discriminants import CLASSES

ROWS, SIDE, ROUNDS, WARM_ROWS = 70_000, 28, 3, 1000
CCA_COMPONENTS, SIR_COMPONENTS = 2, 2
# Size of the pattern of a class relative to the strokes.
CLASS_PATTERN = 0.4
# Rows by which the scores of two sides are compared.
COMPARED_ROWS = 5000
# Largest differences of probabilities and of sines, of correlations of a direct and of an iterative method.
MAX_DIFFERENCE, MAX_ERROR, MAX_ITERATIVE_ERROR = 1e-6, 1e-7, 1e-2
# The ratios that are asked for: with an estimated shrinkage, and otherwise.
AUTO_GOAL, GOAL = 4.0, 1.5
SHRINKAGES: dict[str, tuple[Any, ...]] = {"svd": (None,), "lsqr": (None, 0.1, "auto"), "eigen": (None, 0.1, "auto")}


@dataclass
class Side:
    """An estimator and how it is fitted to all rows, or to a part of them; `difference` is that of its last fit."""

    name: str
    fit: Callable[[slice], Any]
    most: float = MAX_DIFFERENCE
    seconds: float = np.inf
    difference: float = 0.0

    def run(self) -> Any:
        """Fit, unless it takes too long to be repeated."""
        if MAX_REPEATED_SECONDS < self.seconds < np.inf:
            return None
        begin = time.perf_counter()
        found = self.fit(slice(None))
        self.seconds = min(self.seconds, time.perf_counter() - begin)
        return found


@dataclass
class Contest:
    """Our side, the others, and how their results are compared with ours: two fitted models give a difference."""

    name: str
    goal: float
    ours: Side
    others: list[Side]
    compare: Callable[[Any, Any], float]

    def race(self, rounds: int) -> None:
        """Time all sides in turn."""
        sides = [self.ours, *self.others]
        for side in sides:
            side.seconds = np.inf
            side.fit(slice(0, WARM_ROWS))
        for _ in range(rounds):
            found = {side.name: side.run() for side in sides}
            for side in self.others:
                if found[side.name] is not None:
                    side.difference = self.compare(found[self.ours.name], found[side.name])

    def report(self, threads: str) -> Iterator[str]:
        """One line for each of the others."""
        for side in self.others:
            ratio = side.seconds / self.ours.seconds
            equal = side.difference <= side.most
            verdict = "DIFFER" if not equal else "" if ratio >= self.goal else f"below {self.goal:g}"
            times = f"{self.ours.seconds:8.3g} {side.seconds:8.3g}"
            yield f"{self.name:<22}{side.name:<14}{threads:>7} {times} {ratio:7.2f}  {side.difference:8.0e}  {verdict}"


def images(rows: int, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures and their classes, each of which has a pattern of its own; no pixel is constant."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, rows)
    found = strokes(rows, rng, side)
    found += CLASS_PATTERN * strokes(CLASSES, rng, side)[y]
    return drawn(found), y


def response(X: np.ndarray) -> np.ndarray:
    """A response that depends on two directions (Li 1991)."""
    rng, columns = np.random.default_rng(1), X.shape[1]
    u, v = (X @ np.sin(np.arange(columns) / scale) for scale in (30, 70))
    u, v = ((score - score.mean()) / score.std() for score in (u, v))
    return u / (0.5 + (v + 1.5) ** 2) + 0.05 * rng.standard_normal(len(X))


def discriminants(X: np.ndarray, y: np.ndarray) -> Iterator[Contest]:
    """Every solver with every shrinkage that it takes."""
    for solver, shrinkages in SHRINKAGES.items():
        for shrinkage in shrinkages:
            options = {"solver": solver, "shrinkage": shrinkage}
            ours, theirs = LinearDiscriminantAnalysis(**options), TheirLDA(**options)
            yield Contest(
                f"LDA {solver} {'' if shrinkage is None else shrinkage}",
                AUTO_GOAL if shrinkage == "auto" else GOAL,
                Side("ours", lambda rows, model=ours: model.fit(X[rows], y[rows])),
                [Side("scikit-learn", lambda rows, model=theirs: model.fit(X[rows], y[rows]))],
                lambda one, other: _apart(X, one, other),
            )


def _apart(X: np.ndarray, ours: Any, theirs: Any) -> float:
    """The largest difference of the probabilities, and of the directions' scores if there are any."""
    some = X[:COMPARED_ROWS]
    apart = float(np.abs(ours.predict_proba(some) - theirs.predict_proba(some)).max())
    if ours.solver == "lsqr":
        return apart
    return max(apart, _sine(ours.transform(some), theirs.transform(some)))


def _sine(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The sine of the largest angle between the spans of centred scores."""
    return float(np.sin(subspace_angles(ours - ours.mean(axis=0), theirs - theirs.mean(axis=0))).max())


def halves(X: np.ndarray, side: int) -> Contest:
    """The upper and the lower halves of the pictures with a margin of constant pixels."""
    upper, lower = (np.ascontiguousarray(half) for half in np.hsplit(framed(X, side), 2))
    true = oracle(*(M[:, M.std(axis=0) > 0] for M in (upper, lower)), CCA_COMPONENTS)
    ours, scikit_learns = CCA(CCA_COMPONENTS), TheirCCA(CCA_COMPONENTS)
    others = [Side("scikit-learn", lambda rows: scikit_learns.fit(upper[rows], lower[rows]), MAX_ITERATIVE_ERROR)]
    if ZooCCA is not None:
        zoo = ZooCCA(CCA_COMPONENTS)
        others.append(Side("cca-zoo", lambda rows: zoo.fit([upper[rows], lower[rows]]), MAX_ERROR))

    def error(one: Any, other: Any) -> float:
        mine, theirs = (float(np.abs(correlations(each, upper, lower) - true).max()) for each in (one, other))
        return theirs if mine <= MAX_ERROR else np.inf

    own = Side("ours", lambda rows: ours.fit(upper[rows], lower[rows]))
    return Contest(f"CCA of halves, k = {CCA_COMPONENTS}", GOAL, own, others, error)


def slices(X: np.ndarray) -> Contest:
    """Sliced inverse regression."""
    y, model = response(X), SlicedInverseRegression(SIR_COMPONENTS, n_slices=sliced.SLICES)
    some = X[:COMPARED_ROWS]
    return Contest(
        f"SIR, {SIR_COMPONENTS} directions",
        GOAL,
        Side("ours", lambda rows: model.fit(X[rows], y[rows])),
        [Side("statsmodels", lambda rows: sliced.theirs("SIR", X[rows], y[rows]))],
        lambda one, other: _sine(some @ one.directions_.T, some @ np.real(other.params[:, :SIR_COMPONENTS])),
    )


def run(arguments: argparse.Namespace) -> None:
    X, y = images(arguments.rows, arguments.side)
    cores = max((pool["num_threads"] for pool in threadpool_info()), default=1)
    print(f"{X.shape[0]} pictures of {X.shape[1]} pixels, {CLASSES} classes; all = {cores} threads; least of", end=" ")
    print(f"{arguments.rounds}; ratio = theirs / ours; CCA: error of their correlations", flush=True)
    print(f"{'':<22}{'':<14}{'threads':>7} {'ours s':>8} {'theirs s':>8} {'ratio':>7}  {'differ':>8}")
    if ZooCCA is None:
        print("cca-zoo is not installed, skipped")
    contests = [*discriminants(X, y), slices(X), halves(X, arguments.side)]
    for contest in contests:
        if arguments.only not in contest.name:
            continue
        for threads in arguments.threads:
            with threadpool_limits(None if threads == "all" else int(threads)), warnings.catch_warnings():
                # scikit-learn warns if it stops before convergence, ours of constant columns, both of warm-up rows
                warnings.simplefilter("ignore")
                contest.race(arguments.rounds)
            print("\n".join(contest.report(threads)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Times of the estimators against other packages, with equal results.")
    parser.add_argument("--rows", type=int, default=ROWS, help="number of pictures")
    parser.add_argument("--side", type=int, default=SIDE, help="pixels of a side, an even number")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="timed fits of each side")
    parser.add_argument("--threads", nargs="+", default=["1", "all"], help="numbers of threads")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
