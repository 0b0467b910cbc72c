"""Canonical correlations from a covariance matrix: whiten each view, then decompose the whitened cross-covariance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular, svd

from ...problem.b_policy import BReport
from ...typing import Array
from ..covariance.definite import Sample, whitener
from ..data.joint import parts_of
from .request import Regularised

# Condition number of a covariance beyond which the data are whitened a second time: its error is that of the squared
# condition of the data.
MAX_CONDITION = 1e4
# Of two views only the leading directions are whitened again, this number or this multiple of k, if they are less than
# half of all and contain the wanted vectors up to this angle: its square is the error of the correlations.
MIN_RITZ_VECTORS, RITZ_VECTORS_PER_PAIR, MAX_RITZ_ANGLE = 32, 4, 1e-8
# The leading singular values come from the eigenvalues of KKᵀ, their squares, if they are at most this share of all and
# the smallest one is above this value.
MAX_LEADING_SHARE, MIN_LEADING_VALUE = 0.25, 1e-3

Gram = Callable[[Sequence[Array]], Array]


@dataclass(frozen=True, eq=False)
class Found:
    """Eigenvalues in descending order, and for each view the vectors and the `BReport` of its covariance.

    In the norm of B, each vector of two views has length 1, and the joint vector of m views has length √m.
    """

    values: Array
    vectors: list[Array]
    reports: list[BReport | None]


def correlate(
    C: Array,
    sizes: Sequence[int],
    regularised: Sequence[Regularised],
    k: int,
    *,
    policy: str,
    samples: Sequence[Sample],
    trim: bool = False,
    gram: Gram | None = None,
) -> Found:
    """Return the k largest (generalised) canonical correlations of views with the joint covariance C.

    With `trim`, fewer than k are returned for covariances whose ranks allow no more. `gram(W)` computes the covariance
    of the data times W. It is called if C is ill-conditioned.
    """
    parts = parts_of(sizes)
    ways = [
        whitener(each.share * np.ascontiguousarray(C[part, part]), each.ridge, policy, sample)
        for part, each, sample in zip(parts, regularised, samples, strict=True)
    ]
    W, shares, condition = [way.W for way in ways], [each.share for each in regularised], max(w.condition for w in ways)
    ranks = [M.shape[1] for M in W]
    check_count(k, sizes if trim else ranks, samples)
    k = min(k, _most(ranks))
    if gram is not None and condition > MAX_CONDITION:
        W = _leading_directions(C, W, k, condition) if len(W) == 2 else W
        C, inner = _rewhiten(W, shares, [way.ridge for way in ways], gram)
        W = [M @ S for M, S in zip(W, inner, strict=True)]
    else:
        inner = W
    values, pieces = _leading_pairs(C, inner, k) if len(W) == 2 else _leading_vectors(C, inner, k)
    vectors = [M @ U for M, U in zip(W, pieces, strict=True)]
    return Found(values, vectors, [way.report for way in ways])


def check_count(k: int, ranks: Sequence[int], samples: Sequence[Sample]) -> None:
    """Raise if k exceeds the number of components: the smaller rank for two views, the sum of all ranks for more."""
    most = _most(ranks)
    if k > most:
        told = ", ".join(f"{sample.name}: {rank}" for sample, rank in zip(samples, ranks, strict=True))
        # the wording of scikit-learn
        raise ValueError(
            f"`n_components` upper bound is {most}. Got {k} instead. Reduce `n_components`: with ranks of "
            f"{told}, it must be at most {most}"
        )


def _most(ranks: Sequence[int]) -> int:
    return min(ranks) if len(ranks) == 2 else sum(ranks)


def _leading_directions(C: Array, W: list[Array], k: int, condition: float) -> list[Array]:
    """Return directions among those of W that contain the k leading vectors up to rounding errors in W; W if unsure."""
    m = max(MIN_RITZ_VECTORS, RITZ_VECTORS_PER_PAIR * k)
    if 2 * m >= min(M.shape[1] for M in W):
        return W
    values, pieces = _leading_pairs(C, W, m + 1)
    if condition * np.finfo(np.float64).eps > MAX_RITZ_ANGLE * (values[k - 1] - values[m]):
        return W
    return [M @ U[:, :m] for M, U in zip(W, pieces, strict=True)]


def _rewhiten(
    W: Sequence[Array], shares: Sequence[float], ridges: Sequence[float], gram: Gram
) -> tuple[Array, list[Array]]:
    """Whiten the whitened data again, as in CholeskyQR2: the second factors are well-conditioned.

    Return the covariance of the data that were whitened once, and the matrices that whiten it.
    """
    G = gram(W)
    inverses = []
    for M, share, ridge, part in zip(W, shares, ridges, parts_of([M.shape[1] for M in W]), strict=True):
        R = cholesky(share * G[part, part] + ridge * (M.T @ M), check_finite=False)
        inverses.append(np.asarray(solve_triangular(R, np.eye(len(R)), check_finite=False)))
    return G, inverses


def _leading_pairs(C: Array, W: Sequence[Array], k: int) -> tuple[Array, list[Array]]:
    """Return the k largest correlations of two views with covariance C, and their vectors in the basis W."""
    first, second = parts_of([len(M) for M in W])
    return leading_singular(W[0].T @ C[first, second] @ W[1], k)


def leading_singular(K: Array, k: int) -> tuple[Array, list[Array]]:
    """Return the k largest singular values, and the left and right singular vectors."""
    if K.shape[0] > K.shape[1]:
        values, (U, V) = leading_singular(K.T, k)
        return values, [V, U]
    n = len(K)
    if k <= MAX_LEADING_SHARE * n:
        squares, U = eigh(K @ K.T, subset_by_index=(n - k, n - 1), check_finite=False)
        if squares[0] > MIN_LEADING_VALUE**2:
            # the singular values of UᵀK are more accurate than the roots of its squares
            P, values, Vt = svd(U.T @ K, full_matrices=False, check_finite=False)
            return values, [U @ P, Vt.T]
    U, values, Vt = svd(K, full_matrices=False, check_finite=False)
    return values[:k], [U[:, :k], Vt[:k].T]


def _leading_vectors(C: Array, W: Sequence[Array], k: int) -> tuple[Array, list[Array]]:
    """Return the k largest eigenvalues of the joint matrix of cross-covariances, and their vectors by view."""
    outer, inner = parts_of([len(M) for M in W]), parts_of([M.shape[1] for M in W])
    half = np.concatenate([M.T @ C[part] for part, M in zip(outer, W, strict=True)])
    whitened = np.concatenate([half[:, part] @ M for part, M in zip(outer, W, strict=True)], axis=1)
    for part in inner:
        whitened[part, part] = 0
    n = len(whitened)
    values, V = eigh(whitened, subset_by_index=(n - k, n - 1), check_finite=False)
    V = V[:, ::-1] * len(W) ** 0.5
    return values[::-1], [V[part] for part in inner]
