"""Approximate joint diagonalisation of positive definite matrices by Pham's criterion.

f(V) = mean_k log det diag(V Cₖ Vᵀ) − log det(V Cₖ Vᵀ) is zero if V diagonalises all Cₖ, otherwise positive. It is
minimised by relative quasi-Newton steps V ← (I + E)V (Ablin, Cardoso and Gramfort 2019): near the solution the Hessian
of f couples only Eᵢⱼ and Eⱼᵢ, so that all pairs (i, j) are updated at once.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...typing import Array

# The largest entry of the relative gradient at which the iteration stops, and that is accepted after all steps: sources
# with nearly proportional powers take many steps, and their filters are hardly determined.
GRADIENT_TOL, ACCEPTED_GRADIENT = 1e-10, 1e-4
MAX_STEPS, MAX_HALVINGS = 1000, 30
# The smallest curvature of a pair of unknowns; smaller ones are raised to it.
MIN_CURVATURE = 1e-4
# The power, relative to that of all matrices together, that a matrix has at least in each direction.
MIN_SHARE = 1e-10
# Rounding error of the criterion, for each row of V.
ROUNDING = 1e-13


def joint_diagonaliser(C: Array) -> Array:
    """Return V with VCₖVᵀ nearly diagonal for the matrices C (matrices, n, n), of which the sum is positive definite.

    >>> mixing = np.array([[1.0, 0.5], [0.2, 1.0]])
    >>> C = np.array([mixing @ np.diag(powers) @ mixing.T for powers in ([1, 3], [2, 1], [1, 1])])
    >>> V = joint_diagonaliser(C)
    >>> bool(abs((V @ C @ V.T)[:, 0, 1]).max() < 1e-8)
    True
    """
    whitening = np.linalg.inv(np.linalg.cholesky(C.sum(axis=0)))
    n = C.shape[1]
    # a singular matrix would make the criterion unbounded
    D = whitening @ C @ whitening.T + MIN_SHARE * np.eye(n)
    # the start does not depend on coordinates, and is the solution for matrices that commute
    V = np.linalg.eigh(np.tensordot(np.arange(len(C)), D, axes=1))[1].T
    D = V @ D @ V.T
    G = _gradient(D)
    for _ in range(MAX_STEPS):
        if np.abs(G).max() <= max(GRADIENT_TOL, _attainable(D)):
            break
        E = _line_search(D, _newton_step(D, G))
        if E is None:
            break
        M = np.eye(n) + E
        V, D = M @ V, M @ D @ M.T
        G = _gradient(D)
    if np.abs(G).max() > ACCEPTED_GRADIENT:
        warnings.warn(
            f"the joint diagonalisation of the classes did not converge (gradient {np.abs(G).max():.1g}); use reg or "
            f"a smaller rank if classes have few samples",
            ConvergenceWarning,
            stacklevel=2,
        )
    return V @ whitening


def _line_search(D: Array, E: Array) -> Array | None:
    """Return the first of E, E/2, E/4, … that does not increase the criterion, or None."""
    identity, value = np.eye(E.shape[0]), _log_powers(D)
    for _ in range(MAX_HALVINGS):
        M = identity + E
        log_determinant = float(np.linalg.slogdet(M)[1])
        # rounding hides the descent of the last steps, which the gradient still needs
        if _log_powers(M @ D @ M.T) - 2 * log_determinant <= value + E.shape[0] * ROUNDING:
            return E
        E = E / 2
    return None


def _log_powers(D: Array) -> float:
    """The part of f that depends on the diagonals."""
    return float(np.mean(np.log(D.diagonal(axis1=1, axis2=2)), axis=0).sum())


def _gradient(D: Array) -> Array:
    """Half the derivative of f by E at E = 0; its diagonal is zero."""
    powers = D.diagonal(axis1=1, axis2=2)
    return np.asarray(np.mean(D / powers[:, :, None], axis=0) - np.eye(D.shape[1]))


def _attainable(D: Array) -> float:
    """The rounding error of the gradient, which the smallest powers determine."""
    n = D.shape[1]
    return float(10 * n * np.finfo(np.float64).eps / D.diagonal(axis1=1, axis2=2).min())


def _newton_step(D: Array, G: Array) -> Array:
    """Solve (Hᵢⱼ 1; 1 Hⱼᵢ)(Eᵢⱼ, Eⱼᵢ) = −(Gᵢⱼ, Gⱼᵢ) for all pairs, where Hᵢⱼ = mean_k Dₖⱼⱼ / Dₖᵢᵢ."""
    powers = D.diagonal(axis1=1, axis2=2)
    H = np.mean(powers[:, None, :] / powers[:, :, None], axis=0)
    smallest = (H + H.T - np.hypot(H - H.T, 2)) / 2
    H += np.maximum(MIN_CURVATURE - smallest, 0)
    E = -(H.T * G - G.T) / (H * H.T - 1)
    np.fill_diagonal(E, 0)
    return np.asarray(E)
