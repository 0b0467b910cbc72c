"""Inverse iteration in the user's coordinates, for pairs that only an equilibrated pair determines to rounding.

A decomposition of (DAD, DBD) is exact up to rounding of its largest entries. Where D spans orders of magnitude, A
itself may have much smaller ones, and determines some pairs better.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import get_lapack_funcs

from ..linalg.reductions import column_dots, column_norms, gram
from ..methods.setup import Setup
from ..problem.operator import Operator, scaled_rows_and_columns
from ..problem.pencil import Pencil
from ..sparse_direct.backends.superlu import pivoted_lu
from ..typing import Array
from .residuals import Pairs, measured_columns

# Steps of Rayleigh quotient iteration, the multiply–adds that one factorisation for each pair may take in all, and
# those of a sparse one for each of its rows and each unknown, about.
STEPS, MAX_OPERATIONS, FACTORISED_ROW_OPERATIONS = 6, 1e9, 10
# What orthogonalisation may add to residuals, as fractions of the tolerance: the first one that leaves them within it.
TOLERATED = (1.0, 0.3)
# Inner products of vectors that one step of orthogonalisation removes.
MAX_OVERLAP = 1e-6


def sharpened(setup: Setup, pairs: Pairs, tol: float, *, last: bool = False) -> Pairs:
    """The pairs, with those replaced whose residuals in the user's coordinates miss `tol` and rounding of A and B.

    As long as some are above rounding in the equilibrated coordinates, too, an iteration may improve them all; after
    the `last` one, those that miss it in any coordinates are replaced.
    """
    products, pencil = setup.given_pair, setup.given_pair.pencil
    allowed = np.maximum(tol * pairs.sizes, pairs.floors)
    poor = _poor(pencil, pairs, allowed, last=last)
    if poor.size == 0:
        return pairs
    assert pencil.B is not None
    d = np.ones((products.n, 1)) if pencil.scaling is None else pencil.scaling.astype(np.float64)[:, None]
    user = _UserPair.of(_user_matrix(pencil.A, d[:, 0]), _user_matrix(pencil.B, d[:, 0]))
    with np.errstate(all="ignore"):
        X = user.iterated(d * pairs.vectors, poor)
    for share in TOLERATED:
        with np.errstate(all="ignore"):
            vectors = user.orthonormal(X, poor, share * tol) / d
        better = _better(setup, pairs, vectors, allowed)
        if better is not None:
            return _placed(better, pairs, last=last)
    return pairs


def _better(setup: Setup, pairs: Pairs, vectors: Array, allowed: Array) -> Pairs | None:
    """The pairs of these vectors; None where one is worse or has gone, as they are orthogonal to each other."""
    if not np.isfinite(vectors).all():
        return None
    better = measured_columns(setup.given_pair, vectors, setup.inverse)
    worse = better.norms > np.maximum(allowed, pairs.norms)
    # Rayleigh quotient iteration may converge to an eigenvalue far away
    moved = np.abs(better.values - pairs.values) > pairs.deltas + better.deltas
    return None if worse.any() or moved.any() else better


def _placed(better: Pairs, pairs: Pairs, *, last: bool) -> Pairs:
    """The better pairs in the order of the others, with what is known of those."""
    better.floors, better.gaps, better.spare = pairs.floors, pairs.gaps, pairs.spare
    better.projected, better.order = pairs.projected, pairs.order
    if last:
        # which eigenvalues these are is known no better than before
        better.errors, better.offsets, better.noise = pairs.errors, pairs.offsets, pairs.noise
        shifts = np.abs(better.values - pairs.values)
        better.deltas, better.estimates = pairs.deltas + shifts, pairs.estimates + shifts
    rank = np.argsort(np.argsort(pairs.values))
    return better.ordered(lambda _: rank)


def _poor(pencil: Pencil, pairs: Pairs, allowed: Array, *, last: bool) -> Array:
    """The places of the pairs to be replaced; none where that cannot be done, costs too much or is too early."""
    nothing = np.zeros(0, dtype=int)
    if pencil.B is None or not pencil.has_entries:
        return nothing
    missed = pairs.norms > allowed
    above = pairs.norms > pairs.floors
    poor = np.flatnonzero(missed.any(axis=0) if last else missed[0])
    early = pencil.scaling is None or bool(above[-1][poor].any())
    each = pencil.n**3 if pencil.dense else FACTORISED_ROW_OPERATIONS * pencil.n**2 if last else 0
    return nothing if poor.size * each > MAX_OPERATIONS or (early and not last) else poor


class _UserPair(NamedTuple):
    """A and B in the user's coordinates, and their 1-norms."""

    A: Any
    B: Any
    A_norm: float
    B_norm: float

    @classmethod
    def of(cls, A: Any, B: Any) -> _UserPair:
        """The pair with its norms."""
        return cls(A, B, float(abs(A).sum(axis=0).max()), float(abs(B).sum(axis=0).max()))

    def iterated(self, X: Array, poor: Array) -> Array:
        """The columns X, those that are `poor` after Rayleigh quotient iteration."""
        X = X / np.sqrt(column_dots(X, self.B @ X))
        settled = np.ones(X.shape[1], dtype=bool)
        settled[poor] = False
        for i in poor.tolist():
            X[:, i] = self._column(X[:, i], X[:, settled])
            settled[i] = True
        return X

    def orthonormal(self, X: Array, exact: Array, tol: float) -> Array:
        """The columns without what they have of each other, as far as that does not spoil them; NaN if two are one.

        It is the other columns that are not orthogonal to the `exact` ones; their residuals may be as large as `tol`
        allows, those of the latter as rounding does.
        """
        BX = self.B @ X
        X, BX = (M / np.sqrt(column_dots(X, BX)) for M in (X, BX))
        overlaps = gram(X, BX) - np.eye(X.shape[1])
        if not np.abs(overlaps).max() <= MAX_OVERLAP:
            return np.full_like(X, math.nan)
        values, lengths, is_exact = column_dots(X, self.A @ X), column_norms(X), np.zeros(X.shape[1], dtype=bool)
        is_exact[exact] = True
        tolerated = np.where(is_exact, 0.0, tol * np.abs(values) * column_norms(BX) / lengths)
        for i, value in enumerate(values.tolist()):
            share = np.where(is_exact == is_exact[i], 0.5, np.where(is_exact, 1.0, 0.0))
            multiples = share * overlaps[:, i]
            harmless = self._is_harmless(multiples / lengths[i], X, values, value, float(tolerated[i]))
            overlaps[:, i] = np.where(harmless, multiples, 0.0)
        return np.asarray(X - X @ overlaps)

    def _column(self, x: Array, known: Array) -> Array:
        """x after Rayleigh quotient iteration, in the complement of those of the `known` columns that are near.

        In the last step only rounding is removed, as the columns may be less accurate than x.
        """
        values, eps = column_dots(known, self.A @ known), np.finfo(float).eps
        rounding = eps * self.B_norm * column_norms(known)
        for step in range(STEPS):
            value = float((x.conj() @ (self.A @ x)).real)
            solve = self._solve_next_to(value, float((x.conj() @ x).real))
            if solve is None:
                break
            y = solve(self.B @ x)
            products = known.conj().T @ (self.B @ y)
            multiples = rounding if step < STEPS - 1 else products / np.linalg.norm(y)
            y = y - known @ np.where(self._is_harmless(multiples, known, values, value), products, 0.0)
            x = y / math.sqrt(float((y.conj() @ (self.B @ y)).real))
        return x

    def _solve_next_to(self, value: float, square: float) -> Callable[[Array], Array] | None:
        """Solves with A − value B, or where that is singular, next to it, by what rounding moves xᴴAx with ‖x‖²."""
        for shift in (value, value + math.copysign(self.A_norm * square * np.finfo(float).eps, value)):
            K = self.A - shift * self.B
            solve = _sparse_solve(K) if sp.issparse(K) else _dense_solve(K)
            if solve is not None:
                return solve
        return None

    def _is_harmless(self, multiples: Array, X: Array, values: Array, value: float, tolerated: float = 0.0) -> Array:
        """May these multiples of the columns be added to a vector of norm 1 with this value?

        That of x adds |λ − value|‖Bx‖ times itself to the residual, where eps (‖A‖ + |value|‖B‖) is rounding.
        """
        added = np.abs(multiples) * np.abs(values - value) * column_norms(self.B @ X)
        rounding = float(np.finfo(float).eps) * (self.A_norm + abs(value) * self.B_norm)
        return np.asarray(added <= max(rounding, tolerated))


def _user_matrix(M: Operator, d: Array) -> Any:
    """The entries before they were equilibrated, in the same units, in double precision."""
    if M.kind == "sparse":
        return sp.csc_array(scaled_rows_and_columns(M.matrix, 1 / d))
    return M.matrix / d / d[:, None]


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
