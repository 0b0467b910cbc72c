"""Second moments of trials × channels × samples, averaged over the trials of a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...typing import Array


@dataclass(frozen=True)
class Moments:
    """Sums over trials with weights w and second moments S: Σw, ΣwS and Σw‖S‖²; they add up."""

    weight: float
    total: Array
    squares: float

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.weight + other.weight, self.total + other.total, self.squares + other.squares)

    @property
    def mean(self) -> Array:
        """The weighted mean of S."""
        return self.total / self.weight

    def shrunk(self, shrinkage: float | str, projector: Array, rank: int) -> Array:
        """(1 − s) S̄ + s (tr S̄ / rank) P: towards equal power in every direction that the data have."""
        mean = self.mean
        target = np.trace(mean) / rank * projector
        s = self._ledoit_wolf(target) if shrinkage == "auto" else float(shrinkage)
        return mean if s == 0 else (1 - s) * mean + s * target

    def _ledoit_wolf(self, target: Array) -> float:
        """Ledoit and Wolf's s: the variance of S̄ over its distance from the target, a trial being one observation."""
        away = float(np.sum((self.mean - target) ** 2))
        scatter = self.squares / self.weight - float(np.sum(self.mean**2))
        return min(1.0, max(scatter, 0.0) / (self.weight * away)) if away > 0 else 1.0


def moments(X: Array, weights: Array, *, norm_trace: bool, center: bool) -> Moments:
    """Of the trials that have weight, one after the other: X may be on disk, and the moments of all would not fit."""
    channels = X.shape[1]
    total, squares = np.zeros((channels, channels)), 0.0
    for i in np.flatnonzero(weights):
        weight, S = float(weights[i]), moment(X[i], center=center)
        trace = float(np.trace(S))
        # a silent trial has no direction to tell of
        if norm_trace and trace > 0:
            S /= trace
        total += weight * S
        squares += weight * float(np.sum(S**2))
    return Moments(float(np.sum(weights)), total, squares)


def moment(trial: Array, *, center: bool) -> Array:
    """The mean of x xᵀ over the samples of one trial, without its mean over time if `center`."""
    Z = centred(np.asarray(trial, np.float64), center=center)
    return np.asarray(Z @ Z.T / Z.shape[1])


def centred(X: Array, *, center: bool) -> Array:
    """X without its means over time, or as it is."""
    return X - X.mean(axis=-1, keepdims=True) if center else X
