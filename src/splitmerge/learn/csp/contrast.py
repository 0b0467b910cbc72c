"""Filters w that contrast two matrices of second moments: C w = λ (C + D) w."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...problem.b_policy import BReport, mend, positive_part
from ...solve import solve
from ...typing import Array

# Eigenvalues with a smaller difference are treated as equal.
EQUAL_TOL = 1e-9


@dataclass(frozen=True)
class Range:
    """The range of the data: a `basis` K of the filters with KᵀTK = I, and the orthogonal `projector`."""

    basis: Array
    projector: Array

    @property
    def rank(self) -> int:
        """Its dimension."""
        return int(self.basis.shape[1])


def range_of(T: Array, tolerance: float) -> Range:
    """Return the range of T by the eigenvalues of diag(T)^-½ T diag(T)^-½, which do not depend on units."""
    deviations = np.sqrt(T.diagonal())
    deviations = np.where(deviations > 0, deviations, 1.0)
    values, vectors = np.linalg.eigh(T / deviations[:, None] / deviations)
    part, channels = positive_part(values, vectors, tolerance * values[-1]), values.size
    basis, projector = part.whitening / deviations[:, None], np.eye(channels)
    if part.rank < channels:
        U = np.linalg.qr(deviations[:, None] * part.vectors)[0]
        projector = U @ U.T
        # filters are unique up to the null space of T; take those of minimum norm
        basis = projector @ basis
    return Range(basis, projector)


@dataclass(frozen=True)
class Contrast:
    """Filters and patterns in rows with their eigenvalues, in the order of selection, and the report on C + D."""

    filters: Array
    patterns: Array
    eigenvalues: Array
    report: BReport


def contrast(C: Array, D: Array, space: Range, k: int, *, select: str, b_policy: str) -> Contrast:
    """Return the k filters in `space` with λ farthest from ½, or alternately from either end of the spectrum."""
    K, B = space.basis, C + D
    reduced = mend(_form(K, C), _form(K, B), b_policy if b_policy == "ridge" else "error")
    # half of the ridge for each class, so that λ = ½ in directions without data
    ridge = reduced.report.ridge if reduced.report else 0.0
    # all eigenpairs: the multiplicity of the last selected one depends on the next
    sol = solve(_form(K, C) + ridge / 2 * np.eye(space.rank), reduced.B, space.rank, rng=0)
    chosen = _order(sol.eigenvalues, select)[:k]
    W = _canonical_basis(sol.eigenvalues, (K @ sol.eigenvectors).T, np.sqrt(B.diagonal()))[chosen]
    return Contrast(W, W @ B, sol.eigenvalues[chosen], reduced.report or BReport(b_policy, rank=space.rank))


def _canonical_basis(values: Array, W: Array, deviations: Array) -> Array:
    """Rotate filters of equal λ such that they are orthogonal for channels of unit power, the shortest farthest from ½.

    Any basis of an eigenspace is valid; without this one rounding would determine it. Signs are fixed, too.
    """
    W = W.copy()
    for members in np.split(np.arange(values.size), 1 + np.flatnonzero(values[:-1] - values[1:] > EQUAL_TOL)):
        if members.size > 1:
            F = W[members] * deviations
            rotated = np.linalg.eigh(F @ F.T)[1].T @ W[members]
            W[members] = rotated if values[members].mean() > 0.5 else rotated[::-1]
    largest = np.take_along_axis(W, np.abs(W).argmax(axis=1)[:, None], axis=1)
    return W * np.where(largest < 0, -1.0, 1.0)


def _order(values: Array, select: str) -> Array:
    """Return the indices of the descending `values` by distance from ½, or alternately from either end."""
    ranks = np.arange(values.size)
    if select == "ends":
        return np.argsort(np.minimum(2 * ranks, 2 * ranks[::-1] + 1))
    # distances that differ by rounding are equal: the first class comes first, then
    distances = np.round(np.abs(values - 0.5) / EQUAL_TOL)
    return np.lexsort((np.minimum(ranks, ranks[::-1]), values < 0.5, -distances))


def _form(K: Array, C: Array) -> Array:
    F = K.T @ C @ K
    return np.asarray((F + F.T) / 2)
