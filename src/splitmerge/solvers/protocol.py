"""What solves B w = b."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..problem.pencil import BSolver, Pencil


class InnerSolver(Protocol):
    """Options of a solver for B; `prepare` makes the solver for one pencil."""

    def prepare(self, pencil: Pencil) -> BSolver:
        """Factorise, or set the preconditioner up."""

    def describe(self, pencil: Pencil) -> str:
        """In words."""


def inverse_norm(pencil: Pencil) -> float:
    """‖B⁻¹‖, as a few steps of inverse iteration show it; the solves are booked as monitoring."""
    x = np.random.default_rng(0).standard_normal(pencil.n).astype(pencil.dtype)
    with pencil.counting(pencil.counts.monitoring):
        for _ in range(3):
            x, _ = pencil.solve_B(x / np.linalg.norm(x))
    return float(np.linalg.norm(x))
