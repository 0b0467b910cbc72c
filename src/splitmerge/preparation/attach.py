"""Attach a solver."""

from __future__ import annotations

from ..problem.factorise import factorise
from ..problem.pencil import Pencil
from ..solvers.cholesky import Cholesky
from ..solvers.conjugate_gradient import ConjugateGradient
from ..solvers.protocol import InnerSolver


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
