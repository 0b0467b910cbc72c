"""Solves with a distributed B: conjugate gradients of PETSc, or a factorisation by MUMPS where they take long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from petsc4py import PETSc

from ..errors import NotFactorised, NotPositiveDefinite
from ..linalg.cholesky import indefinite
from ..problem.operator import Operator
from ..problem.pencil import Pencil, counted
from ..problem.products import BSolver, Products
from ..problem.start import random_vector
from ..solvers import ConjugateGradient
from ..typing import Array
from .factor import COMPLEX_BUILD, NO_COUNTS, MumpsFactor

# Relative residual of a solve that a Krylov method takes for exact.
EXACT_TOL = 1e-13
# B is factorised where conjugate gradients take more steps than this.
MAX_STEPS = 200
INDEFINITE = (PETSc.KSP.ConvergedReason.DIVERGED_INDEFINITE_MAT, PETSc.KSP.ConvergedReason.DIVERGED_INDEFINITE_PC)


@dataclass(frozen=True)
class DistributedSolve:
    """The solver for B that suits it, chosen by one solve with a random right-hand side."""

    def prepare(self, pencil: Pencil | Products) -> BSolver:
        """Set conjugate gradients up, or factorise."""
        products = counted(pencil)
        B = products.B
        assert B is not None
        if B.entries is None:
            return ConjugateGradient(None, tol=EXACT_TOL).prepare(products)
        iterative = _Iterative(B)
        iterative.solve(random_vector(products, np.random.default_rng(0)), None, None)
        if iterative.converged:
            return iterative
        if COMPLEX_BUILD:
            raise NotFactorised(
                f"a solve with B takes more than {MAX_STEPS} steps of conjugate gradients, and {NO_COUNTS}; give a "
                f"preconditioner of B, or a method with inner=ConjugateGradient()"
            )
        return factored(B)

    def describe(self, pencil: Pencil | Products) -> str:
        """A noun phrase for `Solution.explain`."""
        return "PETSc's conjugate gradients, or MUMPS where these take long"


class _Iterative:
    """KSP with the diagonal of B as preconditioner."""

    def __init__(self, B: Operator) -> None:
        entries: Any = B.entries
        self.mat = entries.own()
        self.ksp = PETSc.KSP().create(self.mat.getComm())
        self.ksp.setOperators(self.mat)
        self.ksp.setType("cg")
        self.ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
        self.ksp.setTolerances(rtol=EXACT_TOL, atol=0.0, max_it=MAX_STEPS)
        self.ksp.getPC().setType("jacobi")
        self.ksp.setUp()
        self.right, self.left = self.mat.createVecs()

    @property
    def converged(self) -> bool:
        """Has the last solve reached the tolerance?"""
        return bool(self.ksp.getConvergedReason() > 0)

    def solve(self, b: Array, guess: Array | None, B_guess: Array | None) -> tuple[Array, Array]:
        """B⁻¹b and b; `NotPositiveDefinite` where conjugate gradients meet a direction of no positive curvature."""
        w = np.empty_like(b)
        self.right.placeArray(np.ascontiguousarray(b))
        self.left.placeArray(w)
        try:
            self.ksp.solve(self.right, self.left)
        finally:
            self.right.resetArray()
            self.left.resetArray()
        if self.ksp.getConvergedReason() in INDEFINITE:
            raise NotPositiveDefinite(
                "B is not positive definite: conjugate gradients met pᴴBp ≤ 0; B must have only positive eigenvalues"
            )
        return w, b

    def solve_block(self, R: Array) -> tuple[Array, Array]:
        """The columns one by one."""
        return np.array([self.solve(r, None, None)[0] for r in R.T]).T, R


class _Factored:
    """MUMPS as a solver for B."""

    def __init__(self, factor: MumpsFactor) -> None:
        self.factor = factor

    def solve(self, b: Array, guess: Array | None, B_guess: Array | None) -> tuple[Array, Array]:
        """B⁻¹b and b."""
        return self.factor.solve(b), b

    def solve_block(self, R: Array) -> tuple[Array, Array]:
        """The columns one by one."""
        return np.array([self.factor.solve(r) for r in R.T]).T, R


def factored(B: Operator) -> _Factored:
    """B factorised; `NotPositiveDefinite` if it is not positive definite."""
    assert B.entries is not None
    try:
        factor = B.entries.factorised()
    except ZeroDivisionError:
        raise NotPositiveDefinite(
            "B is singular to working precision; on several processes it must be positive definite"
        ) from None
    if factor.negative:
        raise indefinite(f"it has {factor.negative} negative eigenvalues")
    return _Factored(factor)
