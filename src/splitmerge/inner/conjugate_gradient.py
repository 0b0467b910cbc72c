"""Solve B w = b by preconditioned conjugate gradients, from the natural guess and with a fixed cap of steps."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import NotPositiveDefinite
from ..kernels import Array
from ..pencil import BSolver, Pencil, PSolver
from ..preconditioners import Diagonal, Preconditioner


@dataclass(frozen=True)
class ConjugateGradient:
    """At most `max_steps` steps a solve, fewer when the residual has fallen to `tol` times that of the guess.

    The methods start it from their current vector, whose residual is that of the eigenproblem itself: the solve
    becomes more accurate as the eigenvector does, and a fixed cap (30 in the paper) is enough. Without a
    `preconditioner` the diagonal of B serves, where it is known.
    """

    max_steps: int = 30
    preconditioner: Preconditioner | None = None
    tol: float = 1e-6

    def __post_init__(self) -> None:
        if self.max_steps < 1:
            raise ValueError(f"max_steps is {self.max_steps}; at least one step is needed")
        if not 0 < self.tol < 1:
            raise ValueError(f"tol is {self.tol}; give a number between 0 and 1")

    def prepare(self, pencil: Pencil) -> BSolver:
        """Set the preconditioner up."""
        chosen = self.preconditioner
        if chosen is None and pencil.B is not None and pencil.B.matrix is not None:
            chosen = Diagonal()
        return _Solver(pencil, self.max_steps, self.tol, None if chosen is None else chosen.prepare(pencil))

    def describe(self) -> str:
        """In words, for `Solution.explain`."""
        kind = "its diagonal" if self.preconditioner is None else repr(self.preconditioner)
        return f"conjugate gradients on B, at most {self.max_steps} steps a solve, preconditioned by {kind}"


@dataclass(frozen=True)
class _Solver:
    pencil: Pencil
    max_steps: int
    tol: float
    P: PSolver | None
    exact: bool = False

    def solve(self, b: Array, guess: Array | None, B_guess: Array | None) -> tuple[Array, Array]:
        """w and B w = b − r: the residual r is carried along, so B w costs no product."""
        dot, norm, axpy = self.pencil.kernels.dot, self.pencil.kernels.norm, self.pencil.kernels.axpy
        if guess is None or B_guess is None:
            w, r = 0 * b, b.copy()
        else:
            w, r = guess.copy(), b - B_guess
        target = self.tol * norm(r)
        p, rz = r, 0.0
        for step in range(self.max_steps):
            z = r if self.P is None else self.pencil.solve_P(self.P, r)
            rz, last = dot(r, z), rz
            if not rz > 0:
                break
            p = z.copy() if step == 0 else axpy(p, z.copy(), a=rz / last)
            Bp = self.pencil.apply_B(p)
            curvature = dot(p, Bp)
            if not curvature > 0:
                raise NotPositiveDefinite(
                    f"B is not positive definite: conjugate gradients met pᴴBp = {curvature:.3g}; "
                    f"B must have only positive eigenvalues"
                )
            alpha = rz / curvature
            w = axpy(p, w, a=alpha)
            r = axpy(Bp, r, a=-alpha)
            if norm(r) <= target:
                break
        return w, b - r
