"""Canonical correlations from covariances that are there as matrices: whiten each view, then decompose what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular, svd

from ..kernels import Array
from ..policy import BReport
from .joint import parts_of
from .whiten import Sample, Whitener, whitener

# Beyond this condition the data are gone through once more: squaring them has cost digits of the correlations.
ILL = 1e4
# The leading pairs come from KKᵀ where they are few of many and none of their values is so small that squares lose it.
FEW, SMALL = 0.25, 1e-3

Gram = Callable[[Sequence[Array]], Array]
# The covariance of two whitened views.
Cross = Callable[[int, int], Array]


@dataclass(frozen=True, eq=False)
class Found:
    """Values, best first; for each view the vectors, what was done to its covariance, and the ridge that it got.

    The vectors of two views have length 1 each in the inner product of C + ridge I, those of m views √m together.
    """

    values: Array
    vectors: list[Array]
    reports: list[BReport | None]
    ridges: list[float]


def correlate(
    C: Array,
    sizes: Sequence[int],
    ridges: Sequence[float],
    k: int,
    *,
    policy: str,
    samples: Sequence[Sample],
    gram: Gram | None = None,
) -> Found:
    """The k largest canonical correlations of two views, or generalised ones of more, for their joint covariance C.

    `gram(W)` is the covariance of the data times W: asked for where C alone would cost digits.
    """
    parts = parts_of(sizes)
    ways = [
        whitener(np.ascontiguousarray(C[part, part]), ridge, policy, sample)
        for part, ridge, sample in zip(parts, ridges, samples, strict=True)
    ]
    W = [way.W for way in ways]
    check_count(k, [M.shape[1] for M in W], samples)
    if gram is not None and max(way.condition for way in ways) > ILL:
        W, cross = _once_more(ways, gram)
    else:

        def cross(i: int, j: int) -> Array:
            return np.asarray(W[i].T @ C[parts[i], parts[j]] @ W[j])

    values, pieces = _leading_pairs(cross(0, 1), k) if len(W) == 2 else _leading_vectors(cross, W, k)
    vectors = [M @ U for M, U in zip(W, pieces, strict=True)]
    return Found(values, vectors, [way.report for way in ways], [way.ridge for way in ways])


def check_count(k: int, ranks: Sequence[int], samples: Sequence[Sample]) -> None:
    """Are there so many components? Two views have as many as the smaller rank, more have the sum of all."""
    most = min(ranks) if len(ranks) == 2 else sum(ranks)
    if k > most:
        told = ", ".join(f"{sample.name}: {rank}" for sample, rank in zip(samples, ranks, strict=True))
        raise ValueError(
            f"n_components is {k}, but there are only {most} (dimensions of the views: {told}); give fewer"
        )


def _once_more(ways: Sequence[Whitener], gram: Gram) -> tuple[list[Array], Cross]:
    """Whiten data that are nearly white: a second Cholesky factor has all the digits that the first one lost."""
    G = gram([way.W for way in ways])
    parts = parts_of([way.W.shape[1] for way in ways])
    factors = []
    for way, part in zip(ways, parts, strict=True):
        factors.append(cholesky(G[part, part] + way.ridge * (way.W.T @ way.W), check_finite=False))
    # W R⁻¹ by its transpose
    W = [solve_triangular(R, way.W.T, trans="T").T for R, way in zip(factors, ways, strict=True)]

    def cross(i: int, j: int) -> Array:
        left = solve_triangular(factors[i], G[parts[i], parts[j]], trans="T")
        return np.asarray(solve_triangular(factors[j], left.T, trans="T").T)

    return W, cross


def _leading_pairs(K: Array, k: int) -> tuple[Array, list[Array]]:
    """The k largest singular values and their vectors."""
    if K.shape[0] > K.shape[1]:
        values, (U, V) = _leading_pairs(K.T, k)
        return values, [V, U]
    n = len(K)
    if k <= FEW * n:
        squares, U = eigh(K @ K.T, subset_by_index=(n - k, n - 1), check_finite=False)
        if squares[0] > SMALL**2:
            # the singular values of UᵀK, not roots of squares
            P, values, Vt = svd(U.T @ K, full_matrices=False, check_finite=False)
            return values, [U @ P, Vt.T]
    U, values, Vt = svd(K, full_matrices=False, check_finite=False)
    return values[:k], [U[:, :k], Vt[:k].T]


def _leading_vectors(cross: Cross, W: Sequence[Array], k: int) -> tuple[Array, list[Array]]:
    """The k largest eigenvalues of the matrix of all cross-covariances, and their vectors in pieces."""
    parts = parts_of([M.shape[1] for M in W])
    n = parts[-1].stop
    M = np.zeros((n, n))
    for i, j in combinations(range(len(W)), 2):
        M[parts[i], parts[j]] = cross(i, j)
        M[parts[j], parts[i]] = M[parts[i], parts[j]].T
    values, V = eigh(M, subset_by_index=(n - k, n - 1), check_finite=False)
    V = V[:, ::-1] * len(W) ** 0.5
    return values[::-1], [V[part] for part in parts]
