"""Columns made uncorrelated: W with WᵀBW = I for the covariance B of a view, and what to do where there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dpocon, dpotrf, dtrtri

from ...errors import NotPositiveDefinite
from ...problem.b_policy import POLICIES, BReport
from ...typing import Array
from ..data.view import rounded_off

EPS = float(np.finfo(np.float64).eps)
# Beside columns of unit variance, so many times eps and their number is what rounding leaves of nothing.
NOTHING = 100


@dataclass(frozen=True, eq=False)
class Whitener:
    """W, the condition number of B with its columns scaled (a guess within an order), and what was done to B."""

    W: Array
    condition: float
    ridge: float
    report: BReport | None


@dataclass(frozen=True)
class Sample:
    """What an error message tells of a view: its name, and how many rows counted."""

    name: str
    rows: int


def check_policy(policy: str) -> None:
    """Is it one that `solve` knows?"""
    if policy not in POLICIES:
        raise ValueError(f"b_policy is {policy!r}; give one of {', '.join(map(repr, POLICIES))}")


def without_constants(C: Array, mean: Array, rows: int) -> Array:
    """The covariances with what rounding left of constant columns made zero; `mean` in units of the columns of C."""
    constant = np.sqrt(np.maximum(C.diagonal(), 0.0)) <= rounded_off(rows) * np.abs(mean)
    if constant.any():
        C = C.copy()
        C[constant] = 0
        C[:, constant] = 0
    return C


def whitener(C: Array, ridge: float, policy: str, sample: Sample) -> Whitener:
    """W for B = C + ridge I, by a Cholesky factor of B with its columns scaled to unit variance."""
    found = _by_cholesky(C, ridge)
    if found is not None:
        W, condition = found
        return Whitener(W, condition, ridge, None if policy == "error" else BReport(policy, rank=len(C)))
    if policy == "error":
        raise singular(C.diagonal() + ridge, sample)
    return _ridged(C, ridge) if policy == "ridge" else _restricted(C, ridge, sample)


def singular(variances: Array, sample: Sample) -> NotPositiveDefinite:
    """The error that says why the covariance of a view is singular."""
    constant = np.flatnonzero(~(variances > 0))
    p, name = len(variances), sample.name
    if constant.size and sample.rows > 1:
        few = ", ".join(map(str, constant[:5])) + ", …" * (constant.size > 5)
        why = f"{name} has {constant.size} constant column{'s' * (constant.size > 1)} ({few})"
    elif p >= sample.rows:
        rows = f"{sample.rows} sample{'s' * (sample.rows > 1)}"
        why = f"{name} has {p} columns (n_features = {p}) and only {rows} with weight"
    else:
        why = f"columns of {name} depend linearly on others to working precision"
    return NotPositiveDefinite(
        f"{why}, so its covariance is singular; give a ridge > 0 (such as ridge=1e-3), remove columns, or take "
        f"b_policy='restrict'"
    )


def _by_cholesky(C: Array, ridge: float) -> tuple[Array, float] | None:
    """W and the condition number, or None where B is singular to working precision."""
    B = C.copy()
    B.flat[:: len(B) + 1] += ridge
    variances = B.diagonal()
    if not (variances > 0).all():
        return None
    s = 1 / np.sqrt(variances)
    B *= s
    B *= s[:, None]
    R, failed = dpotrf(B, lower=0, clean=1)
    if failed:
        return None
    share, _ = dpocon(R, float(np.abs(B).sum(axis=0).max()))
    if share <= NOTHING * EPS:
        return None
    inverse, _ = dtrtri(R, lower=0)
    return s[:, None] * inverse, 1 / float(share)


def _ridged(C: Array, ridge: float) -> Whitener:
    """B + εI with the first ε = 10^j √p eps max|B|, j = 2, 3, …, that makes it positive definite."""
    size = float(C.diagonal().max(initial=0.0)) + ridge
    more = 100 * len(C) ** 0.5 * EPS * (size if size > 0 else 1.0)
    while (found := _by_cholesky(C, ridge + more)) is None:
        more *= 10
    return Whitener(*found, ridge + more, BReport("ridge", more, len(C)))


def _restricted(C: Array, ridge: float, sample: Sample) -> Whitener:
    """The range of B only."""
    variances = C.diagonal() + ridge
    s = np.where(variances > 0, 1 / np.sqrt(np.where(variances > 0, variances, 1.0)), 0.0)
    B = s[:, None] * C * s
    B.flat[:: len(B) + 1] += ridge * s**2
    values, Q = eigh(B, check_finite=False)
    keep = values > NOTHING * len(B) * EPS
    if not keep.any():
        raise NotPositiveDefinite(f"{sample.name} does not vary at all; there is nothing to correlate with")
    W = s[:, None] * (Q[:, keep] / np.sqrt(values[keep]))
    rank = int(keep.sum())
    condition = float(values[-1] / values[keep][0])
    return Whitener(np.asarray(W), condition, ridge, BReport("restrict", 0.0, rank, len(B) - rank))
