"""Thick-restart Lanczos: when to expand the basis, when to restart it, and how to probe for missed pairs."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ...linalg.multiply import product
from ...linalg.reductions import norm
from ...problem.start import random_vector
from ...typing import Array
from ..setup import Setup
from ..subspace import Slack, SubspaceIteration
from .basis import CONTINUED_ROOM, Basis
from .complement import Complement
from .ritz_pair import RitzPair

# Columns of the basis beyond twice the wanted pairs: enough that restarts cost few products, fewer where products cost
# less than to orthogonalise.
EXTRA_COLUMNS, FEWER_COLUMNS = 44, 24
# Columns of the basis for each vector of a start whose residuals have as many directions.
START_ROOM = 4
# From a random vector, the first Rayleigh–Ritz projection is made after this many products, unless n is small.
FIRST_CHECK_PRODUCTS, SMALL_N = 8, 200
# A projection costs as much as this many products of a matrix of size 256, of several pairs of size 512; for others in
# proportion to n⁻², for sparse matrices of size 1000 to n⁻¹, and never more than the last.
CHECK_COST_ONE, CHECK_COST_SEVERAL, CHECK_COST_SPARSE, MAX_CHECK_COST = 3, 8, 8, 8

# Steps after which a search is given up whose pairs only rounding changes, and after which one from a random vector is
# left to a probe that has converged but still sees what may be more wanted.
MAX_IDLE, MAX_UNSETTLED_STEPS = 50, 500
# Projections without a tenth less error after which the search is given up: eight digits at that rate would take about
# the default limit of steps.
MAX_STAGNATING = 500
# Products with B of inner solves that count as one product of the search.
INNER_PRODUCTS = 5
# A space of up to this many dimensions is searched as a whole after this multiple of them in products without that.
WHOLE_N, WHOLE_PRODUCTS = 1000, 10

# At most this many vectors beyond the k wanted ones are kept for a later solve.
MAX_SPARE_VECTORS = 5


class ThickRestart(SubspaceIteration):
    """The k most wanted pairs of T, from a basis that is expanded, restarted and probed."""

    def __init__(self, setup: Setup, max_basis: int | None = None) -> None:
        super().__init__()
        assert setup.transform is not None
        self.transform, self.k, self.target = setup.transform, setup.k, setup.target
        self.products = self.transform.products
        self.scale = self.products.scale
        extra = FEWER_COLUMNS if setup.cheap and self.k > 1 else EXTRA_COLUMNS
        capacity = 2 * self.k + extra if max_basis is None else max_basis
        self.companions = setup.companions
        # a new start with all k vectors takes 3k columns
        room = CONTINUED_ROOM if setup.continued else START_ROOM
        least = max(self.k + room * (setup.width + self.companions), 3 * self.k)
        self.basis = Basis(self.transform, max(capacity, least), self.target, setup.rng)
        if setup.lowest is not None:
            self.basis.known = setup.lowest
        self.advances = 0
        self.max_products = setup.max_products
        # projections in a row that rounding alone has changed; the least error so far, at which projection and product
        self.idle, self.best = 0, (math.inf, 0, 0)
        self.check_cost = _check_cost(self.transform.n, self.k, sparse=self.products.A.kind == "sparse")
        # is the start to come what an interrupted run had?
        self.continued = setup.continued
        # is the start a random vector, in which nothing is visible at first?
        self.blind = not setup.given
        # the residual or sine to reach, and after how many products the last projection was how far from it
        self.goal: float | None = None
        self.angle: float | None = None
        self.trace = (0, math.inf)
        # the largest error of the wanted pairs after how many products, for all projections so far
        self.path: list[tuple[int, float]] = []
        # at how many products the images B q of the waiting block were computed, these, and the norm of the first
        self._waiting = (-1, np.zeros((0, 0)), 0.0)
        # for each pair ‖B x‖, and its value when that was computed
        self._lengths: dict[int, tuple[float, float]] = {}
        self._given: weakref.WeakSet[RitzPair] = weakref.WeakSet()
        self.values = self.errors = np.zeros(0)
        self.S = np.zeros((0, 0))

    @property
    def radius(self) -> float:  # type: ignore[override]
        """The largest |value| seen so far."""
        return self.basis.radius

    def aim(self, goal: float | None, angle: float | None) -> None:
        """Let this residual, or this sine, be the goal."""
        self.goal, self.angle = goal, angle
        self.best = math.inf, self.advances, self.basis.products
        least = min((tol for tol in (goal, angle) if tol is not None), default=0.0)
        self.basis.loose = self.blind and least >= self.basis.eps**0.55

    def neglect(self, tol: float) -> None:
        """Do not pursue components of the residuals of a start that are this small relative to its values."""
        self.basis.negligible = tol

    def launch(self, X: Array) -> None:
        """Begin with the columns of X, in the coordinates of the pencil, and with random ones the first time."""
        fresh = self.basis.products == 0
        if self.companions and fresh:
            joining = [random_vector(self.transform, self.basis.rng) for _ in range(self.companions)]
            X = np.column_stack([X, *joining])
        self.advances, self.best = 0, (math.inf, 0, self.basis.products)
        self.keep_given()
        self.basis.start(X, random=fresh and self.blind)
        self.advance()
        width = max((self.basis.capacity - self.k) // START_ROOM, 1)
        continued, self.continued = self.continued, False
        if continued and self.basis.width > width:
            # these were no Ritz vectors of this pair, and their residuals leave no room
            self.basis.start(self.vectors(width))
            self.advance()

    def advance(self) -> None:
        """Expand the basis by some products, then Rayleigh–Ritz."""
        if self._is_idle():
            self._widen()
        basis = self.basis
        count = max(self._stride(), self.k - basis.size)
        while count > 0:
            if basis.full:
                self._restart()
            if basis.width == 0:
                break
            count -= basis.grow(count)
        self._rayleigh_ritz()

    def _is_idle(self) -> bool:
        """Have products that could fill a small space many times not helped?"""
        dimension = self.transform.dimension
        made = self.basis.products - self.best[2]
        return self.basis.capacity < dimension <= WHOLE_N and made > WHOLE_PRODUCTS * dimension

    def _widen(self) -> None:
        """Go on with a basis of the whole space: where rounding is in the way, restarts do not reach what it does."""
        before, X = self.basis, self.vectors(self.k)
        self.keep_given()
        self.basis = Basis(self.transform, self.transform.dimension, self.target, before.rng)
        self.basis.known, self.basis.products = before.known, before.products
        self.basis.start(X)

    def _stride(self) -> int:
        """How many products to make before the next projection, which costs as much as a few products at small n.

        Towards a goal, most of the products that it takes at the recent rate of convergence.
        """
        self.advances += 1
        products = self.basis.products
        if self.advances == 1:
            first = max(FIRST_CHECK_PRODUCTS, 2 * self.k if self.k > 1 else 0)
            return first if self.blind and self.transform.n >= SMALL_N else 1
        least = self.check_cost
        stride = max(min(self.advances, 5), least, min(products // 7, self.basis.capacity // 2))
        before, self.trace = self.trace, (products, self._excess())
        fallen = before[1] - self.trace[1]
        if not (0 < fallen < math.inf):
            return stride
        return math.ceil(min(max(0.6 * self.trace[1] / fallen * (products - before[0]), least), 2 * stride))

    def _excess(self) -> float:
        """The logarithm of the worst error of the wanted pairs over its goal, as far as it is known."""
        if self.values.size < self.k + (self.goal is None) or (self.goal is None and self.angle is None):
            return math.inf
        found, errors = self.values[: self.k], self.errors[: self.k]
        tiny = math.sqrt(self.basis.eps) * self.basis.radius + 1e-300
        if self.goal is None:
            # sin θ is about the residual over the gap
            sizes, goal = np.abs(found - self.values[self.k]), self.angle
        else:
            sizes, goal = np.abs(found), self.goal
        worst = max(e / max(size, tiny) for e, size in zip(errors.tolist(), sizes.tolist(), strict=True))
        return math.log(max(worst, 1e-300)) - math.log(max(goal or 0.0, 1e-300))

    def salvage(self) -> bool:
        """After an interrupt: are there Ritz pairs? A first advance that was cut short is completed."""
        if self.values.size == 0:
            if self.basis.size == 0 and self.basis.width > 0:
                self.basis.settle()
            if self.basis.size > 0:
                self._rayleigh_ritz()
        return self.values.size > 0

    def _rayleigh_ritz(self) -> None:
        basis = self.basis
        # the next value shows the gap, which a goal in terms of angles is relative to
        self.values, self.S, self.errors = basis.ritz(self.k + (self.k > 1 or self.angle is not None))
        worst = float(self.errors[: self.k].max(initial=0.0))
        self.path.append((basis.products, worst if self.values.size >= self.k else math.inf))
        self.idle = self.idle + 1 if worst <= basis.eps * basis.radius and self.values.size >= self.k else 0
        if worst < 0.9 * self.best[0]:
            self.best = worst, self.advances, basis.products
        if self.transform.direct:
            self.scale = self.scale.moved(basis.shift, basis.radius)

    def _restart(self) -> None:
        basis = self.basis
        values, S, errors = basis.ritz(basis.size)
        keep = basis.restart_size(self.k)
        self.keep_given()
        basis.restart(values[:keep], S[:, :keep])
        self.values, self.S, self.errors = values[:keep], np.eye(keep), errors[:keep]

    def checkpoint(self) -> Array | None:
        """The Ritz vectors that a restart would keep."""
        Y = self.basis.kept(self.k)
        return None if Y is None else self.transform.monitored().leave(Y)

    def keep_given(self) -> None:
        """Compute the vectors of states that are still referenced, before their basis is overwritten."""
        for state in list(self._given):
            state.settle()
        self._given.clear()

    def ritz_pair(self, index: int) -> RitzPair:
        """The Ritz pair in place `index`, the most wanted first."""
        state = RitzPair(self, index)
        self._given.add(state)
        return state

    def residual_norm(self, pair: RitzPair) -> float:
        """‖Ax − λBx‖ for a Ritz pair: its residual T y − θy lies along the waiting block."""
        basis = self.basis
        if self._waiting[0] != basis.products:
            block = basis.V[:, basis.size : basis.size + basis.width]
            images = np.array([self.transform.image(q) for q in block.T]).T
            self._waiting = basis.products, images, norm(images[:, 0])
        _, images, length = self._waiting
        return pair.error * length if basis.width == 1 else norm(product(images, basis.tail(pair.coefficients)))

    def product_norm(self, index: int, pair: RitzPair) -> float:
        """‖Bx‖ for the Ritz pair in place `index`, computed again when its value has changed in the sixth digit."""
        theta, length = self._lengths.get(index, (math.inf, 0.0))
        if abs(pair.theta - theta) > 1e-6 * abs(pair.theta):
            length = norm(self.transform.image(pair.y))
            self._lengths[index] = (pair.theta, length)
        return length

    def vectors(self, count: int) -> Array:
        """The `count` most wanted Ritz vectors, in the coordinates of the pencil."""
        return self.transform.leave(self.basis.vectors(self.S[:, :count]))

    def spare(self, *, converged: bool) -> Array | None:
        """Some Ritz vectors beyond the k wanted ones, for a later solve that needs them."""
        # to go on, more of them are worth it, if multiplying them again costs little relative to the work so far
        end = self.k + min(self.k - 1 if converged else self.basis.products // 5, MAX_SPARE_VECTORS)
        if min(end, self.basis.size) <= self.k or self.basis.V.shape[1] == 0:
            return None
        _, S, _ = self.basis.ritz(end)
        if S.shape[1] <= self.k:
            # the basis has no more than the pairs themselves
            return None
        return self.transform.leave(self.basis.vectors(S[:, self.k : end]))

    @property
    def complete(self) -> bool:  # type: ignore[override]
        """Does the basis span the whole space?"""
        return self.basis.complete

    def renewal(self, X: Array) -> Array:
        """The vectors to start again with; X are the k pairs, which verification may have improved."""
        return np.asfortranarray(X.astype(self.transform.dtype, copy=False))

    @property
    def patience(self) -> int:  # type: ignore[override]
        """From a random vector, success counts after a few products, that of the last pair once the search is settled.

        Such a vector may be near some eigenvector by chance; a given one is followed by a probe.
        """
        if not self.blind:
            return 0
        few = self.basis.products < FIRST_CHECK_PRODUCTS and self.basis.width > 0
        return self.advances if few else MAX_UNSETTLED_STEPS if self.pair == self.k - 1 and self.hurried else 0

    @property
    def hurried(self) -> bool:  # type: ignore[override]
        """Does a search from a random vector, which is a probe itself, still see what may be more wanted?"""
        return self.blind and not self.settled()

    @property
    def given_up(self) -> bool:
        """Have enough products or projections been made in vain, those of inner solves included?"""
        stagnating = self.advances - self.best[1] > MAX_STAGNATING or self.idle > MAX_IDLE
        made = max(self.basis.products, self.products.counts.B_products / INNER_PRODUCTS)
        return made >= self.max_products or stagnating

    def gaps(self, count: int) -> Array:
        """How far the first `count` values are from where others may be, if none that is more wanted was missed.

        The next Ritz value does not tell: of a multiple or clustered eigenvalue a Krylov space shows one copy.
        """
        found = self.values[:count]
        low, high = self.target.window(found)
        return np.asarray(np.maximum(found - high, low - found) - self.errors[:count].max(initial=0.0))

    def look(self, slack: Slack) -> bool | None:
        """Search the complement of the k pairs from a random vector: is there a pair more wanted by over `slack`?"""
        if self.complete:
            return False
        self.best = math.inf, 0, self.basis.products
        self.keep_given()
        with self._monitored():
            return Complement(self, slack).look()

    @contextmanager
    def _monitored(self) -> Iterator[None]:
        """Count the products of the block as monitoring."""
        own = self.transform
        self.transform = self.basis.transform = own.monitored()
        try:
            yield
        finally:
            self.transform = self.basis.transform = own


def _check_cost(n: int, k: int, *, sparse: bool) -> int:
    """How many products cost as much as a projection."""
    if sparse:
        cost = CHECK_COST_SPARSE * 1000 / n
    else:
        cost = CHECK_COST_ONE * (256 / n) ** 2 if k == 1 else CHECK_COST_SEVERAL * (512 / n) ** 2
    return max(1, min(round(cost), CHECK_COST_ONE if k == 1 and not sparse else MAX_CHECK_COST))
