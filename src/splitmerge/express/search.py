"""Lanczos for a plain dense pair: a few of its pairs from a random vector, in one basis that is never restarted.

LAPACK takes as long as some hundred products, whatever is wanted; where a search is expected to need more, it is given
up, and LAPACK decomposes the pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import get_blas_funcs

from ..linalg.blas import kernels
from ..linalg.extreme import Extreme, routines
from ..linalg.reductions import random_vector
from ..run.history import Row
from ..typing import Array
from .process import SAFE_FRACTION, Course, Process, Spectrum, is_hopeless, is_settled

# The products that LAPACK's time is worth, as a fraction of n with and without a factor of B.
PRODUCTS_PER_N, PRODUCTS_PER_N_STANDARD = 0.25, 0.5
# Products before the first projection, beside two for each pair.
FIRST_PRODUCTS = 12


class Searched(NamedTuple):
    """Vectors with the gaps that are known, the value of the pair that follows, and what it took.

    `shift` is η ≥ 0 for which T + η is positive on the basis. `rows` are
    those of the history.
    """

    extreme: Extreme
    following: float
    shift: float
    products: int
    rows: list[Row]


def searched(
    M: Array | None, L: Array | None, k: int, tol: float, rng: np.random.Generator, *, sign: float, inverse: bool
) -> Searched | None:
    """The k largest pairs of T = ±L⁻¹M L⁻ᴴ; None where LAPACK is expected to take less time.

    With `inverse` the eigenvalues of the pair are 1/θ.
    """
    some = L if M is None else M
    assert some is not None
    n = some.shape[0]
    room = math.ceil(n * (PRODUCTS_PER_N_STANDARD if L is None else PRODUCTS_PER_N))
    call = kernels(some.dtype)
    process = Process(_transformed(M, L, sign, call), random_vector(n, some.dtype, rng), room)
    course = Course(tol, Spectrum(sign, inverse))
    following = FIRST_PRODUCTS + 2 * (k - 1)
    while following <= room and not process.exhausted:
        process.extend(following - process.products)
        ritz = process.ritz(k + 1)
        if ritz is None:
            return None
        values, _, errors = ritz
        shift = 0.0 if inverse else shift_of(process.alpha)
        excess = course.excess(process, values[:k], errors[:k], partial(_ratios, process, L, ritz[1][:, :k]), shift)
        if excess <= SAFE_FRACTION and _settled(values, errors, k):
            return _result(process, course, ritz, k, L, shift)
        made = process.products
        expected, following = course.expected(made, excess, room)
        if is_hopeless(expected, made, room):
            return None
    return None


def shift_of(alpha: list[float]) -> float:
    """η ≥ 0 for which T + η is positive on the basis, from the diagonal of its projection."""
    return max(0.0, -min(alpha))


def _settled(values: Array, errors: Array, k: int) -> bool:
    """Is the next Ritz value less wanted than the k first ones, whatever its error?"""
    worst, largest = float(errors[:k].max()), float(np.abs(values[:k]).max())
    return is_settled(float(values[k]), float(errors[k]), float(values[k - 1]), worst, largest)


def _result(
    process: Process, course: Course, ritz: tuple[Array, Array, Array], k: int, L: Array | None, shift: float
) -> Searched:
    values, S, errors = ritz
    every, worst = values.tolist(), float(errors[:k].max())
    # of a multiple or clustered eigenvalue a Krylov space shows one copy, so the next Ritz value is not the next one
    extreme = Extreme(_vectors(process, L, S[:, :k]), [value - every[k - 1] - worst for value in every[:k]])
    return Searched(extreme, course.spectrum.value(every[k]), shift, process.products, course.rows)


def _ratios(process: Process, L: Array | None, S: Array) -> list[float]:
    """‖Lv‖/‖Ly‖ for the next basis vector v and the Ritz vectors y: residual norms of the pair over those of T."""
    if L is None:
        return [1.0] * S.shape[1]
    (trmv,) = get_blas_funcs(("trmv",), dtype=L.dtype)
    norm = process.call.norm
    length = norm(trmv(L, process.following, lower=1))
    return [length / norm(trmv(L, y, lower=1)) for y in process.vectors(S).T]


def _vectors(process: Process, L: Array | None, S: Array) -> Array:
    """x = L⁻ᴴy for the Ritz vectors y."""
    Y = process.vectors(S)
    if L is None:
        return Y
    if Y.shape[1] == 1:
        return process.call.trsv(L, Y[:, 0], lower=1, trans=2)[:, None]
    return np.asarray(routines(Y.dtype).trsm(1.0, L, Y, lower=1, trans_a=2, overwrite_b=1))


def _transformed(M: Array | None, L: Array | None, sign: float, call: Any) -> Callable[[Array], Array]:
    """The function v ↦ ±L⁻¹M L⁻ᴴv."""
    hemv, trsv = call.hemv, call.trsv
    if L is None:
        return lambda v: hemv(sign, M, v)
    if M is None:
        return lambda v: trsv(L, trsv(L, v, lower=1, trans=2), lower=1, overwrite_x=1)
    return lambda v: trsv(L, hemv(sign, M, trsv(L, v, lower=1, trans=2)), lower=1, overwrite_x=1)
