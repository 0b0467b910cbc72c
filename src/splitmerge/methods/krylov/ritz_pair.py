"""A Ritz pair of the thick-restart iteration as a state."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...linalg.multiply import product
from ...linalg.reductions import gram, norm, vdot
from ...linalg.rounding import attainable_residual, relative
from ...objective.state import Frame, State
from ...problem.products import Iterative
from ...typing import Array

if TYPE_CHECKING:
    from .thick_restart import ThickRestart

# Once an estimated residual is within this factor of its goal, the residual norm of (A, B) replaces the estimate.
ESTIMATE_FACTOR = 30
# The floor is not computed while the residual norm exceeds this multiple of the rounding of the largest eigenvalue.
FLOOR_UNITS = 1e4


class RitzPair(State):
    """A Ritz pair with xᴴBx = 1; its vector is computed only when it is used."""

    __slots__ = ("_Bx", "__weakref__", "_quotient", "_x", "_y", "coefficients", "error", "theta")

    # a step makes several products
    patience, endurance = 10, 1000

    def __init__(self, search: ThickRestart, index: int) -> None:
        self.products, self.memory, self.step = search.products, search, 0
        self.scale = search.scale
        self.theta, self.error = float(search.values[index]), float(search.errors[index])
        self.s, self.b = search.transform.value(self.theta) + self.scale.shift, 1.0
        self.r = max(self.s, 0.0) ** 0.5
        self.coefficients: Array = search.S[:, index : index + 1]
        self._x: Array | None = None
        self._y: Array | None = None
        self._Bx: Array | None = None
        self._quotient: float | None = None
        direct = search.transform.direct
        size = self.scale.magnitude(self.s) if direct else abs(self.theta)
        self._residual = relative(self.error, size)
        if direct and search.goal is not None and 0 < self._residual <= ESTIMATE_FACTOR * search.goal:
            # ‖Ax − λBx‖ relative to ‖Bx‖ instead of the norm of the transformation, without a product with A
            self._residual = relative(search.residual_norm(self), size * search.product_norm(index, self))

    @property
    def floor(self) -> float:
        """The relative residual below which rounding decides; 0 while that is clearly not reached."""
        scale = self.scale
        if not self.memory.transform.direct:
            return relative(attainable_residual(scale.n, scale.eps) * self.memory.basis.radius, abs(self.theta))
        return super().floor if self.error <= FLOOR_UNITS * scale.eps * scale.radius else 0.0

    @property
    def y(self) -> Array:
        """The Ritz vector in the coordinates of the transformation."""
        if self._y is None:
            self._y = self.memory.basis.vectors(self.coefficients)[:, 0]
        return self._y

    def settle(self) -> None:
        """Compute the vector while its basis exists."""
        if self._x is None:
            self._x = np.ascontiguousarray(self.memory.transform.leave(self.y[:, None])[:, 0])

    def sine(self, frame: Frame) -> float:
        """sin of the B-angle, in the coordinates of the transformation where that is the Euclidean angle."""
        transform = self.memory.transform
        if not transform.single:
            return super().sine(frame)
        if frame.inside is None:
            frame.inside = transform.enter(frame.U)[0]
        U, y = frame.inside, self.y
        length = norm(y)
        return norm(y - product(U, gram(U, y))) / length if length > 0 else 1.0

    @property
    def x(self) -> Array:  # type: ignore[override]
        """The Ritz vector."""
        self.settle()
        assert self._x is not None
        return self._x

    @property
    def Bx(self) -> Array:  # type: ignore[override]
        """B times the Ritz vector, counted as monitoring."""
        if self._Bx is None:
            self._Bx = self.products.monitoring.apply_B(self.x)
        return self._Bx

    @property
    def Ax(self) -> Array:  # type: ignore[override]
        """A times the Ritz vector (shifted as its value is), counted as monitoring."""
        return self.products.monitoring.apply_plain_A(self.x) + self.scale.shift * self.Bx

    @property
    def eigenvalue(self) -> float:
        """The Ritz value; after inexact solves with B, where the recurrence holds approximately, the quotient of x."""
        if not isinstance(self.products.solver, Iterative):
            return super().eigenvalue
        if self._quotient is None:
            square = float(vdot(self.x, self.Bx).real)
            # an operator may have overwritten x
            self._quotient = float(vdot(self.x, self.Ax).real) / square if square else math.nan
        return self.pencil.value_of(self._quotient - self.scale.shift)

    @property
    def f(self) -> float:
        """The objective at the best multiple of x."""
        return -self.s / 4

    @property
    def indefinite(self) -> bool:
        """Rayleigh–Ritz needs no positive semidefinite A."""
        return False

    @property
    def final(self) -> bool:
        """Does the basis span the whole space, or is the search given up?"""
        return bool(self.memory.basis.complete or self.memory.given_up)
