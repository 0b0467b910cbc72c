"""Trials × channels × samples, in memory or as a Dask array: sums of their second moments and powers of filters."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...typing import Array
from .covariances import estimated_shrinkage

# Number of entries of X that are filtered at a time (32 MiB).
BLOCK_ENTRIES = 2**22
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class TrialSums:
    """Sums over trials with second moments C = XXᵀ / samples, one for each column v of the weights.

    `moments` is Σ v (1 − s) C and `isotropic` is Σ v s tr(C) / rank, where s is the shrinkage of the trial, 0 unless it
    is estimated trial by trial. `fourth` is Σ v mean ‖x‖⁴ over the samples x, and `largest` the largest magnitude.
    """

    moments: Array
    isotropic: Array
    fourth: Array
    largest: float

    def __add__(self, other: TrialSums) -> TrialSums:
        return TrialSums(
            self.moments + other.moments,
            self.isotropic + other.isotropic,
            self.fourth + other.fourth,
            float(np.maximum(self.largest, other.largest)),
        )


def trial_sums(X: Array, weights: Array, method: str | None = None, rank: int = 1) -> TrialSums:
    """Sum over the trials of an array, one at a time, as it may be memory-mapped; `weights` is (trials, sums).

    With a `method` of regularisation, each trial is shrunk by its own estimate for data of this `rank`.
    """
    sums, channels, samples = weights.shape[1], X.shape[1], X.shape[2]
    moments, isotropic, fourth = np.zeros((sums, channels, channels)), np.zeros(sums), np.zeros(sums)
    largest = 0.0
    for i in np.flatnonzero(weights.any(axis=1)):
        x = np.asarray(X[i], np.float64)
        largest = float(np.maximum(largest, max(x.max(), -x.min())))
        # what is not finite is found in the sums
        with np.errstate(over="ignore", invalid="ignore"):
            C, squares = x @ x.T / samples, np.einsum("ct,ct->t", x, x)
            quartic = float(squares @ squares) / samples
            s = 0.0 if method is None else estimated_shrinkage(method, C, samples, quartic, rank)
            for j in np.flatnonzero(weights[i]):
                w = float(weights[i, j])
                moments[j] += (w * (1 - s)) * C
                isotropic[j] += w * s * float(np.trace(C)) / rank
                fourth[j] += w * quartic
    return TrialSums(moments, isotropic, fourth, largest)


class Trials:
    """Trials of an array in memory, which may be memory-mapped or in single precision."""

    def __init__(self, X: Array) -> None:
        self.X = X
        self.count, self.channels, self.samples = X.shape
        self.dtype = X.dtype

    def sums(self, weights: Array, method: str | None = None, rank: int = 1) -> TrialSums:
        """Return the sums with `weights` (trials, sums)."""
        return trial_sums(self.X, weights, method, rank)

    def powers(self, W: Array) -> Array:
        """Return the mean power over time of each trial after each filter: (trials, filters)."""
        return np.concatenate([power(part, W) for _, part in self.blocks()])

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Iterate over blocks of trials in double precision."""
        step = max(1, BLOCK_ENTRIES // (self.channels * self.samples))
        for first in range(0, self.count, step):
            rows = slice(first, min(first + step, self.count))
            yield rows, np.asarray(self.X[rows], np.float64)


def power(X: Array, W: Array) -> Array:
    """Return the mean power over time of filtered trials."""
    signals = np.matmul(W, X)
    return np.asarray(np.einsum("ikt,ikt->ik", signals, signals) / X.shape[2])


def rounding_power(X: Array, W: Array, eps: float) -> Array:
    """Return the power that rounding leaves where the channels cancel in a filter; smaller ones are random."""
    gross = np.sqrt(np.einsum("ict,ict->ic", X, X) / X.shape[2]) @ np.abs(W).T
    return np.asarray(np.maximum(max(EPS, 100 * eps**2) * gross**2, np.finfo(np.float64).tiny))


def array_of(X: Any) -> Any:
    """Return the data of MNE's epochs, and anything else as it is; MNE is not imported."""
    mne = sys.modules.get("mne")
    return X.get_data(copy=False) if mne is not None and isinstance(X, mne.BaseEpochs) else X


def three_axes(X: Any) -> Any:
    """Return X with the axes (trials, channels, samples); a table has one sample per trial."""
    X = X[:, :, None] if X.ndim == 2 else X
    if X.ndim != 3 or 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}; give a non-empty array (trials, channels, samples)")
    return X
