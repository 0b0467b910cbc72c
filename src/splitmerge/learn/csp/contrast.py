"""Two matrices of second moments held against each other: filters w with C w = λ (C + D) w."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...problem.b_policy import BReport, mend
from ...solve import solve
from ...typing import Array

# Eigenvalues that differ by less are those of one space of filters.
EQUAL = 1e-9


@dataclass(frozen=True)
class Range:
    """The directions that the data have: `basis` K with KᵀTK = I for filters, and the orthogonal `projector`."""

    basis: Array
    projector: Array

    @property
    def rank(self) -> int:
        """Its dimension."""
        return int(self.basis.shape[1])


def range_of(T: Array, tolerance: float) -> Range:
    """Where T is not zero: eigenvalues of diag(T)^-½ T diag(T)^-½, as the units of the channels must not matter."""
    deviations = np.sqrt(T.diagonal())
    deviations = np.where(deviations > 0, deviations, 1.0)
    values, vectors = np.linalg.eigh(T / deviations[:, None] / deviations)
    keep = values > tolerance * values[-1]
    V, channels = vectors[:, keep], keep.size
    basis, projector = V / np.sqrt(values[keep]) / deviations[:, None], np.eye(channels)
    if not keep.all():
        U = np.linalg.qr(deviations[:, None] * V)[0]
        projector = U @ U.T
        # of the filters that differ by what the data do not have, the shortest
        basis = projector @ basis
    return Range(basis, projector)


@dataclass(frozen=True)
class Contrast:
    """Filters and patterns in rows, each with its λ, the best first; and what became of C + D."""

    filters: Array
    patterns: Array
    eigenvalues: Array
    report: BReport


def contrast(C: Array, D: Array, space: Range, k: int, *, select: str, b_policy: str) -> Contrast:
    """The k filters in `space` with λ farthest from ½, or nearest to either end by turns."""
    K, B = space.basis, C + D
    reduced = mend(_form(K, C), _form(K, B), b_policy if b_policy == "ridge" else "error")
    # half of a ridge belongs to either class: a direction that no class has must not tell one from the other
    ridge = reduced.report.ridge if reduced.report else 0.0
    # all of them: whether the last one is one of several equals cannot be told without the next
    sol = solve(_form(K, C) + ridge / 2 * np.eye(space.rank), reduced.B, space.rank, rng=0)
    chosen = _order(sol.eigenvalues, select)[:k]
    W = _settled(sol.eigenvalues, (K @ sol.eigenvectors).T, np.sqrt(B.diagonal()))[chosen]
    return Contrast(W, W @ B, sol.eigenvalues[chosen], reduced.report or BReport(b_policy, rank=space.rank))


def _settled(values: Array, W: Array, deviations: Array) -> Array:
    """Filters of equal λ turned so that they are orthogonal for channels of equal power, the shortest at the end.

    Any basis of theirs would do for λ; this one leans least on channels that cancel, and does not depend on chance.
    """
    W = W.copy()
    for members in np.split(np.arange(values.size), 1 + np.flatnonzero(values[:-1] - values[1:] > EQUAL)):
        if members.size > 1:
            F = W[members] * deviations
            turned = np.linalg.eigh(F @ F.T)[1].T @ W[members]
            W[members] = turned if values[members].mean() > 0.5 else turned[::-1]
    largest = np.take_along_axis(W, np.abs(W).argmax(axis=1)[:, None], axis=1)
    return W * np.where(largest < 0, -1.0, 1.0)


def _order(values: Array, select: str) -> Array:
    """Places of the descending `values` by their distance from ½, or by turns from either end."""
    ranks = np.arange(values.size)
    if select == "ends":
        return np.argsort(np.minimum(2 * ranks, 2 * ranks[::-1] + 1))
    # distances that differ by rounding are equal, so that the first class comes first
    distances = np.round(np.abs(values - 0.5) / EQUAL)
    return np.lexsort((np.minimum(ranks, ranks[::-1]), values < 0.5, -distances))


def _form(K: Array, C: Array) -> Array:
    F = K.T @ C @ K
    return np.asarray((F + F.T) / 2)
