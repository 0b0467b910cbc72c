"""Solve B w = b by a Cholesky factorisation that is computed once and kept."""

from __future__ import annotations

from dataclasses import dataclass

from ..problem.factorise import factorise
from ..problem.pencil import Pencil
from ..problem.products import BSolver, Products


@dataclass(frozen=True)
class Cholesky:
    """B = UᴴU by LAPACK when B is dense, LDLᴴ with a fill-reducing symmetric ordering when it is sparse."""

    def prepare(self, pencil: Pencil | Products) -> BSolver:
        """Factorise, or raise `NotPositiveDefinite` naming the pivot."""
        if pencil.B is None:
            raise ValueError("B is the identity: there is nothing to factorise")
        return factorise(pencil.B)

    def describe(self, pencil: Pencil | Products) -> str:
        """A noun phrase for `Solution.explain`."""
        return "a Cholesky factorisation of B"
