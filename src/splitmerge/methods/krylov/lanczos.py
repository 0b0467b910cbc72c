"""The Lanczos method, plain and with full reorthogonalisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...checks import whole
from ...linalg.lanczos import LanczosProcess
from ...objective.state import State, magnitude, relative
from ...problem.pencil import Pencil
from ...solvers.protocol import InnerSolver
from ...typing import Array
from ..protocol import Method


@dataclass(frozen=True)
class Lanczos(Method):
    """The Rayleigh–Ritz pair of the Krylov space of T = B⁻¹A. One product with A and one solve a step.

    `reorthogonalise=False` is the plain three-term recurrence, which loses orthogonality when it converges. The
    basis is kept, up to `max_basis` vectors; then the process starts again from its Ritz vector.
    """

    inner: InnerSolver | None = None
    reorthogonalise: bool = True
    max_basis: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.max_basis, "max_basis", 2)

    def first(self, pencil: Pencil, x: Array | None, memory: Any) -> State:
        """A basis of one vector."""
        assert x is not None
        x, Bx = pencil.project(x, pencil.apply_B(x))
        pencil.B_norm(x, Bx)
        process = LanczosProcess(pencil.apply_A, pencil.solve_B, x, Bx, reorthogonalise=self.reorthogonalise)
        process.extend()
        return RitzState(pencil, process)

    def step(self, state: State) -> State:
        """One more basis vector, or a restart when the basis is full."""
        process: LanczosProcess = state.memory
        if process.steps >= self.max_basis:
            return self.first(state.pencil, state.x, None)
        process.extend()
        return RitzState(state.pencil, process)


class RitzState(State):
    """The top Ritz pair of a Lanczos process; its vectors are put together only when they are asked for."""

    __slots__ = ("_Bx", "_coefficients", "_x")

    def __init__(self, pencil: Pencil, process: LanczosProcess) -> None:
        self.pencil, self.memory, self.step, self._residual = pencil, process, 0, -1.0
        top = process.steps - 1
        values, vectors = process.ritz(top, top)
        self.s, self.b = float(values[0]), 1.0
        self.r = max(self.s, 0.0) ** 0.5
        self._coefficients = vectors[:, 0].astype(pencil.dtype)
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
        if self.pencil.identity:
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
        norm = self.pencil.kernels.norm
        error = self.memory.error(self._coefficients)
        return relative(norm(error), magnitude(self.pencil, self.s) * norm(self.Bx))

    @property
    def final(self) -> bool:
        """Is the Krylov space invariant under T?"""
        return bool(self.memory.exhausted)
