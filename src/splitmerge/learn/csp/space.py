"""The range of the data: the directions of channel space in which the filters are."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import whole
from ...problem.b_policy import positive_part
from ...typing import Array

# Eigenvalues of the correlation matrix below this many units of rounding per channel are zero.
RANK_ROUNDING_ERRORS = 10
EPS = float(np.finfo(np.float64).eps)

logger = logging.getLogger("splitmerge.learn.csp")


@dataclass(frozen=True)
class Range:
    """A `basis` K of the filters, the `dual` basis L of the patterns with KᵀL = I, and the orthogonal `projector`."""

    basis: Array
    dual: Array
    projector: Array

    @property
    def rank(self) -> int:
        """Its dimension."""
        return int(self.basis.shape[1])

    def form(self, C: Array) -> Array:
        """Return the symmetric matrix KᵀCK."""
        F = self.basis.T @ C @ self.basis
        return np.asarray((F + F.T) / 2)


def check_rank(rank: Any, channels: int | None = None) -> int | str | None:
    """Return None, "full" or a number of dimensions; a dict has one number for each type of channel."""
    if rank is None or (isinstance(rank, str) and rank == "full"):
        return rank
    if isinstance(rank, str):
        raise ValueError(f"Invalid value for rank: {rank!r}; give None, 'full', a whole number or a dict of them")
    if isinstance(rank, Mapping):
        return whole(sum(whole(each, f"rank[{key!r}]", 0) for key, each in rank.items()), "rank", 1, channels)
    return whole(rank, "rank", 1, channels)


def range_of(T: Array, rank: int | str | None, dtype: Any) -> Range:
    """Return the range of T, its leading eigenvectors for a smaller `rank`, or all of the space for "full".

    The rank is that of diag(T)^-½ T diag(T)^-½, which does not depend on units. `dtype` is the one of the data.
    """
    channels = T.shape[0]
    if rank == "full":
        logger.info("Reducing data rank from %d -> %d", channels, channels)
        identity = np.eye(channels)
        return Range(identity, identity, identity)
    deviations = np.sqrt(T.diagonal())
    deviations = np.where(deviations > 0, deviations, 1.0)
    values, vectors = np.linalg.eigh(T / deviations[:, None] / deviations)
    tolerance = RANK_ROUNDING_ERRORS * channels * max(EPS, float(np.finfo(dtype).eps) ** 2)
    part = positive_part(values, vectors, tolerance * values[-1])
    if rank is None:
        logger.info("Computing rank from data: rank (data) %d; data: rank %d of %d", part.rank, part.rank, channels)
    kept = part.rank if rank is None else int(rank)
    if kept < channels:
        logger.info("Setting small data eigenvalues to zero")
    logger.info("Reducing data rank from %d -> %d", channels, kept)
    if kept == part.rank:
        return _whitened(T, part.whitening / deviations[:, None], deviations[:, None] * part.vectors)
    leading = np.linalg.eigh(T)[1][:, channels - kept :]
    return Range(leading, leading, leading @ leading.T)


def _whitened(T: Array, K: Array, spanning: Array) -> Range:
    """Return the basis K with KᵀTK = I; if there is a null space, the filters of minimum norm."""
    if K.shape[1] == K.shape[0]:
        return Range(K, T @ K, np.eye(K.shape[0]))
    U = np.linalg.qr(spanning)[0]
    projector = U @ U.T
    K = projector @ K
    return Range(K, projector @ (T @ K), projector)
