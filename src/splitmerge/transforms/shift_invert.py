"""Shift-invert spectral transformation."""

from __future__ import annotations

from ..problem.pencil import Pencil, ShiftedSolver
from ..typing import Array
from .standard import Paired


class Inverted(Paired):
    """T = (A − σB)⁻¹B, whose largest eigenvalues by magnitude belong to the λ nearest to σ."""

    sign = 1
    direct = False
    dual_first = False

    def __init__(self, pencil: Pencil, sigma: float, factor: ShiftedSolver) -> None:
        super().__init__(pencil)
        self.sigma, self.factor = sigma, factor
        self.single = pencil.identity

    def enter(self, X: Array) -> tuple[Array, Array]:
        """X and B X, one and the same for the identity."""
        X = X.copy()
        return (X, X) if self.single else super().enter(X)

    def apply(self, y: Array, z: Array) -> Array:
        """A solve with A − σB."""
        return self.pencil.solve_K(self.factor, z)

    def complete(self, first: Array) -> tuple[Array, Array]:
        """A product with B."""
        return first, self.pencil.apply_B(first)

    def value(self, theta: float) -> float:
        """λ = σ + 1/θ."""
        return self.sigma + 1 / theta
