"""Trials of a Dask array: each block of trials is summed or filtered on a worker, and no trial is transferred."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...typing import Array
from ..dask.estimators import lazily
from ..dask.graph import check_known, computed, reduce_blocks, row_blocks
from ..dask.tasks import add
from .trials import TrialSums, power, three_axes, trial_sums


class DaskTrials:
    """As `Trials`; a fit makes two passes over the blocks, or three if every trial is regularised by itself.

    >>> import dask.array as da
    >>> trials = DaskTrials(da.ones((5, 2, 4), chunks=(3, 1, 4)))
    >>> trials.sums(np.ones((5, 1))).moments
    array([[[5., 5.],
            [5., 5.]]])
    """

    def __init__(self, X: Any) -> None:
        self.X = known(X)
        self.count, self.channels, self.samples = (int(size) for size in self.X.shape)
        self.dtype = self.X.dtype if self.X.dtype == np.float32 else np.dtype(np.float64)

    def sums(self, weights: Array, method: str | None = None, rank: int = 1) -> TrialSums:
        """Return the sums with `weights` (trials, sums), of which every block gets its part."""
        parts = np.split(weights, np.cumsum(self.X.chunks[0])[:-1])
        sums: TrialSums = reduce_blocks(_sums, add, [row_blocks(self.X)], parts, method, rank)
        return sums

    def powers(self, W: Array) -> Array:
        """Return the mean power over time of each trial after each filter: (trials, filters)."""
        chunks = (self.X.chunks[0], (W.shape[0],))
        lazy = self.X.map_blocks(_powers, W, dtype=np.float64, drop_axis=2, chunks=chunks, meta=np.zeros((0, 0)))
        return np.asarray(computed(lazy)[0])


def known(X: Any) -> Any:
    """Return a Dask array of known shape whose blocks have all channels and samples of their trials."""
    X = three_axes(check_known(X, "X", X.ndim if X.ndim == 2 else 3))
    return X.rechunk({1: -1, 2: -1})


def transformed(model: Any, X: Any) -> Any:
    """Return the transformation of a Dask array by a fitted model, lazily."""
    # the mean and standard deviation are used, the patterns are not
    return lazily(model, "transform", known(X), unused=("patterns_",))


def _sums(blocks: list[Any], weights: Array, method: str | None, rank: int) -> TrialSums:
    return trial_sums(blocks[0], weights, method, rank)


def _powers(block: Any, W: Array) -> Array:
    return power(np.asarray(block, np.float64), W)
