"""Filters w of a pair of matrices, A w = λ B w, with the patterns that belong to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...errors import NotPositiveDefinite
from ...linalg.reductions import phases
from ...solve import solve
from ...typing import Array
from .joint import joint_diagonaliser
from .space import Range

# Eigenvalues with a smaller difference are treated as equal.
EQUAL_TOL = 1e-9
# Powers and mutual information of jointly diagonalised classes with a smaller difference are treated as equal, and
# powers below this share of the mean power are rounding.
EQUAL_POWER_TOL, MIN_POWER = 1e-7, 1e-12
DEPENDENT = (
    "the channels are linearly dependent (the covariance has a leading minor that is not positive); use rank=None, "
    "which leaves out the directions without data, or reg"
)


@dataclass(frozen=True)
class Decomposition:
    """Filters and patterns in rows, in the order of selection, with their eigenvalues (None of more than a pair)."""

    filters: Array
    patterns: Array
    eigenvalues: Array | None


def of_pair(A: Array, B: Array, space: Range, *, alternate: bool, centre: float) -> Decomposition:
    """Order by the distance of λ from `centre`, or alternately from either end of the spectrum."""
    reduced = space.form(B)
    try:
        # all eigenpairs: the multiplicity of the last selected one depends on the next
        sol = solve(space.form(A), reduced, space.rank, rng=0)
    except NotPositiveDefinite as error:
        raise np.linalg.LinAlgError(DEPENDENT) from error
    values = sol.eigenvalues
    order = _alternating(values.size) if alternate else _by_distance(values, centre)
    V = _canonical_basis(values, sol.eigenvectors.T, space.basis, np.sqrt(B.diagonal()), centre)[order]
    return Decomposition(V @ space.basis.T, V @ reduced @ space.dual.T, values[order])


def of_several(covariances: Array, weights: Array, space: Range) -> Decomposition:
    """Diagonalise the covariances of several classes jointly and order by mutual information with the class.

    The power of each filter is 1 in the mean covariance with these class `weights` (Grosse-Wentrup and Buss 2008).
    """
    reduced = np.array([space.form(C) for C in covariances])
    weights = weights / weights.sum()
    try:
        V = joint_diagonaliser(reduced)
    except np.linalg.LinAlgError as error:
        raise np.linalg.LinAlgError(DEPENDENT) from error
    V /= np.sqrt(np.einsum("ij,jl,il->i", V, np.tensordot(weights, reduced, axes=1), V))[:, None]
    V = V[_by_information(np.einsum("ij,kjl,il->ki", V, reduced, V), weights)]
    deviations = np.sqrt(covariances.sum(axis=0).diagonal())
    for members in _equal_powers(V @ reduced @ V.T):
        V[members] = _rotated(V[members], space.basis, deviations)
    V *= phases(space.basis @ V.T)[:, None]
    return Decomposition(V @ space.basis.T, np.linalg.inv(V).T @ space.dual.T, None)


def _by_information(powers: Array, weights: Array) -> Array:
    """Return the order by the mutual information of the class and a signal with these powers (classes, signals).

    It is approximated for signals of mean power 1. The order of equal ones is that of the classes.
    """
    entropy = weights @ np.log(np.maximum(powers, MIN_POWER)) / 2
    information = -entropy - 3 / 16 * (weights @ (powers**2 - 1)) ** 2
    return np.lexsort(-np.round(np.vstack([powers[::-1], information]) / EQUAL_POWER_TOL))


def _equal_powers(D: Array) -> Iterator[Array]:
    """Yield the indices of successive signals for which all matrices are multiples of the identity."""
    powers = D.diagonal(axis1=1, axis2=2)
    steps = np.abs(np.diff(powers, axis=1)).max(axis=0)
    for members in np.split(np.arange(powers.shape[1]), 1 + np.flatnonzero(steps > EQUAL_POWER_TOL)):
        block = D[:, members[:, None], members]
        if members.size > 1 and np.abs(block - powers[:, members, None] * np.eye(members.size)).max() < EQUAL_POWER_TOL:
            yield members


def _canonical_basis(values: Array, V: Array, K: Array, deviations: Array, centre: float) -> Array:
    """Rotate the filters of equal λ, those before the centre with the shortest first, and fix the signs."""
    V = V.copy()
    for members in np.split(np.arange(values.size), 1 + np.flatnonzero(values[:-1] - values[1:] > EQUAL_TOL)):
        if members.size > 1:
            rotated = _rotated(V[members], K, deviations)
            V[members] = rotated if values[members].mean() > centre else rotated[::-1]
    return V * phases(K @ V.T)[:, None]


def _rotated(V: Array, K: Array, deviations: Array) -> Array:
    """Rotate filters VKᵀ of an eigenspace such that they are orthogonal for channels of unit power, the shortest first.

    Any basis of an eigenspace is valid; without this one rounding would determine it.
    """
    F = (V @ K.T) * deviations
    return np.asarray(np.linalg.eigh(F @ F.T)[1].T @ V)


def _alternating(count: int) -> Array:
    """Return the order first, last, second, last but one, …"""
    ranks = np.arange(count)
    return np.argsort(np.minimum(2 * ranks, 2 * ranks[::-1] + 1))


def _by_distance(values: Array, centre: float) -> Array:
    """Return the order of the descending `values` by their distance from the centre."""
    ranks = np.arange(values.size)
    # distances that differ by rounding are equal: the larger value comes first, then
    distances = np.round(np.abs(values - centre) / EQUAL_TOL)
    return np.lexsort((np.minimum(ranks, ranks[::-1]), values < centre, -distances))
