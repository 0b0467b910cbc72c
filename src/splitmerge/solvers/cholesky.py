"""Solve B w = b by a Cholesky factorisation that is computed once and kept."""

from __future__ import annotations

from dataclasses import dataclass

from ..problem.factorise import factorise
from ..problem.pencil import BSolver, Pencil
from ..sparse_direct.cholesky import SparseFactor


@dataclass(frozen=True)
class Cholesky:
    """B = UᴴU by LAPACK when B is dense, LDLᴴ with a fill-reducing symmetric ordering when it is sparse."""

    def prepare(self, pencil: Pencil) -> BSolver:
        """Factorise, or raise `NotPositiveDefinite` naming the pivot."""
        if pencil.B is None:
            raise ValueError("B is the identity: there is nothing to factorise")
        return factorise(pencil.B)

    def describe(self, pencil: Pencil) -> str:
        """In words, for `Solution.explain`."""
        by = f" by {pencil.solver.factors.name}" if isinstance(pencil.solver, SparseFactor) else ""
        return f"a Cholesky factorisation of B{by}"
