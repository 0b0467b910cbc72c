"""Inverse iteration in the user's coordinates, for pairs that only an equilibrated pair determines to rounding.

A decomposition of (DAD, DBD) is exact up to rounding of its largest entries. Where D spans orders of magnitude, A
itself may have much smaller ones, and determines some pairs better.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import get_lapack_funcs

from ..linalg.reductions import column_dots, gram
from ..methods.setup import Setup
from ..problem.operator import Operator, scaled_rows_and_columns
from ..sparse_direct.backends.superlu import pivoted_lu
from ..typing import Array
from .residuals import Pairs, measured_columns

# Steps of Rayleigh quotient iteration, and the multiply–adds that dense factorisations may take in all.
STEPS, MAX_OPERATIONS = 6, 1e9
# Inner products of vectors that one step of orthogonalisation removes.
MAX_OVERLAP = 1e-6


def sharpened(setup: Setup, pairs: Pairs, tol: float) -> Pairs:
    """The pairs, with those replaced whose residuals in the user's coordinates miss `tol` and rounding of A and B.

    As long as others of the equilibrated pair are above rounding, an iteration may improve them all.
    """
    products, pencil = setup.given_pair, setup.given_pair.pencil
    allowed = np.maximum(tol * pairs.sizes[0], pairs.floors[0])
    missed = pairs.norms[0] > allowed
    poor = np.flatnonzero(missed)
    if poor.size == 0 or pencil.scaling is None or not pencil.has_entries:
        return pairs
    if (pairs.norms[-1] > pairs.floors[-1])[missed].any():
        return pairs
    if pencil.dense and poor.size * products.n**3 > MAX_OPERATIONS:
        return pairs
    assert pencil.B is not None
    d = pencil.scaling.astype(np.float64)[:, None]
    with np.errstate(all="ignore"):
        X = _iterated(_user_matrix(pencil.A, d[:, 0]), _user_matrix(pencil.B, d[:, 0]), d * pairs.vectors, poor) / d
        X /= np.sqrt(column_dots(X, products.monitoring.B_in_double(X)))
    overlaps = gram(X, products.monitoring.B_in_double(X)) - np.eye(X.shape[1])
    if not np.abs(overlaps).max() <= MAX_OVERLAP:
        # two have become one, or a vector has overflowed
        return pairs
    better = measured_columns(products, X - X @ (overlaps / 2), setup.inverse)
    better.floors, better.gaps, better.spare = pairs.floors, pairs.gaps, pairs.spare
    better.projected, better.order = pairs.projected, pairs.order
    # together or not at all, as they are orthogonal to each other
    limits = np.maximum(allowed, pairs.norms[0]), np.maximum(pairs.floors[-1], pairs.norms[-1])
    worse = (better.norms[0] > limits[0]) | (better.norms[-1] > limits[1])
    # Rayleigh quotient iteration may converge to an eigenvalue far away
    moved = np.abs(better.values - pairs.values) > pairs.deltas + better.deltas
    if worse.any() or moved.any():
        return pairs
    rank = np.argsort(np.argsort(pairs.values))
    return better.ordered(lambda _: rank)


def _user_matrix(M: Operator, d: Array) -> Any:
    """The entries before they were equilibrated, in the same units, in double precision."""
    if M.kind == "sparse":
        return sp.csc_array(scaled_rows_and_columns(M.matrix, 1 / d))
    return M.matrix / d / d[:, None]


def _iterated(A: Any, B: Any, X: Array, poor: Array) -> Array:
    """The columns X, those that are `poor` after Rayleigh quotient iteration in the complement of the others."""
    X = X / np.sqrt(column_dots(X, B @ X))
    settled = np.setdiff1d(np.arange(X.shape[1]), poor).tolist()
    for i in poor.tolist():
        x, known = X[:, i], X[:, settled]
        for _ in range(STEPS):
            value = float((x.conj() @ (A @ x)).real)
            K = A - value * B
            solve = _sparse_solve(K) if sp.issparse(K) else _dense_solve(K)
            if solve is None:
                break
            y = solve(B @ x)
            y = y - known @ (known.conj().T @ (B @ y))
            x = y / math.sqrt(float((y.conj() @ (B @ y)).real))
        X[:, i] = x
        settled.append(i)
    return X


def _sparse_solve(K: Any) -> Callable[[Array], Array] | None:
    try:
        lu = pivoted_lu(K)
    except ZeroDivisionError:
        return None
    return lambda b: np.asarray(lu.solve(b))


def _dense_solve(K: Array) -> Callable[[Array], Array] | None:
    functions: Any = get_lapack_funcs(("getrf", "getrs"), (K,))
    lu, pivots, info = functions[0](K)
    return None if info else lambda b: np.asarray(functions[1](lu, pivots, b)[0])
