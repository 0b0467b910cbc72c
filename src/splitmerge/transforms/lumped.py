"""Shift-invert with a positive diagonal B = R², such as a lumped mass: T = R(A − σB)⁻¹R is its own adjoint.

Vectors y = R x are orthogonal in the Euclidean inner product, so that no product with B is needed but two with R.
"""

from __future__ import annotations

import numpy as np

from ..linalg.reductions import column_dots
from ..problem.operator import Operator
from ..problem.products import Products, ShiftedSolver
from ..sparse_direct.diagonal import is_diagonal
from ..typing import Array
from .shift_invert import ShiftInvert
from .standard import BInner


class Rooted:
    """y = R x, its own dual, with R = diag(`root`)."""

    root: Array

    def enter(self, X: Array) -> tuple[Array, Array]:
        """R X."""
        Y = np.asfortranarray(self.root[:, None] * X)
        return Y, Y

    def random(self, X: Array) -> tuple[Array, Array]:
        """X itself is isotropic."""
        Y = X.copy(order="F")
        return Y, Y

    def dual(self, y: Array) -> Array:
        """The vector itself."""
        return y

    def image(self, y: Array) -> Array:
        """R y."""
        return np.asarray(self.root * y)

    def complete(self, first: Array) -> tuple[Array, Array]:
        """The vector is its own dual."""
        return first, first

    complete_block = complete


class LumpedShiftInvert(Rooted, ShiftInvert):
    """T = ±R(A − σB)⁻¹R, and x = (A − σB)⁻¹R y up to normalisation: inverse iteration that costs a solve each."""

    def __init__(self, products: Products, sigma: float, factor: ShiftedSolver, sign: int = 1) -> None:
        super().__init__(products, sigma, factor, sign)
        assert products.B is not None
        self.single = True
        self.root = np.sqrt(products.B.diagonal().real)

    def leave(self, Y: Array) -> Array:
        """(A − σB)⁻¹R Y, of B-norm 1."""
        RX = self.root[:, None] * self.products.solves_K(self.factor, np.asfortranarray(self.root[:, None] * Y))
        return np.asarray(RX / np.sqrt(column_dots(RX, RX)) / self.root[:, None])

    def apply(self, y: Array, z: Array) -> Array:
        """A solve between two products with R."""
        return np.asarray(self.root * super().apply(y, self.root * z))

    def apply_block(self, Y: Array, Z: Array) -> Array:
        """Solves between two products with R."""
        solved = super().apply_block(Y, np.asfortranarray(self.root[:, None] * Z))
        return np.asfortranarray(self.root[:, None] * solved)


class LumpedInverse(Rooted, BInner):
    """T = R K⁻¹R for the pair (R², K) that a diagonal B and K = ±(A − σB) have become, and x = K⁻¹R y.

    `enter` makes R X of the vectors X, which for eigenvectors is R⁻¹K X up to a factor.
    """

    single = True
    dual_first = False

    def __init__(self, products: Products) -> None:
        super().__init__(products)
        self.root = np.sqrt(products.A.diagonal().real)

    def leave(self, Y: Array) -> Array:
        """K⁻¹R Y, of K-norm 1."""
        RY = np.asfortranarray(self.root[:, None] * Y)
        X = self.products.solves_B(RY)[0]
        return np.asarray(X / np.sqrt(column_dots(X, RY)))

    def apply(self, y: Array, z: Array) -> Array:
        """A solve between two products with R."""
        self.products.tally.A_products += 1
        return np.asarray(self.root * self.products.solve_B(self.root * y)[0])

    def apply_block(self, Y: Array, Z: Array) -> Array:
        """Solves between two products with R."""
        self.products.tally.A_products += Y.shape[1]
        solved = self.products.solves_B(np.asfortranarray(self.root[:, None] * Y))[0]
        return np.asfortranarray(self.root[:, None] * solved)


def is_lumped(M: Operator | None) -> bool:
    """Is M a positive diagonal matrix in a sparse format?"""
    return M is not None and M.kind == "sparse" and is_diagonal(M.matrix) and bool((M.diagonal().real > 0).all())


def inverse_of(products: Products) -> BInner:
    """The transformation for a pair (B, K) with a factorised K."""
    return LumpedInverse(products) if is_lumped(products.A) else BInner(products)
