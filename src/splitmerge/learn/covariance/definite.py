"""Covariance matrices B factorised for solving and whitening, and what is done with a singular one.

`definite` returns a factorised B that also gives the eigenpairs of (MMᵀ, B) for a thin M: by a singular value
decomposition if B has a root, otherwise from a matrix of the size of MᵀM. `whitener` returns a matrix W with WᵀBW = I.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, get_lapack_funcs
from scipy.linalg.blas import dtrsm, dtrsv
from scipy.linalg.lapack import dpocon, dpotrf, dtrtri

from ...errors import NotPositiveDefinite
from ...problem.b_policy import BReport, positive_part, smallest_ridge
from ...typing import Array
from ..data.view import constant_threshold

EPS, TINY = float(np.finfo(np.float64).eps), float(np.finfo(np.float64).tiny)
# Relative to the largest value and the size of the matrix, values up to this are zero except for rounding.
ROUNDING_TOL = 10 * EPS
# A correlation matrix is singular if an eigenvalue is below this multiple of eps (and, to restrict it, of its size).
SINGULAR_EPS = 100
TOO_SMALL = "tol={:g} is too small for b_policy='ridge': the covariance stays singular; give a larger tol"


class Definite(ABC):
    """A positive definite B, or one restricted to its range; `report` tells what was done to a singular one."""

    report: BReport | None = None

    @abstractmethod
    def solve(self, V: Array) -> Array:
        """B⁻¹V for columns V."""

    def pairs(self, M: Array) -> tuple[Array, Array, Array]:
        """Return eigenvalues (descending) and B-orthonormal eigenvectors of (MMᵀ, B), and B⁻¹M.

        The columns of M are weighted means about their common mean, so that the rank is one less than their number.
        """
        K = self.solve(M)
        values, Q = np.linalg.eigh((M.T @ K + K.T @ M) / 2)
        values, Q = values[:0:-1], Q[:, :0:-1]
        kept = values > ROUNDING_TOL * M.shape[0] * values.max(initial=TINY)
        return values[kept], K @ (Q[:, kept] / np.sqrt(values[kept])), K

    def describe(self) -> str:
        """Return what was done to a singular covariance, in words; empty if it is positive definite."""
        if self.report is None:
            return ""
        if self.report.ridge:
            return f"The covariance is singular: {self.report.ridge:.3g} of each variance was added to its diagonal."
        dimensions = self.report.rank + self.report.dropped
        return f"The covariance is singular: {self.report.dropped} of {dimensions} dimensions were dropped."


class Rooted(Definite):
    """With a root: B⁻¹ = QQᵀ, or its pseudo-inverse, for Q with `rank` columns."""

    rank: int

    @abstractmethod
    def whiten(self, V: Array) -> Array:
        """QᵀV."""

    @abstractmethod
    def unwhiten(self, Y: Array) -> Array:
        """QY."""

    def solve(self, V: Array) -> Array:
        """QQᵀV."""
        return self.unwhiten(self.whiten(V))

    def pairs(self, M: Array) -> tuple[Array, Array, Array]:
        """Return the same by singular values of QᵀM, which keeps the relative accuracy of the small ones."""
        Y = self.whiten(M)
        left, singular, _ = np.linalg.svd(Y, full_matrices=False)
        left, singular = left[:, : M.shape[1] - 1], singular[: M.shape[1] - 1]
        kept = singular > ROUNDING_TOL * max(self.rank, 1) * singular.max(initial=TINY)
        return singular[kept] ** 2, self.unwhiten(left[:, kept]), self.unwhiten(Y)


class Cholesky(Rooted):
    """B = DUᵀUD with D² the diagonal of B: Q = D⁻¹U⁻¹."""

    def __init__(self, U: Array, scale: Array) -> None:
        self.U, self.scale, self.rank = U, scale, U.shape[0]

    def whiten(self, V: Array) -> Array:
        """U⁻ᵀD⁻¹V."""
        if V.shape[1] == 1:
            return np.asarray(dtrsv(self.U, V[:, 0] / self.scale, trans=1, overwrite_x=1))[:, None]
        return np.asarray(dtrsm(1.0, self.U, np.asfortranarray(V / self.scale[:, None]), trans_a=1, overwrite_b=1))

    def unwhiten(self, Y: Array) -> Array:
        """D⁻¹U⁻¹Y."""
        if Y.shape[1] == 1:
            return np.asarray(dtrsv(self.U, Y[:, 0]) / self.scale)[:, None]
        return np.asarray(dtrsm(1.0, self.U, np.asfortranarray(Y)) / self.scale[:, None])


class Restricted(Rooted):
    """Q as a matrix."""

    def __init__(self, Q: Array) -> None:
        self.Q, self.rank = Q, Q.shape[1]

    def whiten(self, V: Array) -> Array:
        """QᵀV."""
        return np.asarray(self.Q.T @ V)

    def unwhiten(self, Y: Array) -> Array:
        """QY."""
        return np.asarray(self.Q @ Y)


def definite(form: Callable[[], Array], floor: Array, policy: str, tol: float, advice: str) -> Rooted:
    """Factorise the dense B whose upper triangle `form` computes in Fortran order; it may be called twice.

    A column with a variance of at most `floor` is constant except for rounding. With its diagonal scaled to 1, B is
    positive definite if no eigenvalue is below tol². Otherwise "error" raises with `advice`, "ridge" adds tol² to the
    scaled diagonal, and "restrict" drops the eigenvectors of those eigenvalues.
    """
    R = form()
    scale = scales(R.diagonal(), floor)
    if (R.diagonal() > floor).all():
        factor = _cholesky(_correlations(R, scale), scale, tol)
        if factor is not None:
            return factor
        R = form()
    if policy == "error":
        raise NotPositiveDefinite(f"{advice}, or another b_policy")
    R = _correlations(R, scale)
    if policy == "ridge":
        R[np.diag_indices_from(R)] += tol**2
        ridged = _cholesky(R, scale, 0.0)
        if ridged is None:
            raise NotPositiveDefinite(TOO_SMALL.format(tol))
        ridged.report = BReport("ridge", tol**2, ridged.rank)
        return ridged
    values, V = eigh(R, lower=False, overwrite_a=True, check_finite=False)
    found = Restricted(positive_part(values, V, rank_threshold(tol, values.size)).whitening / scale[:, None])
    found.report = BReport("restrict", 0.0, found.rank, values.size - found.rank)
    return found


def scales(variances: Array, floor: Array) -> Array:
    """Return the standard deviations; 1 for a constant column."""
    return np.where(variances > floor, np.sqrt(np.maximum(variances, 0.0)), 1.0)


def rounding_variance(count: int, means: Array) -> Array:
    """Bound the computed variance of a constant column (Chan, Golub, LeVeque 1983); `means` has one row per group."""
    deviation = count * EPS * np.abs(means).max(axis=0)
    return np.asarray(np.minimum(deviation, np.sqrt(np.finfo(float).max)) ** 2)


def any_varies(variances: Array, floor: Array) -> bool:
    """Return whether any column is not constant; raise if a variance overflowed."""
    check_overflow(variances)
    return bool((variances > floor).any())


def check_overflow(variances: Array) -> None:
    """Raise if a variance overflowed."""
    if not np.isfinite(variances).all():
        raise ValueError("X has values whose squares overflow; rescale X")


def rank_threshold(tol: float, size: int) -> float:
    """Return the eigenvalue of a correlation matrix up to which it counts as zero: tol², but not below rounding."""
    return max(tol**2, size * EPS)


def _correlations(B: Array, scale: Array) -> Array:
    """Overwrite B by D⁻¹BD⁻¹."""
    B /= scale[:, None]
    B /= scale
    return B


def _cholesky(R: Array, scale: Array, tol: float) -> Cholesky | None:
    """Overwrite R by its Cholesky factor; None if its least eigenvalue may be below tol²."""
    functions: Any = get_lapack_funcs(("potrf", "pocon"), dtype=R.dtype)
    potrf, pocon = functions
    U, info = potrf(R, lower=0, clean=0, overwrite_a=1)
    # given the norm 1, pocon estimates 1/‖R⁻¹‖₁, a lower bound of the least eigenvalue
    if info > 0 or not pocon(U, 1.0)[0] > tol**2:
        return None
    return Cholesky(U, scale)


@dataclass(frozen=True, eq=False)
class Whitener:
    """W with WᵀBW = I, the estimated condition number of B with unit diagonal, and what was done to B."""

    W: Array
    condition: float
    ridge: float
    report: BReport | None


@dataclass(frozen=True)
class Sample:
    """The name of a view and its number of rows with positive weight, for error messages."""

    name: str
    rows: int


def varying(variances: Array, mean: Array, rows: int) -> Array:
    """Return which columns vary by more than rounding; `mean` has the units of the deviations."""
    return np.asarray(np.sqrt(np.maximum(variances, 0.0)) > constant_threshold(rows) * np.abs(mean))


def without_constants(C: Array, mean: Array, rows: int) -> Array:
    """Set the covariances of constant columns, which are rounding errors, to zero; `mean` has the units of C."""
    constant = ~varying(C.diagonal(), mean, rows)
    if constant.any():
        C = C.copy()
        C[constant] = 0
        C[:, constant] = 0
    return C


def whitener(C: Array, ridge: float, policy: str, sample: Sample) -> Whitener:
    """Return W for B = C + ridge I, by a Cholesky factorisation of B scaled to unit diagonal."""
    found = _whitened(C, ridge)
    if found is not None:
        W, condition = found
        return Whitener(W, condition, ridge, None if policy == "error" else BReport(policy, rank=len(C)))
    if policy == "error":
        raise singular(C.diagonal() + ridge, sample)
    return _ridged(C, ridge) if policy == "ridge" else _restricted(C, ridge, sample)


def why_singular(variances: Array, sample: Sample) -> str:
    """Return why the covariance of a view is singular, in words."""
    constant = np.flatnonzero(~(variances > 0))
    p, name = len(variances), sample.name
    if constant.size and sample.rows > 1:
        few = ", ".join(map(str, constant[:5])) + ", …" * (constant.size > 5)
        return f"{name} has {constant.size} constant column{'s' * (constant.size > 1)} ({few})"
    if p >= sample.rows:
        rows = f"{sample.rows} sample{'s' * (sample.rows > 1)}"
        return f"{name} has {p} columns (n_features = {p}) and only {rows} with positive weight"
    return f"columns of {name} are linearly dependent to working precision"


def singular(variances: Array, sample: Sample) -> NotPositiveDefinite:
    """Return the error that tells why the covariance of a view is singular."""
    return NotPositiveDefinite(
        f"{why_singular(variances, sample)}, so its covariance is singular; give a ridge > 0 (such as ridge=1e-3), "
        f"remove columns, or use b_policy='restrict'"
    )


def _whitened(C: Array, ridge: float) -> tuple[Array, float] | None:
    """Return W and the condition number, or None if B is singular to working precision."""
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
    reciprocal, _ = dpocon(R, float(np.abs(B).sum(axis=0).max()))
    if reciprocal <= SINGULAR_EPS * EPS:
        return None
    inverse, _ = dtrtri(R, lower=0)
    return s[:, None] * inverse, 1 / float(reciprocal)


def _ridged(C: Array, ridge: float) -> Whitener:
    """Add the smallest ridge that makes B positive definite."""
    size = float(C.diagonal().max(initial=0.0)) + ridge
    added, found = smallest_ridge(lambda more: _whitened(C, ridge + more), len(C), EPS, size)
    return Whitener(*found, ridge + added, BReport("ridge", added, len(C)))


def _restricted(C: Array, ridge: float, sample: Sample) -> Whitener:
    """Restrict B to its range."""
    variances = C.diagonal() + ridge
    varies = np.flatnonzero(variances > 0)
    found = _whitened(C[np.ix_(varies, varies)], ridge) if 0 < len(varies) < len(C) else None
    if found is not None:
        # only constant columns make B singular
        W = np.zeros((len(C), len(varies)))
        W[varies], condition = found
        return Whitener(W, condition, ridge, BReport("restrict", 0.0, len(varies), len(C) - len(varies)))
    s = np.where(variances > 0, 1 / np.sqrt(np.where(variances > 0, variances, 1.0)), 0.0)
    B = s[:, None] * C * s
    B.flat[:: len(B) + 1] += ridge * s**2
    values, Q = eigh(B, check_finite=False)
    part = positive_part(values, Q, SINGULAR_EPS * len(B) * EPS)
    if not part.rank:
        raise NotPositiveDefinite(f"{why_singular(variances, sample)}, so that it has no correlations; give other data")
    W = s[:, None] * part.whitening
    condition = float(part.values[-1] / part.values[0])
    return Whitener(np.asarray(W), condition, ridge, BReport("restrict", 0.0, part.rank, len(B) - part.rank))
