"""A covariance B in the form in which it is cheapest to solve with, and the pairs of (MMᵀ, B) for a thin M.

Forms with a root of B have them from a singular value decomposition; the others from a matrix as small as MᵀM.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh, get_lapack_funcs
from scipy.linalg.blas import dtrsm, dtrsv

from ...errors import NotPositiveDefinite
from ...problem.b_policy import POLICIES
from ...typing import Array

# A value of a matrix of size one is zero to rounding up to this.
ROUNDING, TINY = 10 * float(np.finfo(float).eps), float(np.finfo(float).tiny)
TOO_SMALL = "tol={:g} is too small for b_policy='ridge'; give a larger one"
RIDGED = "The covariance is singular: {:.3g} of each variance was added to its diagonal."


class Definite(ABC):
    """B, positive definite at least on what is left of it; `story` says what was done to it."""

    story: str = ""

    @abstractmethod
    def solve(self, V: Array) -> Array:
        """B⁻¹V for columns V."""

    def pairs(self, M: Array) -> tuple[Array, Array, Array]:
        """Values (descending), B-orthonormal vectors and B⁻¹M, for the pair (MMᵀ, B).

        The columns of M are weighted means about their common mean, so that the rank is one less than their number.
        """
        K = self.solve(M)
        values, Q = np.linalg.eigh((M.T @ K + K.T @ M) / 2)
        values, Q = values[:0:-1], Q[:, :0:-1]
        kept = values > ROUNDING * M.shape[0] * values.max(initial=TINY)
        return values[kept], K @ (Q[:, kept] / np.sqrt(values[kept])), K


class Rooted(Definite):
    """With a root: B⁻¹ = QQᵀ, or a pseudo-inverse of it, for Q with `rank` columns."""

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
        """As above, by singular values: the small ones are as accurate as the large."""
        Y = self.whiten(M)
        left, singular, _ = np.linalg.svd(Y, full_matrices=False)
        left, singular = left[:, : M.shape[1] - 1], singular[: M.shape[1] - 1]
        kept = singular > ROUNDING * max(self.rank, 1) * singular.max(initial=TINY)
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
    """Q is there as a matrix."""

    def __init__(self, Q: Array) -> None:
        self.Q, self.rank = Q, Q.shape[1]

    def whiten(self, V: Array) -> Array:
        """QᵀV."""
        return np.asarray(self.Q.T @ V)

    def unwhiten(self, Y: Array) -> Array:
        """QY."""
        return np.asarray(self.Q @ Y)


def definite(form: Callable[[], Array], floor: Array, policy: str, tol: float, advice: str) -> Rooted:
    """A form of the dense B whose upper triangle `form` makes, in Fortran order, as often as it is called.

    `floor` has the variances up to which a column is a constant with rounding errors.

    In units in which its diagonal is 1, B counts as definite when no eigenvalue is below tol². Otherwise the policy
    decides: "error"; "ridge", tol² is added in those units; "restrict", the directions of those eigenvalues go.
    """
    R = form()
    scale = scales(R.diagonal(), floor)
    if (R.diagonal() > floor).all():
        factor = _cholesky(_correlations(R, scale), scale, tol)
        if factor is not None:
            return factor
        R = form()
    if policy == "error":
        raise NotPositiveDefinite(f"{advice}; or take another b_policy")
    R = _correlations(R, scale)
    if policy == "ridge":
        R[np.diag_indices_from(R)] += tol**2
        ridged = _cholesky(R, scale, 0.0)
        if ridged is None:
            raise NotPositiveDefinite(TOO_SMALL.format(tol))
        ridged.story = RIDGED.format(tol**2)
        return ridged
    values, V = eigh(R, lower=False, overwrite_a=True, check_finite=False)
    kept = values > threshold(tol, values.size)
    found = Restricted(V[:, kept] / np.sqrt(values[kept]) / scale[:, None])
    found.story = f"The covariance is singular: {values.size - found.rank} of {values.size} dimensions were left out."
    return found


def scales(variances: Array, floor: Array) -> Array:
    """Deviations to divide by; a constant column stays as it is."""
    return np.where(variances > floor, np.sqrt(np.maximum(variances, 0.0)), 1.0)


def rounding(count: int, means: Array) -> Array:
    """The variance that rounding may give a constant column (Chan, Golub, LeVeque); `means` has a row a group."""
    deviation = count * np.finfo(float).eps * np.abs(means).max(axis=0)
    return np.asarray(np.minimum(deviation, np.sqrt(np.finfo(float).max)) ** 2)


def vary(variances: Array, floor: Array) -> bool:
    """Is any column other than constant? They must be finite."""
    if not np.isfinite(variances).all():
        raise ValueError("X has numbers whose squares overflow; scale it")
    return bool((variances > floor).any())


def threshold(tol: float, size: int) -> float:
    """Eigenvalues of a matrix of correlations up to this are zero: tol², or what rounding makes of zero."""
    return max(tol**2, size * float(np.finfo(float).eps))


def check_policy(policy: Any) -> str:
    """One of those that the library knows."""
    if policy not in POLICIES:
        raise ValueError(f"b_policy is {policy!r}; give one of {', '.join(map(repr, POLICIES))}")
    return str(policy)


def _correlations(B: Array, scale: Array) -> Array:
    """D⁻¹BD⁻¹ in place of B."""
    B /= scale[:, None]
    B /= scale
    return B


def _cholesky(R: Array, scale: Array, tol: float) -> Cholesky | None:
    """The factor of R in place of it, or None where the least eigenvalue may be below tol²."""
    functions: Any = get_lapack_funcs(("potrf", "pocon"), dtype=R.dtype)
    potrf, pocon = functions
    U, info = potrf(R, lower=0, clean=0, overwrite_a=1)
    # with a norm of 1 the estimate is that of 1/‖R⁻¹‖₁, which no eigenvalue is below
    if info > 0 or not pocon(U, 1.0)[0] > tol**2:
        return None
    return Cholesky(U, scale)
