"""One search: when to expand the basis, when to restart it, how to look for what it may have missed."""

from __future__ import annotations

import math
import weakref

import numpy as np

from ...objective.state import Frame, State, magnitude, relative
from ...problem.pencil import Pencil
from ...problem.target import Wanted
from ...transforms.standard import Domain
from ...typing import Array
from .basis import Basis

# Beyond what the pairs themselves need: enough that restarts cost few products, few enough for the memory.
ROOM = 44

# A probe is not decided before so many products: a random vector has its Rayleigh quotient in the middle of the
# spectrum, and by Kuczyński and Woźniakowski's bound so many steps see a value that stands off by half of its width.
LOOKS = 12

# The first look at a search from a random vector is after so many products, as earlier there is nothing to see; not
# where n is so small that they cost nothing.
FIRST, SMALL = 8, 200

# A look costs as much as so many products of a matrix of size 256; for others in proportion to n².
LOOK = 3

# Once an estimated residual is within so many times its goal, it is worth to be measured as the user does.
NEAR = 30

# At most so many vectors beyond the k wanted ones are handed out: enough to go on for a few more.
SPARE = 5


class Search:
    """The k most wanted pairs of T, from a basis that is expanded, restarted and probed.

    `width` is the largest number of columns that it is started from.
    """

    def __init__(
        self,
        pencil: Pencil,
        domain: Domain,
        k: int,
        wanted: Wanted,
        rng: np.random.Generator,
        max_basis: int | None = None,
        width: int = 1,
    ) -> None:
        self.pencil, self.domain, self.k, self.wanted = pencil, domain, k, wanted
        # to begin anew with all k vectors takes 3k columns
        capacity = max(2 * k + ROOM, 3 * k) if max_basis is None else max_basis
        self.basis = Basis(domain, max(capacity, k + 4 * width), wanted, rng)
        self.index = self.advances = 0
        # is the start a random vector, of which nothing is to be seen at first?
        self.blind = False
        # a relative residual or a sine to reach, and how many products led how near to it at the last look
        self.goal: float | None = None
        self.angle: float | None = None
        self.trace = (0, math.inf)
        # ‖B q‖ for the waiting vector q after so many products
        self._waiting = (-1, 0.0)
        # the value of each pair, and ‖B x‖, when that was last computed
        self._lengths: dict[int, tuple[float, float]] = {}
        self._given: weakref.WeakSet[RitzPair] = weakref.WeakSet()
        self.values = self.errors = np.zeros(0)
        self.S = np.zeros((0, 0))

    def aim(self, goal: float | None, angle: float | None) -> None:
        """Let this residual, or this sine, be what is to be reached."""
        self.goal, self.angle = goal, angle
        # the vectors of several pairs are orthogonal because the basis is
        least = min((tol for tol in (goal, angle) if tol is not None), default=0.0)
        self.basis.loose = self.blind and self.k == 1 and least >= self.basis.eps**0.55

    def neglect(self, tol: float) -> None:
        """Do not pursue parts of the residuals of a start that are this small beside its values."""
        self.basis.negligible = tol

    def known(self, lowest: float) -> None:
        """A least Rayleigh quotient that is known from before, to which residuals stay relative."""
        self.basis.known = lowest

    def start(self, X: Array) -> None:
        """Begin with the columns of X, in the coordinates of the pencil."""
        self.advances = 0
        self.basis.start(X)
        self.advance()

    def advance(self) -> None:
        """Expand the basis by some products, then Rayleigh–Ritz."""
        basis = self.basis
        count = max(self._stride(), self.k - basis.size)
        while count > 0:
            if basis.full:
                self._restart()
            if basis.width == 0:
                break
            count -= basis.grow(count)
        self._rayleigh_ritz()

    def _stride(self) -> int:
        """How many products to make before the next look, which costs as much as a few products where those are cheap.

        As the residuals fall towards a goal, most of what that will take at the rate of late.
        """
        self.advances += 1
        products = self.basis.products
        if self.advances == 1:
            return FIRST if self.blind and self.domain.n >= SMALL else 1
        least = max(1, round(LOOK * (256 / max(self.domain.n, 256)) ** 2))
        stride = max(min(self.advances, 5), least, min(products // 7, self.basis.capacity // 2))
        before, self.trace = self.trace, (products, self._excess())
        fallen = before[1] - self.trace[1]
        if not (0 < fallen < math.inf):
            return stride
        return math.ceil(min(max(0.6 * self.trace[1] / fallen * (products - before[0]), least), 2 * stride))

    def _excess(self) -> float:
        """The logarithm of how much worse than its goal the worst of the wanted pairs is, as far as it is known."""
        if self.values.size < self.k + (self.goal is None) or (self.goal is None and self.angle is None):
            return math.inf
        found, errors = self.values[: self.k], self.errors[: self.k]
        tiny = self.basis.eps * self.basis.radius + 1e-300
        if self.goal is None:
            # sin θ is about the residual over the gap
            sizes, goal = np.abs(found - self.values[self.k]), self.angle
        else:
            sizes, goal = np.abs(found) + self.pencil.shift, self.goal
        worst = max(e / max(size, tiny) for e, size in zip(errors.tolist(), sizes.tolist(), strict=True))
        return math.log(max(worst, 1e-300)) - math.log(max(goal or 0.0, 1e-300))

    def salvage(self) -> bool:
        """After an interrupt: is there anything to return? A first advance that was cut short is brought to its end."""
        if self.values.size == 0:
            if self.basis.size == 0 and self.basis.width > 0:
                self.basis.settle()
            if self.basis.size > 0:
                self._rayleigh_ritz()
        return self.values.size > 0

    def _rayleigh_ritz(self) -> None:
        basis, pencil = self.basis, self.pencil
        # the next value shows the gap, which a goal in terms of angles is relative to
        self.values, self.S, self.errors = basis.ritz(self.k + (self.k > 1 or self.angle is not None))
        if self.domain.direct:
            # nothing is shifted here: this says what residuals are relative to
            shift = basis.shift
            pencil.transform(shift=shift, found=pencil.found, B_found=pencil.B_found, radius=basis.radius + shift)

    def _restart(self) -> None:
        basis = self.basis
        values, S, errors = basis.ritz(basis.size)
        keep = min(self.k + max(2, 2 * (basis.capacity - self.k) // 5), basis.capacity - 2 * basis.width)
        self.keep_given()
        basis.restart(values[:keep], S[:, :keep])
        self.values, self.S, self.errors = values[:keep], np.eye(keep), errors[:keep]

    def keep_given(self) -> None:
        """Put together the vectors of states that somebody still holds, before their basis goes."""
        for state in list(self._given):
            state.settle()
        self._given.clear()

    def pair(self, index: int) -> RitzPair:
        """The Ritz pair in place `index` of the order of wantedness."""
        state = RitzPair(self, index)
        self._given.add(state)
        return state

    def residual_norm(self, pair: RitzPair) -> float:
        """‖Ax − λBx‖ for a Ritz pair: its residual T y − θy lies along the waiting block."""
        basis, norm = self.basis, self.domain.product_norm
        if basis.width > 1:
            return norm(basis.residual(pair.coefficients))
        if self._waiting[0] != basis.products:
            self._waiting = (basis.products, norm(basis.V[:, basis.size]))
        return pair.error * self._waiting[1]

    def product_norm(self, index: int, pair: RitzPair) -> float:
        """‖Bx‖ for the Ritz pair in place `index`, as of when its value was last another one to six digits."""
        theta, length = self._lengths.get(index, (math.inf, 0.0))
        if abs(pair.theta - theta) > 1e-6 * abs(pair.theta):
            length = self.domain.product_norm(pair.y)
            self._lengths[index] = (pair.theta, length)
        return length

    def vectors(self, count: int) -> Array:
        """The `count` most wanted Ritz vectors, in the coordinates of the pencil."""
        return self.domain.leave(self.basis.vectors(self.S[:, :count]))

    def spare(self, *, converged: bool) -> Array | None:
        """Some of the Ritz vectors that come after the k wanted ones: a start for who wants them, or goes on, later."""
        # to go on, more of them serve, if multiplying them again costs little beside what was done
        end = self.k + (min(self.k - 1, SPARE) if converged else min(self.k + SPARE, self.basis.products // 5))
        if end == self.k:
            return None
        _, S, _ = self.basis.ritz(end)
        return self.domain.leave(self.basis.vectors(S[:, self.k : end]))

    def renewal(self) -> Array | None:
        """The vectors to begin anew with, where there is the room for it."""
        room = self.basis.capacity >= min(3 * self.k, self.domain.n)
        return self.vectors(self.k) if room else None

    def gaps(self, count: int) -> Array:
        """How far the first `count` values are from where others may be, if none that is more wanted was passed over.

        The next Ritz value says nothing: of a multiple or a clustered eigenvalue a Krylov space shows one.
        """
        found = self.values[:count]
        low, high = self.wanted.window(found)
        return np.asarray(np.maximum(found - high, low - found) - self.errors[:count].max(initial=0.0))

    def probe(self, slack: float) -> bool | None:
        """Look at the complement of the k pairs from a random start: is there anything more wanted in it?

        Decided once the best Ritz value there, with the benefit of the doubt, is not; or is, by more than `slack`. None
        when many restarts did not decide it. The doubt is the norm of the residual and, until the probe has been as
        long as the search, what so few steps may not have seen yet.
        """
        basis, k = self.basis, self.k
        if basis.complete:
            return False
        low, high = self.wanted.window(self.values[:k])
        known = _outside(self.values[:k], low - slack, high + slack)
        self.keep_given()
        basis.restart(self.values[:k], self.S[:, :k], couple=False)
        start = basis.products
        while basis.products - start < 20 * basis.capacity:
            self.advance()
            # the vectors of a new copy of a value that is known mix with the known ones: only a count tells
            if _outside(self.values, low - slack, high + slack) > known:
                return True
            values, errors = self.values[k:], self.errors[k:]
            top, bottom = int(np.argmax(values)), int(np.argmin(values))
            steps = basis.products - start
            unseen = _unseen(steps, self.domain.n, values[top] - values[bottom]) if steps < start else 0.0
            doubt = np.maximum(errors, unseen)
            above = values[top] + doubt[top] > high and doubt[top] > slack
            below = values[bottom] - doubt[bottom] < low and doubt[bottom] > slack
            if basis.complete or (steps >= LOOKS and not (above or below)):
                return False
        return None


def _outside(values: Array, low: float, high: float) -> int:
    return int(((values < low) | (values > high)).sum())


def _unseen(steps: int, n: int, spread: float) -> float:
    """How far outside of its Ritz values an eigenvalue may be after so many steps, but for one start in a thousand.

    By Kuczyński and Woźniakowski's bound (see `largest_eigenvalue`).
    """
    root = math.log(1.648e3 * math.sqrt(n)) / (2 * steps - 1)
    return spread * root**2 / (1 - root**2) if root < 1 else math.inf


class RitzPair(State):
    """A Ritz pair of a search, with xᴴBx = 1; its vector is put together only when it is asked for."""

    __slots__ = ("_Bx", "__weakref__", "_x", "_y", "coefficients", "error", "theta")

    def __init__(self, search: Search, index: int) -> None:
        self.pencil, self.memory, self.step = search.pencil, search, 0
        self.theta, self.error = float(search.values[index]), float(search.errors[index])
        self.s, self.b = search.domain.value(self.theta) + self.pencil.shift, 1.0
        self.r = max(self.s, 0.0) ** 0.5
        self.coefficients: Array = search.S[:, index : index + 1]
        self._x: Array | None = None
        self._y: Array | None = None
        self._Bx: Array | None = None
        direct = search.domain.direct
        size = magnitude(self.pencil, self.s) if direct else abs(self.theta)
        self._residual = relative(self.error, size)
        if direct and search.goal is not None and 0 < self._residual <= NEAR * search.goal:
            # the search has a norm of its own: here is ‖Ax − λBx‖ relative to ‖Bx‖, still without a product with A
            self._residual = relative(search.residual_norm(self), size * search.product_norm(index, self))

    @property
    def y(self) -> Array:
        """The Ritz vector in the coordinates of the search."""
        if self._y is None:
            self._y = self.memory.basis.vectors(self.coefficients)[:, 0]
        return self._y

    def settle(self) -> None:
        """Put the vector together while its basis is there."""
        if self._x is None:
            self._x = np.ascontiguousarray(self.memory.domain.leave(self.y[:, None])[:, 0])

    def sine(self, frame: Frame) -> float:
        """sin of the B-angle, in the coordinates of the search where that is the Euclidean one."""
        domain = self.memory.domain
        if not domain.single:
            return super().sine(frame)
        if frame.inside is None:
            frame.inside = domain.enter(frame.U)[0]
        U, y = frame.inside, self.y
        return float(np.linalg.norm(y - U @ (U.conj().T @ y)) / np.linalg.norm(y))

    @property
    def x(self) -> Array:  # type: ignore[override]
        """The Ritz vector."""
        self.settle()
        assert self._x is not None
        return self._x

    @property
    def Bx(self) -> Array:  # type: ignore[override]
        """B times the Ritz vector."""
        if self._Bx is None:
            with self.pencil.counting(self.pencil.counts.monitoring):
                self._Bx = self.pencil.apply_B(self.x)
        return self._Bx

    @property
    def Ax(self) -> Array:  # type: ignore[override]
        """A times the Ritz vector (shifted as its value is): a product that is booked as monitoring."""
        with self.pencil.counting(self.pencil.counts.monitoring):
            return self.pencil.apply_plain_A(self.x) + self.pencil.shift * self.Bx

    @property
    def f(self) -> float:
        """The objective at the best multiple of x."""
        return -self.s / 4

    @property
    def indefinite(self) -> bool:
        """Never in the way: Rayleigh–Ritz needs no positive semidefinite A."""
        return False

    @property
    def final(self) -> bool:
        """Does the basis span the whole space?"""
        return bool(self.memory.basis.complete)
