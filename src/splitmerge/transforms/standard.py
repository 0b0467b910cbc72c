"""The transformations to B⁻¹A: whitened by a dense Cholesky factor, or in the inner product of B."""

from __future__ import annotations

from typing import Self

import numpy as np

from ..linalg.cholesky import DenseFactor
from ..linalg.reductions import column_dots
from ..problem.products import Iterative, Products
from ..solvers.conjugate_gradient import roughly_solved
from ..sparse_direct.diagonal import DiagonalFactor
from ..typing import Array

# The norm of what is added to a random vector of norm 1.
ADDED_NORM = 0.618


class Whitened:
    """y = U x for B = UᴴU (or B the identity): T = U⁻ᴴAU⁻¹, Hermitian in the Euclidean inner product.

    U is a dense factor or a diagonal.
    """

    single = True
    direct = True
    dual_first = False

    def __init__(self, products: Products) -> None:
        self.products, self.n, self.dtype = products, products.n, products.dtype
        self.dimension = products.n
        self.factor = products.solver if isinstance(products.solver, (DenseFactor, DiagonalFactor)) else None

    def monitored(self) -> Self:
        """The same transformation, its products counted as monitoring."""
        return type(self)(self.products.monitoring)

    def enter(self, X: Array) -> tuple[Array, Array]:
        """Y = U X."""
        Y = X.copy() if self.factor is None else self.factor.whiten(X)
        return Y, Y

    def random(self, X: Array) -> tuple[Array, Array]:
        """X itself is isotropic."""
        Y = X.copy()
        return Y, Y

    def leave(self, Y: Array) -> Array:
        """X = U⁻¹Y."""
        return Y if self.factor is None else self.factor.unwhiten(Y)

    def dual(self, y: Array) -> Array:
        """y itself."""
        return y

    def image(self, y: Array) -> Array:
        """Uᴴy."""
        return y if self.factor is None else self.factor.dual(y)

    def apply(self, y: Array, z: Array) -> Array:
        """A product between two half solves."""
        return self.products.apply_whitened(y)

    def apply_block(self, Y: Array, Z: Array) -> Array:
        """A product between two half solves, for columns."""
        return self.products.products_whitened(Y)

    def complete(self, first: Array) -> tuple[Array, Array]:
        """The vector is its own dual."""
        return first, first

    complete_block = complete

    def value(self, theta: float) -> float:
        """T has the eigenvalues of (A, B)."""
        return theta


class BInner:
    """x itself with the dual B x: T = B⁻¹A is Hermitian in the inner product of B."""

    single = False
    direct = True
    dual_first = True

    def __init__(self, products: Products) -> None:
        self.products, self.n, self.dtype = products, products.n, products.dtype
        self.dimension = products.n

    def monitored(self) -> Self:
        """The same transformation, its products counted as monitoring."""
        return type(self)(self.products.monitoring)

    def enter(self, X: Array) -> tuple[Array, Array]:
        """X and B X; a B that is not positive definite is refused here."""
        X = np.asfortranarray(X)
        BX = np.column_stack([self.products.apply_B(x) for x in X.T])
        for x, Bx in zip(X.T, BX.T, strict=True):
            self.products.B_norm(x, Bx)
        return X.copy(), BX

    def random(self, X: Array) -> tuple[Array, Array]:
        """X and B⁻¹X, each of B-norm 1, added: the one or the other has a component where B is large or small."""
        products = self.products
        if isinstance(products.solver, Iterative):
            return added(*self.enter(X), *roughly_solved(products, X))
        return added(*self.enter(X), *products.solves_B(np.asfortranarray(X)))

    def leave(self, Y: Array) -> Array:
        """The vectors themselves."""
        return Y

    def dual(self, y: Array) -> Array:
        """B y."""
        return self.products.apply_B(y)

    def image(self, y: Array) -> Array:
        """B y."""
        return self.products.monitoring.apply_B(y)

    def apply(self, y: Array, z: Array) -> Array:
        """A y, the dual of B⁻¹Ay."""
        return self.products.apply_plain_A(y)

    def apply_block(self, Y: Array, Z: Array) -> Array:
        """A Y, the duals of B⁻¹AY."""
        return np.asfortranarray(self.products.products_A(Y))

    def complete(self, first: Array) -> tuple[Array, Array]:
        """A solve with B."""
        return self.products.solve_B(first)

    def complete_block(self, first: Array) -> tuple[Array, Array]:
        """Solves with B."""
        return self.products.solves_B(first)

    def value(self, theta: float) -> float:
        """T has the eigenvalues of (A, B)."""
        return theta


def added(Y: Array, Z: Array, W: Array, D: Array) -> tuple[Array, Array]:
    """Columns Y of norm 1 and ±W of another norm, added, and their duals Z and ±D; Y alone where W has no norm.

    The sign is that with which they do not cancel. Of one norm, a reflection W of Y would leave nothing of some parts.
    """
    a, b = column_dots(Z, Y), column_dots(D, W)
    if not ((a > 0) & (a < np.inf) & (b > 0) & (b < np.inf)).all():
        return Y, Z
    a, b = (1 / np.sqrt(squares).astype(Y.dtype) for squares in (a, b))
    b = np.where(column_dots(Z, W) < 0, -ADDED_NORM * b, ADDED_NORM * b).astype(Y.dtype)
    return np.asfortranarray(a * Y + b * W), np.asfortranarray(a * Z + b * D)


def standard(products: Products) -> Whitened | BInner:
    """The transformation to B⁻¹A that the solver for B allows."""
    whitened = products.identity or isinstance(products.solver, (DenseFactor, DiagonalFactor))
    return Whitened(products) if whitened else BInner(products)
