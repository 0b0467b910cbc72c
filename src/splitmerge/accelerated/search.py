"""One search: when to expand the basis, when to restart it, how to look for what it may have missed."""

from __future__ import annotations

import weakref

import numpy as np

from ..kernels import Array
from ..pencil import Pencil
from ..state import State, magnitude, relative
from .basis import Basis
from .domain import Domain
from .wanted import Wanted

# Beyond what the pairs themselves need: enough that restarts cost few products, few enough for the memory.
ROOM = 50


class Search:
    """The k most wanted pairs of T, from a basis that is expanded, restarted and probed."""

    def __init__(
        self,
        pencil: Pencil,
        domain: Domain,
        k: int,
        wanted: Wanted,
        rng: np.random.Generator,
        max_basis: int | None = None,
    ) -> None:
        self.pencil, self.domain, self.k, self.wanted = pencil, domain, k, wanted
        # a basis with duals takes twice the memory
        capacity = 4 * k + ROOM if domain.single else 2 * k + ROOM // 2
        if max_basis is not None:
            capacity = max(max_basis, k + 3)
        self.basis = Basis(domain, capacity, wanted, rng)
        self.index = 0
        self.locked = 0
        self._given: weakref.WeakSet[RitzPair] = weakref.WeakSet()
        self.values = self.errors = np.zeros(0)
        self.S = np.zeros((0, 0))

    def start(self, X: Array) -> None:
        """Begin with the columns of X, in the coordinates of the pencil."""
        self.basis.start(X)
        self.advance()

    def advance(self) -> None:
        """Expand the basis by a seventh or so of what it took so far, then Rayleigh–Ritz."""
        basis = self.basis
        for _ in range(max(1, self.k - basis.size, basis.products // (7 * max(basis.width, 1)))):
            if basis.full:
                self._restart()
            if basis.width == 0:
                break
            basis.expand()
        self._rayleigh_ritz()

    def _rayleigh_ritz(self) -> None:
        basis, pencil = self.basis, self.pencil
        self.values, self.S, self.errors = basis.ritz(self.k + 1)
        if self.domain.direct:
            # nothing is shifted here: this says what residuals are relative to
            shift = max(0.0, -basis.lowest)
            pencil.transform(shift=shift, found=pencil.found, B_found=pencil.B_found, radius=basis.radius + shift)

    def _restart(self) -> None:
        basis = self.basis
        values, S, _ = basis.ritz(basis.size)
        keep = min(self.k + max(2, 2 * (basis.capacity - self.k) // 5), basis.capacity - 2 * basis.width)
        self._keep_given()
        basis.restart(values[:keep], S[:, :keep])

    def _keep_given(self) -> None:
        """Put together the vectors of states that somebody still holds, before their basis goes."""
        for state in list(self._given):
            state.settle()
        self._given.clear()

    def pair(self, index: int) -> RitzPair:
        """The Ritz pair in place `index` of the order of wantedness."""
        state = RitzPair(self, index)
        self._given.add(state)
        return state

    def vectors(self, count: int) -> Array:
        """The `count` most wanted Ritz vectors, in the coordinates of the pencil."""
        return self.domain.leave(self.basis.vectors(self.S[:, :count]))

    def probe(self, slack: float) -> bool | None:
        """Look at the complement of the k pairs from a random start: is there anything more wanted in it?

        Decided once the best Ritz value there, with the norm of its residual as the benefit of the doubt, is not; or
        is, by more than `slack`. None when many restarts did not decide it.
        """
        basis, k = self.basis, self.k
        if basis.complete:
            return False
        low, high = self.wanted.window(self.values[:k])
        self._keep_given()
        basis.restart(self.values[:k], self.S[:, :k], couple=False)
        start = basis.products
        while basis.products - start < 20 * basis.capacity:
            self.advance()
            others = np.flatnonzero(np.linalg.norm(self.S[:k], axis=0) ** 2 < 0.5)
            values, errors = self.values[others], self.errors[others]
            top, bottom = int(np.argmax(values)), int(np.argmin(values))
            if values[top] > high + slack or values[bottom] < low - slack:
                return True
            above = values[top] + errors[top] > high and errors[top] > slack
            below = values[bottom] - errors[bottom] < low and errors[bottom] > slack
            if basis.complete or not (above or below):
                return False
        return None


class RitzPair(State):
    """A Ritz pair of a search, with xᴴBx = 1; its vectors are put together only when they are asked for."""

    __slots__ = ("_Bx", "__weakref__", "_coefficients", "_x", "error", "theta")

    def __init__(self, search: Search, index: int) -> None:
        self.pencil, self.memory, self.step = search.pencil, search, 0
        self.theta, self.error = float(search.values[index]), float(search.errors[index])
        self.s, self.b = search.domain.value(self.theta) + self.pencil.shift, 1.0
        self.r = max(self.s, 0.0) ** 0.5
        size = magnitude(self.pencil, self.s) if search.domain.direct else abs(self.theta)
        self._residual = relative(self.error, size)
        self._coefficients: Array = search.S[:, index : index + 1]
        self._x: Array | None = None
        self._Bx: Array | None = None

    def settle(self) -> None:
        """Put the vectors together while their basis is there."""
        search: Search = self.memory
        if self._x is None:
            self._x = search.domain.leave(search.basis.vectors(self._coefficients))[:, 0]
            self._Bx = search.domain.leave_dual(search.basis.duals(self._coefficients))[:, 0]

    @property
    def x(self) -> Array:  # type: ignore[override]
        """The Ritz vector."""
        self.settle()
        assert self._x is not None
        return self._x

    @property
    def Bx(self) -> Array:  # type: ignore[override]
        """B times the Ritz vector."""
        self.settle()
        assert self._Bx is not None
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
    def final(self) -> bool:
        """Does the basis span the whole space?"""
        return bool(self.memory.basis.complete)
