"""The reference: all finite eigenvalues of a pair, with their vectors and the uncertainty of every value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from .precise import TINY, Array, Indefinite, double, extended, hermitian, jacobi, largest, norm, pair, power_of_two

# The largest pair for which the reference is computed in extended precision.
MAX_EXTENDED, MAX_EXTENDED_COMPLEX = 64, 44
# Rounding that a backward-stable solver is entitled to, in units of n·eps·(‖A‖ + |λ|‖B‖).
ROUNDING = 10.0


@dataclass
class Reference:
    """Eigenvalues (ascending), B-orthonormal eigenvectors and the pair they belong to, in extended precision."""

    values: Array
    vectors: Array
    errors: Array
    A: Array
    B: Array
    eps: float
    kappa: float
    projector: Array | None = None

    @property
    def n(self) -> int:
        """The order of the pair."""
        return len(self.A)

    def entitled(self, values: Any, squares: Any) -> Any:
        """The error that rounding explains for values whose vectors have such ‖u‖²/(uᴴBu)."""
        return ROUNDING * self.n * self.eps * (self.norm_A + abs(values) * self.norm_B) * squares

    def __post_init__(self) -> None:
        self.norm_A, self.norm_B = norm(self.A), norm(self.B)
        squares = (abs(self.vectors) ** 2).sum(axis=0)
        self.allowance = self.entitled(self.values, squares) + self.errors


def peer(reference: Reference) -> str:
    """How well LAPACK does on the pair: its error in units of what is allowed, in a few words."""
    try:
        values = scipy.linalg.eigvalsh(double(reference.A), double(reference.B))
        off = abs(values - reference.values) / np.maximum(reference.allowance, TINY)
    except (ValueError, scipy.linalg.LinAlgError):
        return "LAPACK refuses the pair"
    return f"κ(B) = {reference.kappa:.0e}, and eigh is off by {float(off.max(initial=0)):.1e} times what is allowed"


def condition(B: Array) -> float:
    """κ(B) in the given scaling; infinite for a B that is not positive definite to double precision."""
    values = scipy.linalg.eigvalsh(double(B / power_of_two(largest(B))))
    return float(values[-1] / values[0]) if values[0] > 0 else np.inf


def _by_lapack(A: Array, B: Array) -> tuple[Array, Array, Array]:
    """The pair in double precision, which is enough where B is well conditioned."""
    a, b = power_of_two(largest(A)), power_of_two(largest(B))
    try:
        values, U = scipy.linalg.eigh(double(A / a), double(B / b))
    except scipy.linalg.LinAlgError:
        raise Indefinite("by LAPACK") from None
    values, U = extended(values), extended(U)
    square = (abs(U) ** 2).sum(axis=0).max()
    errors = 2.2e-16 * len(A) * (norm(A / a) + abs(values) * norm(B / b)) * square
    return values * (a / b), U / np.sqrt(b), errors * (a / b)


def reference(A: Array, B: Array | None, eps: float) -> Reference:
    """The eigenvalues of a pair; `Indefinite` if B is not positive definite."""
    A = extended(A)
    B = np.eye(len(A), dtype=np.longdouble) if B is None else extended(B)
    A, B = hermitian(A), hermitian(B)
    kappa = condition(B)
    limit = MAX_EXTENDED_COMPLEX if np.iscomplexobj(A) or np.iscomplexobj(B) else MAX_EXTENDED
    solver = pair if len(A) <= limit else _by_lapack
    return Reference(*solver(A, B), A, B, eps, kappa)


def _range_and_null(B: Array, rank: int) -> tuple[Array, Array]:
    """Orthonormal bases of the range and of the null space of a semidefinite B of known rank."""
    _, W = jacobi(B)
    return W[:, len(B) - rank :], W[:, : len(B) - rank]


def condensed(A: Array, B: Array, rank: int, eps: float) -> Reference | None:
    """The finite eigenvalues for a singular B, by the Schur complement; None if the pencil is (nearly) singular."""
    A, B = extended(A), extended(B)
    R, N = _range_and_null(B, rank)
    inner, W = jacobi(hermitian(N.conj().T @ A @ N))
    if abs(inner).min() <= 1e-12 * norm(A) or rank == 0:
        return None
    N = N @ W
    coupling = N.conj().T @ A @ R
    Y = R - N @ (coupling / inner[:, None])
    values, V, errors = pair(hermitian(Y.conj().T @ A @ Y), hermitian(R.conj().T @ B @ R))
    return Reference(values, Y @ V, errors, A, B, eps, np.inf)


def ridged(A: Array, B: Array, ridge: float, eps: float) -> Reference:
    """The pair (A, B + εI), which `b_policy="ridge"` promises."""
    B = extended(B)
    return reference(A, B + np.longdouble(ridge) * np.eye(len(B)), eps)


__all__ = ["Indefinite", "Reference", "condensed", "condition", "peer", "reference", "ridged"]
