"""Solve B w = b by a Cholesky factorisation that is computed once and kept."""

from __future__ import annotations

from dataclasses import dataclass

from ..problem.factorise import factorise
from ..problem.pencil import Pencil
from ..problem.products import BSolver, Products
from ..sparse_direct.diagonal import DiagonalFactor, is_diagonal


@dataclass(frozen=True)
class Cholesky:
    """B = UᴴU by LAPACK when B is dense, LDLᴴ with a fill-reducing symmetric ordering when it is sparse."""

    def prepare(self, pencil: Pencil | Products) -> BSolver:
        """Factorise, or raise `NotPositiveDefinite` naming the pivot."""
        if pencil.B is None:
            raise ValueError("B is the identity: there is nothing to factorise")
        if pencil.B.kind == "sparse" and is_diagonal(pencil.B.matrix):
            return DiagonalFactor(pencil.B.matrix)
        return factorise(pencil.B)

    def describe(self, pencil: Pencil | Products) -> str:
        """A noun phrase for `Solution.explain`."""
        B = pencil.B
        diagonal = B is not None and B.kind == "sparse" and is_diagonal(B.matrix)
        return "its diagonal" if diagonal else "a Cholesky factorisation of B"
