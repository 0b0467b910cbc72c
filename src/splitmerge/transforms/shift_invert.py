"""Shift-invert: T = (A − σB)⁻¹B, Hermitian in the inner product of B."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from ..errors import NotPositiveDefinite
from ..linalg.reductions import column_dots, norms
from ..problem.b_policy import semidefinite_root
from ..problem.products import Products, ShiftedSolver, bound
from ..typing import Array
from .standard import BInner, added


class ShiftInvert(BInner):
    """T = ±(A − σB)⁻¹B, whose eigenvalues of largest magnitude belong to the λ nearest to σ: λ = σ ± 1/θ."""

    direct = False
    dual_first = False

    def __init__(self, products: Products, sigma: float, factor: ShiftedSolver, sign: int = 1) -> None:
        super().__init__(products)
        self.sigma, self.sign = sigma, sign
        self.factor = bound(factor, products)
        self.single = products.identity

    def monitored(self) -> Self:
        """The same transformation, its products counted as monitoring."""
        return type(self)(self.products.monitoring, self.sigma, self.factor, self.sign)

    def enter(self, X: Array) -> tuple[Array, Array]:
        """X and B X, one and the same for the identity."""
        X = X.copy()
        return (X, X) if self.single else super().enter(X)

    def random(self, X: Array) -> tuple[Array, Array]:
        """X and (A − σB)⁻¹X, each of B-norm 1, added; X itself for the identity."""
        if self.single:
            return self.enter(X)
        return added(*self.enter(X), *self.enter(self.products.solves_K(self.factor, np.asfortranarray(X))))

    def apply(self, y: Array, z: Array) -> Array:
        """A solve with ±(A − σB)."""
        solved = self.products.solve_K(self.factor, z)
        return solved if self.sign > 0 else -solved

    def apply_block(self, Y: Array, Z: Array) -> Array:
        """Solves with ±(A − σB)."""
        solved = self.products.solves_K(self.factor, Z)
        return solved if self.sign > 0 else -solved

    def complete(self, first: Array) -> tuple[Array, Array]:
        """A product with B."""
        return first, self.products.apply_B(first)

    def complete_block(self, first: Array) -> tuple[Array, Array]:
        """Products with B."""
        return first, self.products.products_B(first)

    def value(self, theta: float) -> float:
        """λ = σ ± 1/θ."""
        return self.sigma + self.sign / theta if theta else math.inf


class SemidefiniteShiftInvert(ShiftInvert):
    """y = Lᴴx for a singular B = L Lᴴ: T = ±Lᴴ(A − σB)⁻¹L, and x = (A − σB)⁻¹L y up to normalisation.

    In the vectors x themselves, components in the null space of B would grow from rounding until they dominate.
    """

    def __init__(self, products: Products, sigma: float, factor: ShiftedSolver, sign: int, L: Any) -> None:
        super().__init__(products, sigma, factor, sign)
        self.single = True
        self.L = L
        self.adjoint = self.L.conj().T
        self.reached = np.asarray(abs(self.L).sum(axis=0)).ravel() > 0
        self.dimension = int(np.count_nonzero(self.reached))

    def monitored(self) -> Self:
        """The same transformation, its products counted as monitoring."""
        return type(self)(self.products.monitoring, self.sigma, self.factor, self.sign, self.L)

    def enter(self, X: Array) -> tuple[Array, Array]:
        """LᴴX."""
        Y = np.asfortranarray(self.adjoint @ X)
        return Y, Y

    def random(self, X: Array) -> tuple[Array, Array]:
        """X itself is isotropic, in the coordinates that vectors reach."""
        Y = np.asfortranarray(np.where(self.reached[:, None], X, 0))
        return Y, Y

    def leave(self, Y: Array) -> Array:
        """(A − σB)⁻¹L Y, of B-norm 1."""
        X = np.column_stack([self.products.solve_K(self.factor, self.L @ y) for y in Y.T])
        return np.asarray(X / norms(self.adjoint @ X))

    def dual(self, y: Array) -> Array:
        """The vector itself."""
        return y

    def image(self, y: Array) -> Array:
        """L y."""
        return np.asarray(self.L @ y)

    def apply(self, y: Array, z: Array) -> Array:
        """A solve between two products."""
        return np.asarray(self.adjoint @ super().apply(y, self.L @ z))

    def apply_block(self, Y: Array, Z: Array) -> Array:
        """Solves between two products."""
        return np.asfortranarray(self.adjoint @ super().apply_block(Y, np.asfortranarray(self.L @ Z)))

    def complete(self, first: Array) -> tuple[Array, Array]:
        """The vector is its own dual."""
        return first, first

    complete_block = complete


class MasslessShiftInvert(ShiftInvert):
    """T = ±P(A − σB)⁻¹B for a B with zero rows, the unknowns without mass, which P sets to zero.

    That leaves B-inner products as they are, and nothing can grow in the null space of B.
    """

    def __init__(self, products: Products, sigma: float, factor: ShiftedSolver, sign: int, massless: Array) -> None:
        super().__init__(products, sigma, factor, sign)
        self.massless, self.dimension = massless, products.n - massless.size

    def monitored(self) -> Self:
        """The same transformation, its products counted as monitoring."""
        return type(self)(self.products.monitoring, self.sigma, self.factor, self.sign, self.massless)

    def enter(self, X: Array) -> tuple[Array, Array]:
        """P X and B X."""
        X = X.copy()
        X[self.massless] = 0
        return super().enter(X)

    def apply(self, y: Array, z: Array) -> Array:
        """A solve, projected."""
        solved = super().apply(y, z)
        solved[self.massless] = 0
        return solved

    def apply_block(self, Y: Array, Z: Array) -> Array:
        """Solves, projected."""
        solved = super().apply_block(Y, Z)
        solved[self.massless] = 0
        return solved

    def leave(self, Y: Array) -> Array:
        """(A − σB)⁻¹BY, of B-norm 1: the massless unknowns follow from the others."""
        BY = self.products.products_B(Y)
        X = np.column_stack([self.products.solve_K(self.factor, np.ascontiguousarray(z)) for z in BY.T])
        return np.asarray(X / np.sqrt(column_dots(X, self.products.products_B(X))))


def root_of(products: Products, name: str) -> tuple[Any, int]:
    """A square L with B = L Lᴴ, padded with columns of zeros that no vector reaches, and the rank of B."""
    B, n = products.B, products.n
    assert B is not None
    L = semidefinite_root(B)
    rank = int(L.shape[1])
    error = abs(B.matrix - L @ L.conj().T).max()
    if not error <= math.sqrt(products.eps) * B.size:
        raise NotPositiveDefinite(f"{name} has negative eigenvalues; it must be positive semidefinite")
    if B.kind == "sparse":
        L.resize((n, n))
    else:
        L = np.pad(L, ((0, 0), (0, n - rank)))
    return L.astype(products.dtype), rank
