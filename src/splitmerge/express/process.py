"""The Lanczos process in one basis that is never restarted, and the course that a search with it takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import get_blas_funcs

from ..linalg.blas import kernels
from ..linalg.lanczos import tridiagonal_pairs
from ..linalg.multiply import product
from ..linalg.reductions import inner_products
from ..methods.krylov.ritz_pair import ESTIMATE_FACTOR
from ..methods.subspace import HIDDEN_FACTOR, ROUNDING_SLACK
from ..run.history import Row
from ..typing import Array

# A search may be expected to take this multiple of its room at first, as its rate of convergence is underestimated
# then, and no more than the room at its end; this is looked at from this fraction of the room on.
EXPECTED_RATIO, RATED_FRACTION = 3.0, 0.35
# Products between two projections, at least.
LEAST_STRIDE = 3
# Projections aim at this fraction of the products that the rate of convergence predicts.
STRIDE_FRACTION = 0.8
# Residuals are to be this fraction of the tolerance, as those recomputed from A and B differ in the last digits.
SAFE_FRACTION = 0.9
# A new vector shorter than this many units of rounding is none.
BREAKDOWN_UNITS = 100
# Below this fraction of the largest Ritz value, a new vector is orthogonalised a second time.
CANCELLED_FRACTION = 1e-3
EPS = float(np.finfo(float).eps)


class Spectrum(NamedTuple):
    """How eigenvalues θ of the operator tell those of the pair: λ = ±θ, or λ = σ + 1/θ for an inverse."""

    sign: float = 1.0
    inverse: bool = False
    sigma: float = 0.0

    def value(self, theta: float) -> float:
        """λ for θ."""
        if not self.inverse:
            return self.sign * theta
        return self.sigma + 1 / theta if theta else math.inf

    def residual(self, theta: float, error: float, least: float) -> float:
        """About the residual of λ relative to it, for a residual norm of θ; θ below `least` in magnitude count as it.

        For an inverse a perturbation e of θ moves λ by e/θ².
        """
        size = max(abs(theta), least)
        if not self.inverse:
            return error / size
        value = self.sigma + math.copysign(1 / size, theta)
        return error / (size * size * max(abs(value), EPS / size))


class Process:
    """The Lanczos process for an operator T that is Hermitian in an inner product ⟨v, Bw⟩.

    `times` maps B v to T v, and `dual` is the product with B; without it B is the identity. The columns of V are
    B-orthonormal, D = BV, and the columns before `first` are locked: the process runs in their complement.
    """

    def __init__(
        self,
        times: Callable[[Array], Array],
        x: Array,
        room: int,
        dual: Callable[[Array], Array] | None = None,
    ) -> None:
        self.call, self.times, self.dual = kernels(x.dtype), times, dual
        self.products, self.radius = 0, 0.0
        self.V = np.empty((x.size, room + 1), x.dtype, order="F")
        self.D = self.V if dual is None else np.empty_like(self.V)
        self._begin(0, x)

    def _begin(self, first: int, x: Array) -> None:
        """Start from x, which is orthogonalised against the columns before `first`."""
        self.first = first
        self.alpha: list[float] = []
        self.beta: list[float] = []
        # is the space invariant?
        self.exhausted = False
        for _ in range(2 if first else 0):
            x = self._orthogonalised(first, x)
        self._append(first, x, *self._length(x))

    def _length(self, x: Array) -> tuple[Array, float]:
        """B x and the B-norm of x."""
        if self.dual is None:
            return x, self.call.norm(x)
        image = self.dual(x)
        return image, math.sqrt(max(self.call.dot(x, image), 0.0))

    def _append(self, j: int, x: Array, image: Array, length: float) -> None:
        np.multiply(x, 1 / length, out=self.V[:, j])
        if self.dual is not None:
            np.multiply(image, 1 / length, out=self.D[:, j])

    def _orthogonalised(self, count: int, w: Array) -> Array:
        """w without its components along the first columns."""
        coefficients, gemv, trans = _projections(self.V.dtype)
        return gemv(
            -1.0, self.V[:, :count], coefficients(1.0, self.D[:, :count], w, trans=trans), 1.0, w, overwrite_y=1
        )

    def extend(self, count: int) -> None:
        """Make `count` products, or those up to an invariant space."""
        dot, axpy = self.call.dot, self.call.axpy
        V, D, times, alpha, beta = self.V, self.D, self.times, self.alpha, self.beta
        for j in range(self.first + len(alpha), self.first + len(alpha) + count):
            v, d = V[:, j], D[:, j]
            w = times(d)
            a = dot(d, w)
            w = axpy(v, w, a=-a)
            if beta:
                w = axpy(V[:, j - 1], w, a=-beta[-1])
            # the recurrence leaves little to remove
            w = self._orthogonalised(j + 1, w)
            image, b = self._length(w)
            if b < CANCELLED_FRACTION * self.radius:
                w = self._orthogonalised(j + 1, w)
                image, b = self._length(w)
            alpha.append(a)
            beta.append(b)
            self.products += 1
            self.radius = max(self.radius, abs(a), b)
            self.exhausted = not b > BREAKDOWN_UNITS * EPS * self.radius
            if self.exhausted:
                self._append(j + 1, v, d, 1.0)
                return
            self._append(j + 1, w, image, b)

    @property
    def room(self) -> int:
        """Products that fit into the basis."""
        return self.V.shape[1] - 1 - self.first - len(self.alpha)

    @property
    def following(self) -> Array:
        """The basis vector that comes next, along which all residuals of Ritz pairs lie."""
        return self.V[:, self.first + len(self.alpha)]

    def ritz(self, count: int, *, magnitude: bool = False) -> tuple[Array, Array, Array] | None:
        """The `count` largest Ritz values, their coefficients and residual norms; None if there are fewer.

        With `magnitude`, those that are largest by magnitude.
        """
        return ritz_pairs(self.alpha, self.beta, count, magnitude=magnitude)

    def vectors(self, S: Array, *, dual: bool = False) -> Array:
        """V S, or D S."""
        M = self.D if dual else self.V
        return np.asfortranarray(product(M[:, self.first : self.first + S.shape[0]], S.astype(M.dtype)))

    def lock(self, S: Array, x: Array) -> None:
        """Lock the Ritz vectors V S, and begin again with x in their complement."""
        count = self.first + S.shape[1]
        V, D = self.vectors(S), self.vectors(S, dual=True) if self.dual is not None else None
        self.V[:, self.first : count] = V
        if D is not None:
            self.D[:, self.first : count] = D
        self._begin(count, x)


def ritz_pairs(
    alpha: list[float], beta: list[float], count: int, *, magnitude: bool = False
) -> tuple[Array, Array, Array] | None:
    """`Process.ritz` for a process with these coefficients."""
    j = len(alpha)
    if j < count:
        return None
    found = tridiagonal_pairs(np.array(alpha), np.array(beta), 0 if magnitude else j - count, j - 1)
    if found is None:
        return None
    values, S = found[0][::-1], found[1][:, ::-1]
    if magnitude:
        order = np.argsort(-np.abs(values), kind="stable")[:count]
        values, S = values[order], S[:, order]
    return values, S, np.abs(beta[-1] * S[-1])


class Course:
    """How a search converges: its history, and how many products it is expected to take."""

    def __init__(self, tol: float, spectrum: Spectrum) -> None:
        self.tol, self.spectrum = tol, spectrum
        self.rows: list[Row] = []
        self.began = time.perf_counter()
        # the pair that the present states are of, and their number
        self.pair = self.step = 0
        # after how many products the residuals were how many times the tolerance
        self.before = (0, math.inf)

    def begin_pass(self) -> None:
        """Nothing is known of the rate of convergence, and further pairs follow."""
        self.before, self.pair, self.step = (0, math.inf), 0, 0

    def excess(
        self,
        process: Process,
        values: Array,
        errors: Array,
        ratios: Callable[[], list[float]],
        shift: float = 0.0,
        places: Sequence[int] | None = None,
    ) -> float:
        """The largest relative residual of these pairs over the tolerance; it is recorded.

        `ratios` corrects the estimates where they are near it. `places` are those of the pairs among all that are
        known.
        """
        least, residual = math.sqrt(EPS) * process.radius, self.spectrum.residual
        found = values.tolist()
        residuals = [residual(value, error, least) for error, value in zip(errors.tolist(), found, strict=True)]
        if max(residuals) <= ESTIMATE_FACTOR * self.tol:
            residuals = [estimate * ratio for estimate, ratio in zip(residuals, ratios(), strict=True)]
        self._record(process, found, residuals, shift, places or range(len(found)))
        return float(max(residuals) / self.tol)

    def _record(
        self, process: Process, values: list[float], residuals: list[float], shift: float, places: Sequence[int]
    ) -> None:
        """A row for the present pair, and for each one that follows where it has converged."""
        seconds, last, safe = time.perf_counter() - self.began, len(values) - 1, SAFE_FRACTION * self.tol
        unfinished = next((i for i, residual in enumerate(residuals) if residual > safe), last)
        if unfinished < self.pair:
            # copies that have turned up move all others
            self.pair, self.step = unfinished, 0
        while True:
            value, residual = values[self.pair], residuals[self.pair]
            row = self.spectrum.value(value), residual, -(value + shift) / 4, process.products, seconds
            self.rows.append((places[self.pair], self.step, *row))
            if residual > safe or self.pair == last:
                self.step += 1
                return
            self.pair, self.step = self.pair + 1, 0

    def expected(self, products: int, excess: float, room: int) -> tuple[float, int]:
        """The products that the search is expected to take, and those before the next projection."""
        before, self.before = self.before, (products, math.log(max(excess, EPS)))
        fallen = before[1] - self.before[1]
        if not 0 < fallen < math.inf:
            # the first projections tell nothing
            rest, stride = 0.0, products // 4
        else:
            rest = max(self.before[1], 0.0) / fallen * (products - before[0])
            stride = min(math.ceil(STRIDE_FRACTION * min(rest, room)), products // 3)
        # one more projection where the basis is nearly full
        return products + rest, min(products + max(stride, LEAST_STRIDE), max(room, products + 1))


def is_settled(following: float, error: float, last: float, worst: float, largest: float) -> bool:
    """Is the Ritz value that follows less wanted than the last one, whatever its error? All are magnitudes."""
    slack = worst + ROUNDING_SLACK * EPS * largest
    return following + HIDDEN_FACTOR * error <= last + slack


def is_hopeless(expected: float, made: int, room: int, rated: float = RATED_FRACTION) -> bool:
    """Is a search expected to need much more than its room? The rate tells nothing before a fraction of it."""
    return made >= rated * room and expected > EXPECTED_RATIO * room - (EXPECTED_RATIO - 1) * made


@lru_cache
def _projections(dtype: np.dtype[Any]) -> tuple[Callable[..., Array], Callable[..., Array], int]:
    """Vᴴw, y + a V c, and how BLAS is told to take the adjoint."""
    return inner_products(dtype).coefficients, get_blas_funcs("gemv", dtype=dtype), 2 if dtype.kind == "c" else 1
