"""Counted products: A x, B x and B⁻¹b of one pencil, every one booked under one tally.

`Products` multiplies by the pencil itself, `Deflated` by Pᴴ(A + ηB)P with P = I − U UᴴB, where U are eigenvectors
found before. A view for another phase (`products.setup`, `products.monitoring`) shares everything but the tally.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from ..errors import NotPositiveDefinite
from ..linalg.multiply import product
from ..linalg.reductions import gram
from ..linalg.rounding import Scale
from ..system.budget import Budget
from ..typing import Array

if TYPE_CHECKING:
    from .pencil import Pencil


@dataclass(slots=True)
class Tally:
    """How often A, B, B⁻¹, (A − σB)⁻¹ and the preconditioner were applied to a vector."""

    A_products: int = 0
    B_products: int = 0
    B_solves: int = 0
    K_solves: int = 0
    P_solves: int = 0

    @property
    def products(self) -> int:
        """Products with A and solves with A − σB together: every step of a method makes one or the other."""
        return self.A_products + self.K_solves

    def add(self, other: Tally) -> None:
        """Add the numbers of another tally."""
        for name in Tally.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def swapped(self) -> Tally:
        """The tally of the pair (B, A − σB) in terms of (A, B)."""
        return Tally(self.B_products, self.A_products, self.K_solves, self.B_solves, self.P_solves)


@dataclass(slots=True)
class Counts(Tally):
    """The iteration's own products; those of the set-up and of the monitoring are counted apart."""

    setup: Tally = field(default_factory=Tally)
    monitoring: Tally = field(default_factory=Tally)

    def add_swapped(self, other: Counts) -> None:
        """Add the counts of the pair (B, A − σB)."""
        self.add(other.swapped())
        self.setup.add(other.setup.swapped())
        self.monitoring.add(other.monitoring.swapped())


class BSolver(Protocol):
    """Solves B w = b, exactly or approximately."""

    def solve(self, b: Array, guess: Array | None, B_guess: Array | None) -> tuple[Array, Array]:
        """Return w ≈ B⁻¹b and the product B w (b itself for an exact solver)."""

    def solve_block(self, R: Array) -> tuple[Array, Array]:
        """The same for columns R, without a guess."""


class PSolver(Protocol):
    """Solves with the Gram matrix of a preconditioner."""

    def gram_solve(self, b: Array) -> Array:
        """Return (PᴴP)⁻¹ b."""

    def gram_block(self, R: Array) -> Array:
        """Return (PᴴP)⁻¹ R for columns R."""


class ShiftedSolver(Protocol):
    """Solves with A − σB."""

    def solve(self, b: Array) -> Array:
        """Return (A − σB)⁻¹ b."""


class Iterative:
    """A solver that makes products of its own, which are counted where those of its caller are."""

    def bound_to(self, products: Products) -> Self:
        """The same solver, multiplying by these counted products."""
        raise NotImplementedError


def bound(solver: Any, products: Products) -> Any:
    """A solver for use with `products`: an iterative one is bound to them, a factorisation needs none."""
    return solver.bound_to(products) if isinstance(solver, Iterative) else solver


