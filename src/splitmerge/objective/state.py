"""One iterate x of a method, with A x and B x beside it, so that watching it costs no product."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..problem.pencil import Pencil
from ..typing import Array


class Frame:
    """A B-orthonormal basis U of a space that angles are measured to; `inside` is the same in other coordinates."""

    __slots__ = ("BU", "U", "inside")

    def __init__(self, U: Array, BU: Array) -> None:
        self.U, self.BU = U, BU
        self.inside: Array | None = None


class State:
    """An iterate x of the (shifted, deflated, scaled) pencil with A x, B x, s = xᴴAx, r = √s and b = xᴴBx.

    `eigenvalue` and `vector` are in the user's units and coordinates.
    """

    __slots__ = ("Ax", "Bx", "_residual", "b", "memory", "pencil", "r", "s", "step", "x")

    def __init__(self, pencil: Pencil, x: Array, Ax: Array, Bx: Array, memory: Any = None) -> None:
        self.pencil, self.x, self.Ax, self.Bx, self.memory = pencil, x, Ax, Bx, memory
        self.s = pencil.kernels.dot(x, Ax)
        self.b = pencil.kernels.dot(x, Bx)
        if self.b <= 0:
            pencil.B_norm(x, Bx)
        self.r = math.sqrt(self.s) if self.s > 0 else 0.0
        self.step = 0
        self._residual = -1.0

    @property
    def value(self) -> float:
        """The Rayleigh quotient xᴴAx / xᴴBx of the shifted pencil."""
        return self.s / self.b

    @property
    def eigenvalue(self) -> float:
        """The eigenvalue estimate in the user's units."""
        return self.pencil.original(self.s / self.b)

    @property
    def vector(self) -> Array:
        """x in the user's coordinates; `x` itself is of the pencil, which may be scaled."""
        return self.pencil.vectors_of(self.x)

    @property
    def finite(self) -> bool:
        """False after a divergent step."""
        return math.isfinite(self.s) and math.isfinite(self.b)

    @property
    def f(self) -> float:
        """The objective xᴴBx − √(xᴴAx)."""
        return self.b - self.r

    @property
    def residual(self) -> float:
        """‖Ax − λBx‖ / (max(|λ|, √eps Λ) ‖Bx‖), Λ the spectral radius as far as it is known."""
        if self._residual < 0:
            self._residual = self._relative_residual()
        return self._residual

    def _relative_residual(self) -> float:
        kernels, value = self.pencil.kernels, self.s / self.b
        error = kernels.norm(kernels.axpy(self.Bx, self.Ax.copy(), a=-value))
        return relative(error, magnitude(self.pencil, value) * kernels.norm(self.Bx))

    @property
    def rounding(self) -> float:
        """The residual that rounding alone may leave; below it x solves a pair that differs by a few ulp."""
        norm = self.pencil.kernels.norm
        return rounding_level(self.pencil, self.s / self.b, norm(self.x), norm(self.Bx))

    def sine(self, frame: Frame) -> float:
        """sin of the B-angle between x and the space of the frame."""
        return sine(self.x, self.Bx, frame.U, frame.BU)

    @property
    def final(self) -> bool:
        """Is there no further step, because A x vanishes or the search space is exhausted?"""
        return self.s <= self.pencil.eps**2 * self.pencil.radius * self.b

    @property
    def indefinite(self) -> bool:
        """Does x show that A has a negative eigenvalue? The objective needs A to be positive semidefinite."""
        return self.s < -100 * self.pencil.eps * self.pencil.radius * self.b

    def rescale(self) -> float:
        """Turn x into its multiple with the least f and return the factor; for a method's own fresh state only.

        There 2√(xᴴAx) is the Rayleigh quotient λ, and f is −λ/4.
        """
        factor = self.r / (2 * self.b)
        if factor == 0:
            return 1.0
        self.x *= factor
        self.Ax *= factor
        if not self.pencil.identity:
            self.Bx *= factor
        self.s, self.r, self.b = self.s * factor**2, self.r * factor, self.b * factor**2
        return factor


def start(pencil: Pencil, x: Array, memory: Any = None) -> State:
    """The first state: one product with B and one with A, and the scaling that every method starts from."""
    x, Bx = pencil.project(x, pencil.apply_B(x))
    norm = pencil.B_norm(x, Bx)
    x, Bx = x / norm, Bx / norm
    if pencil.identity:
        Bx = x
    state = State(pencil, x, pencil.apply_A(x, Bx), Bx, memory)
    state.rescale()
    return state


def sine(x: Array, Bx: Array, U: Array, BU: Array) -> float:
    """sin of the B-angle between x and the span of the B-orthonormal U, without the cancellation of 1 − cos²."""
    c = BU.conj().T @ x
    square = np.vdot(x - U @ c, Bx - BU @ c).real / np.vdot(x, Bx).real
    return math.sqrt(max(float(square), 0.0))


def excusable(pencil: Pencil, rounding: float) -> float:
    """As much of the level of rounding as may pass for convergence: 5e-7 in double and 2e-3 in single precision."""
    return min(rounding, float(pencil.eps**0.4))


def magnitude(pencil: Pencil, value: float) -> float:
    """What the error of an eigenvalue is relative to: itself, but a value lost beside the largest counts as zero."""
    return max(abs(value), math.sqrt(pencil.eps) * pencil.radius)


def rounding_level(pencil: Pencil, value: float, length: float, scale: float) -> float:
    """4 √n eps (|A| + Λ|B|) ‖x‖ relative to `scale`, the size of λBx; |·| is the largest entry."""
    B_size = 1.0 if pencil.B is None else pencil.B.size
    size = pencil.A.size + max(pencil.radius, abs(value)) * B_size
    return 4 * math.sqrt(pencil.n) * pencil.eps * relative(size * length, scale)


def relative(error: float, size: float) -> float:
    """error / size, with 0/0 = 0: a vanishing pair has no error."""
    if error == 0:
        return 0.0
    return error / size if size > 0 else math.inf
