"""Canonical correlations from covariances that are there as matrices: whiten each view, then decompose what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular, svd

from ...problem.b_policy import BReport
from ...typing import Array
from ..covariance.whiten import Sample, Whitener, whitener
from ..data.joint import parts_of

# Beyond this condition the data are gone through once more: squaring them has cost digits of the correlations.
ILL = 1e4
# The leading pairs come from KKᵀ where they are few of many and none of their values is so small that squares lose it.
FEW, SMALL = 0.25, 1e-3

Gram = Callable[[Sequence[Array]], Array]


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
        C, inner = _once_more(ways, gram)
        W = [M @ S for M, S in zip(W, inner, strict=True)]
    else:
        inner = W
    values, pieces = _leading_pairs(C, inner, k) if len(W) == 2 else _leading_vectors(C, inner, k)
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


def _once_more(ways: Sequence[Whitener], gram: Gram) -> tuple[Array, list[Array]]:
    """Whiten data that are nearly white: the second Cholesky factors have the digits that the first ones lost.

    Returns the covariance of the data that were whitened once, and what whitens that.
    """
    G = gram([way.W for way in ways])
    inverses = []
    for way, part in zip(ways, parts_of([way.W.shape[1] for way in ways]), strict=True):
        R = cholesky(G[part, part] + way.ridge * (way.W.T @ way.W), check_finite=False)
        inverses.append(np.asarray(solve_triangular(R, np.eye(len(R)), check_finite=False)))
    return G, inverses


def _leading_pairs(C: Array, W: Sequence[Array], k: int) -> tuple[Array, list[Array]]:
    """The k largest correlations of two views of covariance C that W whitens, and their vectors in that basis."""
    first, second = parts_of([len(M) for M in W])
    return leading_singular(W[0].T @ C[first, second] @ W[1], k)


def leading_singular(K: Array, k: int) -> tuple[Array, list[Array]]:
    """The k largest singular values, and their vectors on the left and on the right."""
    if K.shape[0] > K.shape[1]:
        values, (U, V) = leading_singular(K.T, k)
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


def _leading_vectors(C: Array, W: Sequence[Array], k: int) -> tuple[Array, list[Array]]:
    """The k largest eigenvalues of all cross-covariances together, and their vectors in pieces."""
    outer, inner = parts_of([len(M) for M in W]), parts_of([M.shape[1] for M in W])
    half = np.concatenate([M.T @ C[part] for part, M in zip(outer, W, strict=True)])
    whitened = np.concatenate([half[:, part] @ M for part, M in zip(outer, W, strict=True)], axis=1)
    for part in inner:
        whitened[part, part] = 0
    n = len(whitened)
    values, V = eigh(whitened, subset_by_index=(n - k, n - 1), check_finite=False)
    V = V[:, ::-1] * len(W) ** 0.5
    return values[::-1], [V[part] for part in inner]
