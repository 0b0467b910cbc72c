"""Solve B w = b with a function supplied by the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..linalg.reductions import norm
from ..problem.pencil import Pencil, counted
from ..problem.products import BSolver, Products
from ..problem.start import random_vector
from ..typing import Array


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

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"UserSolve was given {self.function!r}; give a function that takes b and returns B⁻¹b")

    def prepare(self, pencil: Pencil | Products) -> BSolver:
        """Check the function on one vector."""
        products = counted(pencil)
        b = random_vector(products, np.random.default_rng(0))
        solver = _Solver(products.pencil, self.function)
        w, _ = solver.solve(b, None, None)
        error = float(norm(products.apply_B(w) - b) / norm(b))
        if not error <= products.eps**0.5:
            raise ValueError(
                f"the function of UserSolve does not solve with B: ‖B f(b) − b‖/‖b‖ = {error:.2g} for a random b; "
                f"for an approximate inverse use ConjugateGradient with a preconditioner"
            )
        return solver

    def describe(self, pencil: Pencil | Products) -> str:
        """A noun phrase for `Solution.explain`."""
        return "the solve with B that the caller supplied"


@dataclass(frozen=True)
class _Solver:
    pencil: Pencil
    function: Callable[[Array], Any]

    def solve(self, b: Array, guess: Array | None, B_guess: Array | None) -> tuple[Array, Array]:
        """Call the function and undo the scaling: (βDBD)⁻¹ = D⁻¹B⁻¹D⁻¹/β."""
        scale = 1.0 if self.pencil.B is None else self.pencil.B.scale
        # a copy, as the function may overwrite its argument
        w = np.asarray(self.function(self.pencil.from_vectors(b.copy())))
        if w.shape != b.shape or w.dtype.kind not in "biufc":
            raise ValueError(
                f"the function of UserSolve gave shape {w.shape}, dtype {w.dtype} for b of shape {b.shape}"
            )
        w = self.pencil.from_vectors(w.astype(self.pencil.dtype))
        return (w / scale if scale != 1 else w), b

    def solve_block(self, R: Array) -> tuple[Array, Array]:
        """The columns one by one."""
        return np.column_stack([self.solve(np.ascontiguousarray(r), None, None)[0] for r in R.T]), R
