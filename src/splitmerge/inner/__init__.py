"""Ways to solve B w = b: a factorisation, conjugate gradients, or the user's own function."""

from __future__ import annotations

from typing import Protocol

from ..factor import factorise
from ..pencil import BSolver, Pencil
from .cholesky import Cholesky
from .conjugate_gradient import ConjugateGradient
from .user import UserSolve

__all__ = ["Cholesky", "ConjugateGradient", "InnerSolver", "UserSolve", "attach"]


class InnerSolver(Protocol):
    """Options of a solver for B; `prepare` makes the solver for one pencil."""

    def prepare(self, pencil: Pencil) -> BSolver:
        """Factorise, or set the preconditioner up."""

    def describe(self, pencil: Pencil) -> str:
        """In words."""


def attach(pencil: Pencil, inner: InnerSolver | None) -> InnerSolver | None:
    """Give the pencil its solver: `inner`, or the factorisation for a matrix and CG for an operator."""
    if pencil.B is None:
        return None
    if inner is None:
        inner = Cholesky() if pencil.B.matrix is not None else ConjugateGradient(max_steps=500)
    if pencil.B.matrix is not None and not (pencil.B.diagonal().real > 0).all():
        # cheap, and it finds a massless row before any solver does
        factorise(pencil.B)
    pencil.solver = inner.prepare(pencil)
    return inner
