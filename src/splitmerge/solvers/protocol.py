"""What solves B w = b: options that are prepared for one pencil."""

from __future__ import annotations

from typing import Protocol

from ..problem.pencil import Pencil
from ..problem.products import BSolver, Products


class InnerSolver(Protocol):
    """Options of a solver for B; `prepare` makes the solver for one pencil."""

    def prepare(self, pencil: Pencil | Products) -> BSolver:
        """Factorise, or set the preconditioner up."""

    def describe(self, pencil: Pencil | Products) -> str:
        """A noun phrase for `Solution.explain`."""
