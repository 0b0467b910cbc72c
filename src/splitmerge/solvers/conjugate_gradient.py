"""Solve B w = b by preconditioned conjugate gradients, from the natural guess."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np

from ..checks import instance, real, whole
from ..errors import NotPositiveDefinite
from ..linalg import cg
from ..linalg.reductions import column_norms, column_sizes
from ..preconditioners import Diagonal, Preconditioner
from ..problem.pencil import Pencil, counted
from ..problem.products import BSolver, Iterative, Products, PSolver
from ..typing import Array

# The steps of a rough solve, and the residual at which it ends: components where B is small are not visible in it.
ROUGH_STEPS, ROUGH_TOL = 50, 1e-10


@dataclass(frozen=True)
class ConjugateGradient:
    """At most `max_steps` steps a solve, fewer when the residual has fallen to `tol` times that of the guess.

    The methods start it from their current vector, whose residual is that of the eigenproblem itself: the solve
    becomes more accurate as the eigenvector does, and a fixed cap (30 in the paper) is enough where B is well
    conditioned. `max_steps=None` sets no cap: the number of steps adapts to what `tol` takes, for which 0.1 will do.
    Without a `preconditioner` the diagonal of B serves, where it is known.
    """

    max_steps: int | None = 30
    preconditioner: Preconditioner | None = None
    tol: float = 1e-6

    def __post_init__(self) -> None:
        if self.max_steps is not None:
            whole(self.max_steps, "max_steps", 1)
        real(self.tol, "tol", below=1)
        if self.preconditioner is not None:
            instance(self.preconditioner, "preconditioner", Preconditioner, "an object such as Diagonal(), or None")

    def prepare(self, pencil: Pencil | Products) -> BSolver:
        """Set the preconditioner up."""
        products, chosen = counted(pencil), self._chosen(pencil)
        # rounding may delay convergence, but not for ever
        steps = 10 * products.n + 1000 if self.max_steps is None else self.max_steps
        return _Solver(products, steps, self.tol, None if chosen is None else chosen.prepare(products))

    def _chosen(self, pencil: Pencil | Products) -> Preconditioner | None:
        known = pencil.B is not None and pencil.B.known
        return Diagonal() if self.preconditioner is None and known else self.preconditioner

    def describe(self, pencil: Pencil | Products) -> str:
        """A noun phrase for `Solution.explain`."""
        chosen = self._chosen(pencil)
        kind = "not preconditioned" if chosen is None else f"preconditioned by {chosen!r}"
        steps = "as many steps as that takes" if self.max_steps is None else f"at most {self.max_steps} steps a solve"
        return f"conjugate gradients on B, {steps}, {kind}"


@dataclass(frozen=True)
class _Solver(Iterative):
    products: Products
    max_steps: int
    tol: float
    P: PSolver | None

    def bound_to(self, products: Products) -> _Solver:
        """The same solver, multiplying by these counted products."""
        return replace(self, products=products)

    def solve(self, b: Array, guess: Array | None, B_guess: Array | None) -> tuple[Array, Array]:
        """w and B w = b − r: the residual r is carried along, so B w costs no product."""
        products, P = self.products, self.P
        dot, norm, axpy = products.kernels.dot, products.kernels.norm, products.kernels.axpy
        # squares of small residuals would underflow; powers of two do not round
        length = norm(b)
        unit = math.ldexp(1.0, math.frexp(length)[1] - 1)
        if guess is None or B_guess is None:
            w, r = 0 * b, b / unit
        else:
            w, r = guess / unit, (b - B_guess) / unit
        w, r = cg.solve(
            products.apply_B,
            w,
            r,
            # below a hundredth of the rounding of b there is nothing left to solve for
            target=max(self.tol * norm(r), 0.01 * products.eps * length / unit),
            max_steps=self.max_steps,
            dot=dot,
            norm=norm,
            axpy=axpy,
            refuse=_refuse,
            precondition=None if P is None else lambda residual: products.solve_P(P, residual),
            poll=products.budget.check,
        )
        return unit * w, b - unit * r

    def solve_block(self, R: Array) -> tuple[Array, Array]:
        """W and B W for columns, each with its own step lengths and all products together."""
        products, P = self.products, self.P
        # squares of small residuals would underflow; powers of two do not round
        sizes = column_sizes(R)
        sizes = np.ldexp(np.ones_like(sizes), np.frexp(sizes)[1] - 1)
        scaled = R / sizes
        W, r = cg.solve_block(
            products.products_B,
            np.zeros_like(R),
            scaled,
            target=max(self.tol, 0.01 * products.eps) * column_norms(scaled),
            max_steps=self.max_steps,
            refuse=_refuse,
            precondition=None if P is None else lambda residuals: products.solves_P(P, residuals),
            poll=products.budget.check,
        )
        return W * sizes, R - r * sizes


def roughly_solved(products: Products, R: Array) -> tuple[Array, Array]:
    """W ≈ B⁻¹R for columns, and B W: a few steps of conjugate gradients, which begin where B is small."""
    return ConjugateGradient(ROUGH_STEPS, tol=ROUGH_TOL).prepare(products).solve_block(np.asfortranarray(R))


def _refuse(curvature: float) -> NoReturn:
    raise NotPositiveDefinite(
        f"B is not positive definite: conjugate gradients met pᴴBp = {curvature:.3g}; "
        f"B must have only positive eigenvalues"
    )
