"""Covariances of groups of trials, regularised within the range of the data that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...typing import Array
from ..data.inputs import check_finite
from .space import Range, check_rank, range_of

ESTIMATED = ("ledoit_wolf", "oas")
METHODS = ("empirical", "diagonal_fixed", *ESTIMATED)
# The multiple of the mean power that "diagonal_fixed" adds to every direction.
DIAGONAL_FIXED = 0.1
# Limits of the largest magnitude in X; fourth powers overflow or underflow outside.
MIN_MAGNITUDE, MAX_MAGNITUDE = 1e-70, 1e70


def covariances(
    trials: Any,
    weights: Array,
    totals: Array,
    names: Sequence[str],
    *,
    reg: Any,
    rank: Any,
    each_trial: bool,
    norm_trace: bool = False,
) -> tuple[Array, Range]:
    """Return Σ vᵢ Cᵢ / Σ wᵢ for every column v of the `weights` (trials, columns), where `totals` are the Σ wᵢ.

    The first columns, which have `names`, span the range of the data. With `each_trial`, Cᵢ is the covariance of a
    trial, otherwise all samples are counted together; this makes a difference to the regularisation and to the number
    of degrees of freedom. A covariance is divided by its number of samples minus 1.
    """
    method = check_reg(reg)
    weights = weights / totals
    sums = trials.sums(weights)
    C, spanning = sums.moments, len(names)
    _check_magnitude(sums.largest, C)
    traces = np.trace(C, axis1=1, axis2=2)
    for name, trace in zip(names, traces, strict=False):
        if not trace > 0:
            raise ValueError(f"all trials of {name} are zero; leave them out of X and y")
    scales = traces[:spanning, None, None] if norm_trace else 1.0
    space = range_of((C[:spanning] / scales).sum(axis=0), check_rank(rank, trials.channels), trials.dtype)
    P, samples = space.projector, trials.samples * (np.ones_like(totals) if each_trial else totals)
    if each_trial and method in ESTIMATED:
        shrunk = trials.sums(weights, method, space.rank)
        C = shrunk.moments + shrunk.isotropic[:, None, None] * P
    else:
        C = np.array([regularised(*each, method, P, space.rank) for each in zip(C, samples, sums.fourth, strict=True)])
    C *= (samples / np.maximum(samples - 1, 1))[:, None, None]
    return (C / np.trace(C, axis1=1, axis2=2)[:, None, None] if norm_trace else C), space


def _check_magnitude(largest: float, moments: Array) -> None:
    check_finite(np.array(largest), np.zeros(()), "X")
    if largest != 0 and not MIN_MAGNITUDE < largest < MAX_MAGNITUDE:
        raise ValueError(f"the largest entry of X is {largest:g}: powers of it overflow or underflow; rescale X")
    check_finite(moments, np.zeros(()), "X")


def check_reg(reg: Any) -> str | float:
    """Return a method, or a number from 0 to 1; None is "empirical"."""
    if reg is None:
        return "empirical"
    if isinstance(reg, str) and reg in METHODS:
        return reg
    is_number = isinstance(reg, (int, float, np.integer, np.floating)) and not isinstance(reg, (bool, np.bool_))
    if is_number and 0 <= reg <= 1:
        return float(reg)
    raise ValueError(f"reg is {reg!r}; give None, a number from 0 to 1, or one of {', '.join(map(repr, METHODS))}")


def regularised(C: Array, samples: float, fourth: float, reg: str | float, projector: Array, rank: int) -> Array:
    """Return (1 − s) C + t (tr C / rank) P, with s = t given or estimated; "diagonal_fixed" has s = 0 and t = 0.1.

    s is estimated from the number of `samples` x and from `fourth`, the mean of ‖x‖⁴.
    """
    if reg == "empirical" or reg == 0:
        return C
    isotropic = float(np.trace(C)) / rank * projector
    if reg == "diagonal_fixed":
        return C + DIAGONAL_FIXED * isotropic
    s = estimated_shrinkage(reg, C, samples, fourth, rank) if isinstance(reg, str) else reg
    return (1 - s) * C + s * isotropic


def estimated_shrinkage(method: str, C: Array, samples: float, fourth: float, rank: int) -> float:
    """Return s of Ledoit and Wolf (2004) or of Chen et al. (2010, "oas") for second moments C of this rank."""
    if rank < 2:
        return 0.0
    mean, square = float(np.trace(C)) / rank, float(np.sum(C**2)) / rank
    # the mean squared distance from the target
    distance = square - mean**2
    if method == "oas":
        above, below = square / rank + mean**2, (samples + 1) * distance / rank
        return min(above / below, 1.0) if below > 0 else 1.0
    variance = (fourth / rank - square) / samples
    return min(variance / distance, 1.0) if variance > 0 and distance > 0 else 0.0
