"""Lanczos for a plain dense pair: a few of its pairs from a random vector, in one basis that is never restarted.

LAPACK takes as long as some hundred products, whatever is wanted; where a search is expected to need more, it is given
up, and LAPACK decomposes the pair.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import get_blas_funcs

from ..linalg.blas import kernels
from ..linalg.extreme import Extreme, routines
from ..linalg.lanczos import tridiagonal_pairs
from ..linalg.reductions import inner_products, random_vector
from ..methods.krylov.ritz_pair import ESTIMATE_FACTOR
from ..methods.subspace import HIDDEN_FACTOR, ROUNDING_SLACK
from ..run.history import Row
from ..typing import Array

# The products that LAPACK's time is worth, as a fraction of n with and without a factor of B.
PRODUCTS_PER_N, PRODUCTS_PER_N_STANDARD = 0.25, 0.5
# A search may be expected to take this multiple of them at first, as its rate of convergence is underestimated then,
# and no more than them at their end. The rate tells nothing before this fraction of them.
EXPECTED_RATIO, RATED_FRACTION = 3.0, 0.35
# Products before the first projection, beside two for each pair, and at least between two of them.
FIRST_PRODUCTS, LEAST_STRIDE = 8, 3
# Projections aim at this fraction of the products that the rate of convergence predicts.
STRIDE_FRACTION = 0.8
# Residuals are to be this fraction of the tolerance, as those recomputed from A and B differ in the last digits.
SAFE_FRACTION = 0.9
# A new vector shorter than this many units of rounding is none.
BREAKDOWN_UNITS = 100
EPS = float(np.finfo(float).eps)


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
    process = Process(M, L, sign, random_vector(n, some.dtype, rng), room)
    course = Course(k, tol, sign, inverse)
    following = FIRST_PRODUCTS + 2 * (k - 1)
    while following <= room and not process.exhausted:
        process.extend(following - process.products)
        ritz = process.ritz(k + 1)
        if ritz is None:
            return None
        excess = course.excess(process, *ritz)
        if excess <= SAFE_FRACTION and course.settled(process, ritz[0], ritz[2]):
            return _result(process, course, ritz[0], ritz[1], ritz[2])
        made = process.products
        expected, following = course.expected(made, excess, room)
        if made >= RATED_FRACTION * room and expected > EXPECTED_RATIO * room - (EXPECTED_RATIO - 1) * made:
            return None
    return None


def _result(process: Process, course: Course, values: Array, S: Array, errors: Array) -> Searched:
    k, every = course.k, values.tolist()
    worst = float(errors[:k].max())
    # of a multiple or clustered eigenvalue a Krylov space shows one copy, so the next Ritz value is not the next one
    extreme = Extreme(process.vectors(S[:, :k]), [value - every[k - 1] - worst for value in every[:k]])
    return Searched(extreme, course.given(every[k]), course.shift(process), process.products, course.rows)


class Course:
    """How a search converges: its history, and how many products it is expected to take."""

    def __init__(self, k: int, tol: float, sign: float, inverse: bool) -> None:
        self.k, self.tol, self.sign, self.inverse = k, tol, sign, inverse
        self.rows: list[Row] = []
        self.began = time.perf_counter()
        # the pair that the present states are of, and their number
        self.pair = self.step = 0
        # after how many products the residuals were how many times the tolerance
        self.before = (0, math.inf)

    def excess(self, process: Process, values: Array, S: Array, errors: Array) -> float:
        """The largest relative residual of the k pairs over the tolerance; it is recorded."""
        k, tol = self.k, self.tol
        least = math.sqrt(EPS) * process.radius
        found = values[:k].tolist()
        residuals = [error / max(abs(value), least) for error, value in zip(errors[:k].tolist(), found, strict=True)]
        if max(residuals) <= ESTIMATE_FACTOR * tol:
            ratios = process.ratios(S[:, :k])
            residuals = [residual * ratio for residual, ratio in zip(residuals, ratios, strict=True)]
        self._record(process, found, residuals)
        return float(max(residuals) / tol)

    def _record(self, process: Process, values: list[float], residuals: list[float]) -> None:
        """A row for the present pair, and for each one that follows where it has converged."""
        shift, seconds = self.shift(process), time.perf_counter() - self.began
        while True:
            value, residual = values[self.pair], residuals[self.pair]
            row = self.given(value), residual, -(value + shift) / 4, process.products, seconds
            self.rows.append((self.pair, self.step, *row))
            if residual > SAFE_FRACTION * self.tol or self.pair + 1 == self.k:
                self.step += 1
                return
            self.pair, self.step = self.pair + 1, 0

    def given(self, value: float) -> float:
        """The value of the pair for one of T: ±θ, or 1/θ."""
        if not self.inverse:
            return self.sign * value
        return 1 / value if value else math.inf

    def shift(self, process: Process) -> float:
        """η ≥ 0 for which T + η is positive on the basis."""
        return 0.0 if self.inverse else max(0.0, -min(process.alpha))

    def settled(self, process: Process, values: Array, errors: Array) -> bool:
        """Is the next Ritz value less wanted than the k first ones, whatever its error?"""
        k = self.k
        slack = float(errors[:k].max()) + ROUNDING_SLACK * EPS * float(np.abs(values[:k]).max())
        return bool(values[k] + HIDDEN_FACTOR * errors[k] <= values[k - 1] + slack)

    def expected(self, products: int, excess: float, room: int) -> tuple[float, int]:
        """The products that the search is expected to take, and those before the next projection."""
        before, self.before = self.before, (products, math.log(max(excess, EPS)))
        fallen = before[1] - self.before[1]
        if not 0 < fallen < math.inf:
            # the first projections tell nothing
            rest, stride = 0.0, products // 4
        else:
            rest = max(self.before[1], 0.0) / fallen * (products - before[0])
            stride = min(math.ceil(STRIDE_FRACTION * min(rest, room)), products // 2)
        # one more projection where the basis is nearly full
        return products + rest, min(products + max(stride, LEAST_STRIDE), max(room, products + 1))


class Process:
    """The Lanczos process for T = ±L⁻¹M L⁻ᴴ, with an orthonormal basis V and the tridiagonal projection.

    M = None and L = None are the identity; both are Fortran-ordered.
    """

    def __init__(self, M: Array | None, L: Array | None, sign: float, x: Array, room: int) -> None:
        self.L, self.call, self.products = L, kernels(x.dtype), 0
        self.times = _transformed(M, L, sign, self.call)
        self.V = np.empty((x.size, room + 1), x.dtype, order="F")
        np.multiply(x, 1 / self.call.norm(x), out=self.V[:, 0])
        self.alpha: list[float] = []
        self.beta: list[float] = []
        self.radius = 0.0
        # is the space invariant?
        self.exhausted = False

    def extend(self, count: int) -> None:
        """Make `count` products, or those up to an invariant space."""
        dot, norm, axpy = self.call.dot, self.call.norm, self.call.axpy
        V, times, alpha, beta = self.V, self.times, self.alpha, self.beta
        coefficients, gemv, trans = _projections(V.dtype)
        for j in range(self.products, self.products + count):
            v = V[:, j]
            w = times(v)
            a = dot(v, w)
            w = axpy(v, w, a=-a)
            if j:
                w = axpy(V[:, j - 1], w, a=-beta[-1])
            # the recurrence leaves little to remove
            basis = V[:, : j + 1]
            w = gemv(-1.0, basis, coefficients(1.0, basis, w, trans=trans), 1.0, w, overwrite_y=1)
            b = norm(w)
            alpha.append(a)
            beta.append(b)
            self.products = j + 1
            self.radius = max(self.radius, abs(a), b)
            self.exhausted = not b > BREAKDOWN_UNITS * EPS * self.radius
            np.multiply(v if self.exhausted else w, 1.0 if self.exhausted else 1 / b, out=V[:, j + 1])
            if self.exhausted:
                return

    def ritz(self, count: int) -> tuple[Array, Array, Array] | None:
        """The `count` largest Ritz values, their coefficients and residual norms; None if there are fewer."""
        j = self.products
        if j < count:
            return None
        found = tridiagonal_pairs(np.array(self.alpha), np.array(self.beta), j - count, j - 1)
        if found is None:
            return None
        values, S = found[0][::-1], found[1][:, ::-1]
        return values, S, np.abs(self.beta[-1] * S[-1])

    def ratios(self, S: Array) -> list[float]:
        """‖Lv‖/‖Ly‖ for the next basis vector v and the Ritz vectors y: residual norms of the pair over those of T."""
        if self.L is None:
            return [1.0] * S.shape[1]
        (trmv,) = get_blas_funcs(("trmv",), dtype=self.V.dtype)
        norm, L = self.call.norm, self.L
        length = norm(trmv(L, self.V[:, self.products], lower=1))
        return [length / norm(trmv(L, y, lower=1)) for y in (self.V[:, : self.products] @ S).T]

    def vectors(self, S: Array) -> Array:
        """x = L⁻ᴴy for the Ritz vectors y."""
        Y = np.asfortranarray(self.V[:, : self.products] @ S.astype(self.V.dtype))
        if self.L is None:
            return Y
        if Y.shape[1] == 1:
            return self.call.trsv(self.L, Y[:, 0], lower=1, trans=2)[:, None]
        return np.asarray(routines(Y.dtype).trsm(1.0, self.L, Y, lower=1, trans_a=2, overwrite_b=1))


@lru_cache
def _projections(dtype: np.dtype[Any]) -> tuple[Callable[..., Array], Callable[..., Array], int]:
    """Vᴴw, y + a V c, and how BLAS is told to take the adjoint."""
    return inner_products(dtype).coefficients, get_blas_funcs("gemv", dtype=dtype), 2 if dtype.kind == "c" else 1


def _transformed(M: Array | None, L: Array | None, sign: float, call: Any) -> Callable[[Array], Array]:
    """The function v ↦ ±L⁻¹M L⁻ᴴv."""
    hemv, trsv = call.hemv, call.trsv
    if L is None:
        return lambda v: hemv(sign, M, v)
    if M is None:
        return lambda v: trsv(L, trsv(L, v, lower=1, trans=2), lower=1, overwrite_x=1)
    return lambda v: trsv(L, hemv(sign, M, trsv(L, v, lower=1, trans=2)), lower=1, overwrite_x=1)