class Products:
    """Products with A and B and solves with B (by `solver`), counted in `tally`.

    `explicit` is the matrix U⁻ᴴAU⁻¹ for B = UᴴU where it was formed. `scale` says what residuals are relative to.
    """

    def __init__(
        self,
        pencil: Pencil,
        counts: Counts | None = None,
        budget: Budget | None = None,
        solver: BSolver | None = None,
        explicit: Array | None = None,
    ) -> None:
        self.pencil, self.A, self.B = pencil, pencil.A, pencil.B
        self.n, self.dtype, self.eps, self.kernels = pencil.n, pencil.dtype, pencil.eps, pencil.kernels
        self.identity, self.rows = pencil.identity, pencil.rows
        self.counts = Counts() if counts is None else counts
        self.tally: Tally = self.counts
        self.budget = Budget() if budget is None else budget
        self.solver: Any = bound(solver, self)
        self.explicit = explicit
        B_norm = 1.0 if pencil.B is None else pencil.B.norm
        units = max(pencil.A.units, 0.0 if pencil.B is None else pencil.B.units)
        self.scale = Scale(0.0, 0.0, self.n, self.eps, pencil.A.norm, B_norm, units)

    def _copy(self, **changes: Any) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.__dict__.update(changes)
        other.solver = bound(other.solver, other)
        return other

    @property
    def setup(self) -> Self:
        """The same products, counted as set-up."""
        return self._copy(tally=self.counts.setup)

    @property
    def monitoring(self) -> Self:
        """The same products, counted as monitoring."""
        return self._copy(tally=self.counts.monitoring)

    def solving(self, solver: BSolver | None, explicit: Array | None = None) -> Self:
        """The same products with another solver for B, counted as the iteration's own."""
        return self._copy(tally=self.counts, solver=solver, explicit=explicit)

    @property
    def found(self) -> Array:
        """The B-orthonormal eigenvectors that were deflated: none."""
        return np.zeros((self.rows, 0), self.dtype)

    @property
    def B_found(self) -> Array:
        """B times `found`."""
        return self.found

    def project(self, x: Array, Bx: Array) -> tuple[Array, Array]:
        """P x and B P x: the part of x that is B-orthogonal to the deflated vectors."""
        return x, Bx

    def project_dual(self, y: Array) -> Array:
        """Pᴴ y, for y in the space of B x."""
        return y

    def apply_A(self, x: Array, Bx: Array) -> Array:
        """A x; with the product `Bx` a shift needs no further product."""
        self.tally.A_products += 1
        return self.A.times(x)

    def apply_B(self, x: Array) -> Array:
        """B x (x itself when B is the identity)."""
        if self.B is None:
            return x
        self.tally.B_products += 1
        return self.B.times(x)

    def apply_plain_A(self, x: Array) -> Array:
        """A x, neither shifted nor deflated."""
        self.tally.A_products += 1
        return self.A.times(x)

    def apply_whitened(self, y: Array) -> Array:
        """U⁻ᴴAU⁻¹y for B = UᴴU, or A y for the identity; neither shifted nor deflated."""
        self.tally.A_products += 1
        if self.explicit is not None:
            return self.kernels.hemv(1.0, self.explicit, y)
        if self.B is None:
            return self.A.times(y)
        self.tally.B_solves += 1
        return self.solver.whitened(self.A.times, y)  # type: ignore[no-any-return]

    def products_whitened(self, Y: Array) -> Array:
        """`apply_whitened` for columns in Fortran order."""
        if self.explicit is None and self.B is not None:
            self.tally.A_products += Y.shape[1]
            self.tally.B_solves += Y.shape[1]
            AY = self.A.times_block(self.solver.unwhiten(Y.copy(order="F")))
            return self.solver.half_solve(np.asfortranarray(AY))  # type: ignore[no-any-return]
        return np.array([self.apply_whitened(y) for y in Y.T]).T

    def products_A(self, X: Array) -> Array:
        """A X for columns, neither shifted nor deflated."""
        self.tally.A_products += X.shape[1]
        return self.A.times_block(X)

    def products_B(self, X: Array) -> Array:
        """B X for columns (X itself when B is the identity)."""
        if self.B is None:
            return X
        self.tally.B_products += X.shape[1]
        return self.B.times_block(X)

    def in_double(self, X: Array) -> tuple[Array, Array]:
        """A X and B X in double precision, neither shifted nor deflated."""
        self.tally.A_products += X.shape[1]
        return self.A.in_double(X), self.B_in_double(X)

    def B_in_double(self, X: Array) -> Array:
        """B X in double precision (X itself when B is the identity)."""
        if self.B is None:
            return X
        self.tally.B_products += X.shape[1]
        return self.B.in_double(X)

    def solve_B(self, b: Array, guess: Array | None = None, B_guess: Array | None = None) -> tuple[Array, Array]:
        """Return w ≈ B⁻¹b and B w; an iterative solver starts from `guess`, whose product with B is `B_guess`."""
        if self.B is None:
            return b, b
        self.tally.B_solves += 1
        return self.solver.solve(b, guess, B_guess)  # type: ignore[no-any-return]

    def solves_B(self, R: Array) -> tuple[Array, Array]:
        """`solve_B` for columns R."""
        if self.B is None:
            return R, R
        self.tally.B_solves += R.shape[1]
        return self.solver.solve_block(R)  # type: ignore[no-any-return]

    def solve_K(self, factor: ShiftedSolver, b: Array) -> Array:
        """(A − σB)⁻¹b, counted."""
        self.tally.K_solves += 1
        return factor.solve(b)

    def solves_K(self, factor: ShiftedSolver, R: Array) -> Array:
        """(A − σB)⁻¹R for columns R in Fortran order, counted."""
        self.tally.K_solves += R.shape[1]
        if getattr(factor, "takes_blocks", False):
            return factor.solve(R)
        return np.array([factor.solve(r) for r in R.T]).T

    def solve_P(self, P: PSolver, b: Array) -> Array:
        """(PᴴP)⁻¹ b, counted."""
        self.tally.P_solves += 1
        return P.gram_solve(b)

    def solves_P(self, P: PSolver, R: Array) -> Array:
        """(PᴴP)⁻¹ R for columns, counted."""
        self.tally.P_solves += R.shape[1]
        return P.gram_block(R)

    def B_norm(self, x: Array, Bx: Array) -> float:
        """√(xᴴBx), or `NotPositiveDefinite` if that is not positive."""
        square = self.kernels.dot(x, Bx)
        if not square > 0:
            why = f"xᴴBx = {square:.3g} for a vector met in the iteration; B must have only positive eigenvalues"
            raise NotPositiveDefinite(f"B is not positive definite: {why}")
        return math.sqrt(square)


