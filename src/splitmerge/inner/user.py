"""Solve B w = b with a function that the user brings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels import Array
from ..pencil import BSolver, Pencil


@dataclass(frozen=True)
class UserSolve:
    """`function(b)` returns B⁻¹b to working precision (a factorisation that the caller has already, say).

    >>> import numpy as np, splitmerge as sm
    >>> B = np.diag([1.0, 2.0, 4.0])
    >>> method = sm.SplitMerge(inner=sm.UserSolve(lambda b: b / B.diagonal()))
    >>> float(sm.solve(np.eye(3), B, method=method, rng=0).eigenvalues[0].round(12))
    1.0
    """

    function: Callable[[Array], Any]

    def prepare(self, pencil: Pencil) -> BSolver:
        """Check the function on one vector."""
        b = np.ones(pencil.n, pencil.dtype)
        solver = _Solver(pencil, self.function)
        w, _ = solver.solve(b, None, None)
        error = float(np.linalg.norm(pencil.apply_B(w) - b) / np.linalg.norm(b))
        if not error <= pencil.eps**0.5:
            raise ValueError(
                f"the function of UserSolve does not solve with B: ‖B f(b) − b‖/‖b‖ = {error:.2g} for b of ones; "
                f"for an approximate inverse use ConjugateGradient with a preconditioner"
            )
        return solver

    def describe(self) -> str:
        """In words, for `Solution.explain`."""
        return "the solve with B that the caller supplied"


@dataclass(frozen=True)
class _Solver:
    pencil: Pencil
    function: Callable[[Array], Any]
    exact: bool = True

    def solve(self, b: Array, guess: Array | None, B_guess: Array | None) -> tuple[Array, Array]:
        """Call the function and undo the scaling of B."""
        scale = 1.0 if self.pencil.B is None else self.pencil.B.scale
        w = np.asarray(self.function(b), dtype=self.pencil.dtype)
        if w.shape != b.shape:
            raise ValueError(f"the function of UserSolve gave shape {w.shape} for a vector of shape {b.shape}")
        return (w / scale if scale != 1 else w.copy()), b
