"""Inertia counts: are the pairs all the eigenvalues beyond some τ?

By Sylvester's law of inertia A − τB has as many negative eigenvalues as (A, B) has eigenvalues below τ.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..linalg.cholesky import DenseFactor
from ..linalg.rounding import ROUNDING_UNITS, narrowed, precision
from ..methods.setup import Setup
from ..planning.costs import check_fits
from ..problem.factorise import counting_factor, deflated_cholesky
from ..problem.operator import plus
from ..problem.products import Products
from ..solvers.estimate import longest_vector, resolution
from ..sparse_direct.cholesky import SparseFactor
from ..sparse_direct.ldl import SparseShifted
from ..typing import Array
from .residuals import Pairs

# The growth of pivots at which the backward error of the factors may be as large as the `resolution`.
MAX_BACKWARD_ERROR = ROUNDING_UNITS


def nothing_in_the_gap(setup: Setup, pairs: Pairs, following: float, *, above: bool) -> bool | None:
    """Are the pairs all the eigenvalues beyond a τ that lies between the last of them and the one `following`?

    One Cholesky factorisation in single precision; None where the gap is too narrow for that. False is no
    disproof: the next eigenvalue may be in the gap. It takes the memory of the Cholesky factor of B, which is computed
    again on next use.
    """
    products, last = setup.given_pair, float(pairs.values[-1])
    if not products.pencil.dense or products.dtype.char not in "dD":
        return None
    single = precision(np.dtype(np.float32)) / products.eps
    rounding = single * resolution(products, longest_vector(products, pairs.vectors), abs(last))
    gap = clear_gap(pairs.values, pairs.deltas, following, rounding, above=above)
    if gap is None:
        return None
    if not _definite_without(setup, pairs, gap.tau, np.ones(pairs.values.size, bool), above=above, single=True):
        return False
    if pairs.gaps is not None and pairs.sigma is None:
        # now it is known how far the others are
        pairs.gaps = np.maximum(pairs.gaps, np.abs(pairs.values - last) + gap.clearance)
    return True


class ClearGap(NamedTuple):
    """A τ between the pairs and the others; where a count fits, these are farther than `clearance` from the last."""

    tau: float
    clearance: float


def clear_gap(values: Array, deltas: Array, following: float, rounding: float, *, above: bool) -> ClearGap | None:
    """A τ between the last of these values, each within its delta, and the one `following`.

    None where the `rounding` of the count, or the errors of the values, are too wide for the gap.
    """
    last, sign = float(values[-1]), 1.0 if above else -1.0
    gap = abs(last - following)
    margin = max(2 * rounding, 0.1 * gap)
    tau = last - sign * margin
    clear = bool((sign * (values - tau) > deltas).all())
    return ClearGap(tau, margin - rounding) if 2 * margin < gap and clear else None


def nothing_beyond(
    setup: Setup, pairs: Pairs, tau: float, known: Array, widening: float = 1.0, *, above: bool
) -> bool | None:
    """Are the `known` pairs all the eigenvalues above τ (below it)? None if the factorisation cannot tell.

    τ is `widening` times the `resolution` away from them.
    """
    if setup.given_pair.pencil.dense:
        return _definite_without(setup, pairs, tau, known, above=above)
    below = count_below(setup.given_pair, tau, _factor(setup), widening)
    if below is None:
        return None
    return (setup.given_pair.n - below if above else below) == int(known.sum())


def _factor(setup: Setup) -> object:
    """The factor that the search has used."""
    return setup.products.solver if setup.shift_invert is None else setup.shift_invert.factor


def count_below(products: Products, tau: float, known: object = None, widening: float = 1.0) -> int | None:
    """How many eigenvalues of (A, B) lie below τ; None when the factorisation cannot tell.

    MemoryError or `NotFactorised` where there are no factors, as there would be none for another τ. `known` is the
    factor of a matrix of about the same pattern, if there is one. Factors whose backward error exceeds `widening` times
    the `resolution` may have other signs than the eigenvalues that are that close to τ.
    """
    K = plus(products.A, -tau, products.B)
    try:
        # where another matrix was factorised, there is enough memory for such a factor
        if K.matrix is not None and not isinstance(known, (SparseFactor, SparseShifted)):
            check_fits(K, "A − τB")
        factor = counting_factor(K, known)
        return factor.negative if factor.backward_error <= MAX_BACKWARD_ERROR * widening else None
    except ZeroDivisionError:
        return None


def count_between(setup: Setup, low: float, high: float, widening: float = 1.0) -> int | None:
    """How many eigenvalues of (A, B) lie between the two, which are on both sides of σ.

    None when a factorisation could not tell.
    """
    below, above = (_count_beyond(setup, tau, widening, above=tau == high) for tau in (low, high))
    return None if below is None or above is None else above - below


def _count_beyond(setup: Setup, tau: float, widening: float, *, above: bool) -> int | None:
    """`count_below` for a τ above σ or below it, without a factorisation where none or all are on that side of σ."""
    factor: Any = _factor(setup)
    if setup.shift_invert is not None and getattr(factor, "negative", None) == (setup.products.n if above else 0):
        known = factor.backward_error <= MAX_BACKWARD_ERROR * widening
        return int(factor.negative) if known else None
    return count_below(setup.given_pair, tau, factor, widening)


def _definite_without(
    setup: Setup, pairs: Pairs, tau: float, beyond: Array, *, above: bool, single: bool = False
) -> bool:
    """Is τB − A (A − τB for those below) positive definite once the vectors `beyond` are moved to the other side?

    One Cholesky factorisation, where an inertia count takes an indefinite one: it succeeds iff no other eigenvalue
    is there.
    """
    products, solver = setup.given_pair, setup.products.solver
    memory = solver.surrender() if isinstance(solver, DenseFactor) and products.B is not None else None
    dtype = narrowed(products.dtype) if single else products.dtype
    B = None if products.B is None else products.B.matrix
    X = pairs.vectors[:, beyond].astype(products.dtype, copy=False)
    BX = X if products.B is None else products.B.times_block(X)
    return definite_without(products.A.matrix, B, BX, pairs.values[beyond], tau, dtype, above=above, memory=memory)


def definite_without(
    A: Array,
    B: Array | None,
    BX: Array,
    values: Array,
    tau: float,
    dtype: np.dtype[Any],
    *,
    above: bool,
    memory: Array | None = None,
) -> bool:
    """The same for dense matrices, in this precision; B-normalised vectors X with these values are moved.

    `memory` (n² numbers of any dtype) may be overwritten.
    """
    # τ − λ < 0 becomes a positive number of the size of τ and the values
    weights = np.abs(values - tau) + max(float(np.abs(values).max(initial=0.0)), abs(tau))
    G = np.empty(BX.shape, dtype, order="F")
    np.multiply(BX, np.sqrt(weights), out=G, casting="same_kind")
    return deflated_cholesky(A, B, tau, G, above=above, memory=memory) is not None
