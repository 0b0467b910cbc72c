"""The Lanczos method, plain and with full reorthogonalisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..checks import whole
from ..kernels import Array
from ..krylov import LanczosProcess
from ..pencil import Pencil
from ..state import State, magnitude, relative
from .base import Method


@dataclass(frozen=True)
class Lanczos(Method):
    """The Rayleigh–Ritz pair of the Krylov space of T = B⁻¹A. One product with A and one solve a step.

    `reorthogonalise=False` is the plain three-term recurrence, which loses orthogonality when it converges. The
    basis is kept, up to `max_basis` vectors; then the process starts again from its Ritz vector.
    """

    reorthogonalise: bool = True
    max_basis: int = 1000

    needs_semidefinite: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.max_basis, "max_basis", 2)

    def first(self, pencil: Pencil, x: Array, memory: Any) -> State:
        """A basis of one vector."""
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

    __slots__ = ("_Bx", "_coefficients", "_j", "_value", "_x")

    def __init__(self, pencil: Pencil, process: LanczosProcess) -> None:
        self.pencil, self.memory, self.step, self._residual = pencil, process, 0, -1.0
        self._j = process.steps
        values, vectors = process.ritz(self._j - 1, self._j - 1)
        self._value = self.s = float(values[0])
        self.b = 1.0
        self._coefficients = vectors[:, 0].astype(pencil.dtype)
        self._x: Array | None = None
        self._Bx: Array | None = None

    @property
    def x(self) -> Array:  # type: ignore[override]
        """The Ritz vector V s."""
        if self._x is None:
            self._x = np.asarray(self.memory._V[:, : self._j] @ self._coefficients)
        return self._x

    @property
    def Bx(self) -> Array:  # type: ignore[override]
        """B V s."""
        if self.pencil.identity:
            return self.x
        if self._Bx is None:
            self._Bx = np.asarray(self.memory._MV[:, : self._j] @ self._coefficients)
        return self._Bx

    @property
    def _error(self) -> Array:
        """A x − θ B x = β_j s_j p_{j+1}."""
        return self.memory._MV[:, self._j] * (self.memory.beta[self._j - 1] * self._coefficients[-1])  # type: ignore[no-any-return]

    @property
    def Ax(self) -> Array:  # type: ignore[override]
        """A V s, from the recurrence."""
        return self._value * self.Bx + self._error

    @property
    def f(self) -> float:
        """The objective at the best multiple of x."""
        return -self._value / 4

    def _relative_residual(self) -> float:
        norm = self.pencil.kernels.norm
        return relative(norm(self._error), magnitude(self.pencil, self._value) * norm(self.Bx))

    @property
    def final(self) -> bool:
        """Is the Krylov space invariant under T?"""
        return bool(self.memory.exhausted)

    @property
    def indefinite(self) -> bool:
        """Lanczos needs no semidefinite A."""
        return False
