"""One iterate x of a method with its products A x and B x: monitoring it costs no further product."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..linalg.multiply import product
from ..linalg.reductions import gram, vdot
from ..linalg.rounding import Scale, relative
from ..problem.pencil import Pencil
from ..problem.products import Products
from ..typing import Array


class Frame:
    """A B-orthonormal basis U of a reference subspace for angles; `inside` are its coordinates in a transform."""

    __slots__ = ("BU", "U", "inside")

    def __init__(self, U: Array, BU: Array) -> None:
        self.U, self.BU = U, BU
        self.inside: Array | None = None


class State:
    """An iterate x of the (shifted, deflated, scaled) pencil with A x, B x, s = xᴴAx, r = √s and b = xᴴBx.

    `eigenvalue` and `vector` are in the user's units and coordinates. `scale` says what residuals are relative to.
    """

    __slots__ = ("Ax", "Bx", "_residual", "b", "memory", "products", "r", "s", "scale", "step", "x")

    # after this many steps without a residual that is smaller by a tenth, one at the level of rounding counts as
    # converged, and after these any other one as hopeless
    patience: float = 100
    endurance: float = math.inf

    def __init__(self, products: Products, x: Array, Ax: Array, Bx: Array, memory: Any = None) -> None:
        self.products, self.x, self.Ax, self.Bx, self.memory = products, x, Ax, Bx, memory
        self.scale: Scale = products.scale
        self.s = products.kernels.dot(x, Ax)
        self.b = products.kernels.dot(x, Bx)
        if self.b <= 0:
            products.B_norm(x, Bx)
        self.r = math.sqrt(self.s) if self.s > 0 else 0.0
        self.step = 0
        self._residual = -1.0

    @property
    def pencil(self) -> Pencil:
        """The pencil that x belongs to."""
        return self.products.pencil

    @property
    def value(self) -> float:
        """The Rayleigh quotient xᴴAx / xᴴBx of the shifted pencil, whose maximum is λ₁ (equation 1.1)."""
        return self.s / self.b

    @property
    def eigenvalue(self) -> float:
        """The eigenvalue estimate in the user's units."""
        return self.pencil.value_of(self.s / self.b - self.scale.shift)

    @property
    def vector(self) -> Array:
        """x in the user's coordinates; `x` itself belongs to the pencil, which may be scaled."""
        return self.pencil.vectors_of(self.x)

    @property
    def finite(self) -> bool:
        """False after a divergent step."""
        return math.isfinite(self.s) and math.isfinite(self.b)

    @property
    def f(self) -> float:
        """The objective f(x) = xᴴBx − √(xᴴAx), from the inner products that the state carries."""
        return self.b - self.r

    @property
    def residual(self) -> float:
        """‖Ax − λBx‖ / (max(|λ|, √eps Λ) ‖Bx‖), λ not shifted and Λ the spectral radius as far as it is known."""
        if self._residual < 0:
            self._residual = self._relative_residual()
        return self._residual

    def _relative_residual(self) -> float:
        kernels, value = self.products.kernels, self.s / self.b
        error = kernels.norm(kernels.axpy(self.Bx, self.Ax.copy(), a=-value))
        return relative(error, self.scale.magnitude(value) * kernels.norm(self.Bx))

    @property
    def floor(self) -> float:
        """The relative residual below which x has a backward error of a few ulp."""
        scale, norm, value = self.scale, self.products.kernels.norm, self.s / self.b
        return scale.floor(value, norm(self.x), scale.magnitude(value) * norm(self.Bx))

    @property
    def at_rounding(self) -> bool:
        """Is the residual at a level where the rounding of the iteration may keep it?"""
        scale, norm = self.scale, self.products.kernels.norm
        size = scale.magnitude(self.s / self.b) * norm(self.Bx)
        return self.residual <= scale.stagnation(norm(self.x), size)

    def sine(self, frame: Frame) -> float:
        """sin of the B-angle between x and the space of the frame."""
        return sine(self.x, self.Bx, frame.U, frame.BU)

    @property
    def final(self) -> bool:
        """Is there no further step, because A x vanishes or the subspace is exhausted?"""
        return self.s <= self.scale.eps**2 * self.scale.shifted_radius * self.b

    @property
    def indefinite(self) -> bool:
        """Does x show that A has a negative eigenvalue? The objective needs a positive semidefinite A."""
        return self.s < -100 * self.scale.eps * self.scale.shifted_radius * self.b

    def rescale(self) -> float:
        """Scale x to the multiple that minimises f and return the factor; in place, so for a new state only.

        At that multiple 2√(xᴴAx) is the Rayleigh quotient λ, and f is −λ/4.
        """
        factor = self.r / (2 * self.b)
        if factor == 0:
            return 1.0
        self.x *= factor
        self.Ax *= factor
        if not self.products.identity:
            self.Bx *= factor
        self.s, self.r, self.b = self.s * factor**2, self.r * factor, self.b * factor**2
        return factor


def start(products: Products, x: Array, memory: Any = None) -> State:
    """The first state: one product with B, one with A, and the scaling that every method starts from."""
    x, Bx = products.project(x, products.apply_B(x))
    norm = products.B_norm(x, Bx)
    x, Bx = x / norm, Bx / norm
    if products.identity:
        Bx = x
    state = State(products, x, products.apply_A(x, Bx), Bx, memory)
    state.rescale()
    return state


def sine(x: Array, Bx: Array, U: Array, BU: Array) -> float:
    """sin of the B-angle between x and the span of the B-orthonormal U, without the cancellation of 1 − cos²."""
    c, whole = gram(BU, x), float(vdot(x, Bx).real)
    if not whole > 0:
        # an operator that lies may leave nothing of a vector
        return 1.0
    return math.sqrt(max(float(vdot(x - product(U, c), Bx - product(BU, c)).real) / whole, 0.0))


def as_frame(U: Array, products: Products) -> Frame:
    """The frame of the span of the columns U, which must be linearly independent."""
    BU = np.column_stack([products.apply_B(np.ascontiguousarray(u)) for u in U.T])
    if U.shape[1] == 1:
        norm = products.B_norm(U[:, 0], BU[:, 0])
        return Frame(U / norm, BU / norm)
    values, C = np.linalg.eigh(gram(U, BU))
    if not values[0] > 1e3 * products.eps * values[-1]:
        raise ValueError("the columns of reference are linearly dependent; give independent ones")
    C = C / np.sqrt(values)
    return Frame(product(U, C), product(BU, C))
