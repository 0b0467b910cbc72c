"""The Lanczos method, plain and with full reorthogonalisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...checks import whole
from ...linalg.lanczos import LanczosProcess
from ...linalg.rounding import relative
from ...objective.state import State
from ...problem.products import Products
from ...solvers.protocol import InnerSolver
from ...typing import Array
from ..protocol import Method


@dataclass(frozen=True)
class Lanczos(Method):
    """The Rayleigh–Ritz pair of the Krylov space of T = B⁻¹A. One product with A and one solve a step.

    `reorthogonalise=False` is the plain three-term recurrence, which loses orthogonality when it converges. The
    basis is kept, up to `max_basis` vectors; then the process restarts from its Ritz vector.
    """

    inner: InnerSolver | None = None
    reorthogonalise: bool = True
    max_basis: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.max_basis, "max_basis", 2)

    def first(self, products: Products, x: Array, memory: Any) -> State:
        """A basis of one vector."""
        x, Bx = products.project(x, products.apply_B(x))
        products.B_norm(x, Bx)
        process = LanczosProcess(products.apply_A, products.solve_B, x, Bx, reorthogonalise=self.reorthogonalise)
        process.extend()
        return RitzState(products, process)

    def step(self, state: State) -> State:
        """One more basis vector, or a restart when the basis is full."""
        process: LanczosProcess = state.memory
        if process.steps >= self.max_basis:
            return self.first(state.products, state.x, None)
        process.extend()
        return RitzState(state.products, process)


class RitzState(State):
    """The top Ritz pair of a Lanczos process; its vectors are computed only when they are used."""

    __slots__ = ("_Bx", "_coefficients", "_x")

    def __init__(self, products: Products, process: LanczosProcess) -> None:
        self.products, self.memory, self.step, self._residual = products, process, 0, -1.0
        self.scale = products.scale
        top = process.steps - 1
        values, vectors = process.ritz(top, top)
        self.s, self.b = float(values[0]), 1.0
        self.r = max(self.s, 0.0) ** 0.5
        self._coefficients = vectors[:, 0].astype(products.dtype)
        self._x: Array | None = None
        self._Bx: Array | None = None

    @property
    def x(self) -> Array:  # type: ignore[override]
        """The Ritz vector V s."""
        if self._x is None:
            self._x = self.memory.vector(self._coefficients)
        return self._x

    @property
    def Bx(self) -> Array:  # type: ignore[override]
        """B V s."""
        if self.products.identity:
            return self.x
        if self._Bx is None:
            self._Bx = self.memory.dual(self._coefficients)
        return self._Bx

    @property
    def Ax(self) -> Array:  # type: ignore[override]
        """A V s, from the recurrence."""
        error: Array = self.memory.error(self._coefficients)
        return self.s * self.Bx + error

    @property
    def f(self) -> float:
        """The objective at the best multiple of x."""
        return -self.s / 4

    def _relative_residual(self) -> float:
        norm = self.products.kernels.norm
        error = self.memory.error(self._coefficients)
        return relative(norm(error), self.scale.magnitude(self.s) * norm(self.Bx))

    @property
    def final(self) -> bool:
        """Is the Krylov space invariant under T?"""
        return bool(self.memory.exhausted)