class Deflated(Products):
    """Products with Pᴴ(A + ηB)P in place of A, η = `shift` and P = I − U UᴴB for the B-orthonormal U = `found`.

    Neither the shifted nor the deflated matrix is formed. `radius` estimates the largest |λ| of (A, B).
    """

    _found: Array
    _B_found: Array

    @classmethod
    def of(cls, products: Products, shift: float, radius: float, found: Array, B_found: Array) -> Deflated:
        """The shifted and deflated view of `products`."""
        other = object.__new__(cls)
        other.__dict__.update(products.__dict__)
        other.scale = products.scale.moved(shift, radius)
        other._found, other._B_found = found, B_found
        return other

    @property
    def found(self) -> Array:
        """The B-orthonormal eigenvectors that were deflated."""
        return self._found

    @property
    def B_found(self) -> Array:
        """B times `found`."""
        return self._B_found

    def apply_A(self, x: Array, Bx: Array) -> Array:
        """Pᴴ(A + ηB)P x."""
        self.tally.A_products += 1
        if not self.scale.shift and self._found.shape[1] == 0:
            return self.A.times(x)
        x, Bx = self.project(x, Bx)
        y = self.A.times(x)
        if self.scale.shift:
            y = y + self.scale.shift * Bx
        return self.project_dual(y)

    def project(self, x: Array, Bx: Array) -> tuple[Array, Array]:
        """P x and B P x: the part of x that is B-orthogonal to the deflated vectors."""
        if self._found.shape[1] == 0:
            return x, Bx
        c = gram(self._found, Bx)
        x = x - product(self._found, c)
        return x, x if self.identity else Bx - product(self._B_found, c)

    def project_dual(self, y: Array) -> Array:
        """Pᴴ y, for y in the space of B x."""
        return y - product(self._B_found, gram(self._found, y)) if self._found.shape[1] else y


def shifted(products: Products, shift: float) -> Products:
    """Products with A + ηB in place of A; `products` itself for η = 0."""
    known = products.scale.radius, products.found, products.B_found
    return Deflated.of(products, shift, *known) if shift else products
