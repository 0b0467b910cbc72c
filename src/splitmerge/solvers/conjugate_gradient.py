"""Solve B w = b by preconditioned conjugate gradients, from the natural guess."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import instance, real, whole
from ..errors import NotPositiveDefinite
from ..linalg.reductions import column_dots, column_norms
from ..preconditioners import Diagonal, Preconditioner
from ..problem.pencil import BSolver, Pencil, PSolver
from ..typing import Array

# So often a long solve looks at the clock.
PATIENCE = 20


@dataclass(frozen=True)
class ConjugateGradient:
    """At most `max_steps` steps a solve, fewer when the residual has fallen to `tol` times that of the guess.

    The methods start it from their current vector, whose residual is that of the eigenproblem itself: the solve
    becomes more accurate as the eigenvector does, and a fixed cap (30 in the paper) is enough where B is well
    conditioned. `max_steps=None` sets no cap: the number of steps adapts to what `tol` takes, for which 0.1 will do.
    Without a `preconditioner` the diagonal of B serves, where it is known.
    """

    max_steps: int | None = 30
    preconditioner: Preconditioner | None = None
    tol: float = 1e-6

    def __post_init__(self) -> None:
        if self.max_steps is not None:
            whole(self.max_steps, "max_steps", 1)
        real(self.tol, "tol", below=1)
        if self.preconditioner is not None:
            instance(self.preconditioner, "preconditioner", Preconditioner, "an object such as Diagonal(), or None")

    def prepare(self, pencil: Pencil) -> BSolver:
        """Set the preconditioner up."""
        chosen = self._chosen(pencil)
        # rounding may hold it up, but not for ever
        steps = 10 * pencil.n + 1000 if self.max_steps is None else self.max_steps
        return _Solver(pencil, steps, self.tol, None if chosen is None else chosen.prepare(pencil))

    def _chosen(self, pencil: Pencil) -> Preconditioner | None:
        has_entries = pencil.B is not None and pencil.B.matrix is not None
        return Diagonal() if self.preconditioner is None and has_entries else self.preconditioner

    def describe(self, pencil: Pencil) -> str:
        """In words, for `Solution.explain`."""
        chosen = self._chosen(pencil)
        kind = "not preconditioned" if chosen is None else f"preconditioned by {chosen!r}"
        steps = "as many steps as that takes" if self.max_steps is None else f"at most {self.max_steps} steps a solve"
        return f"conjugate gradients on B, {steps}, {kind}"


@dataclass(frozen=True)
class _Solver:
    pencil: Pencil
    max_steps: int
    tol: float
    P: PSolver | None

    def solve(self, b: Array, guess: Array | None, B_guess: Array | None) -> tuple[Array, Array]:
        """w and B w = b − r: the residual r is carried along, so B w costs no product."""
        dot, norm, axpy = self.pencil.kernels.dot, self.pencil.kernels.norm, self.pencil.kernels.axpy
        if guess is None or B_guess is None:
            w, r = 0 * b, b.copy()
        else:
            w, r = guess.copy(), b - B_guess
        # below a hundredth of the rounding of b there is nothing left to solve for
        target = max(self.tol * norm(r), 0.01 * self.pencil.eps * norm(b))
        p, rz = r, 0.0
        for step in range(self.max_steps):
            if norm(r) <= target:
                break
            if step % PATIENCE == PATIENCE - 1:
                self.pencil.mind_the_time()
            z = r if self.P is None else self.pencil.solve_P(self.P, r)
            rz, last = dot(r, z), rz
            if not rz > 0:
                break
            p = z.copy() if step == 0 else axpy(p, z.copy(), a=rz / last)
            Bp = self.pencil.apply_B(p)
            curvature = dot(p, Bp)
            if not curvature > 0:
                raise _indefinite(curvature)
            alpha = rz / curvature
            w = axpy(p, w, a=alpha)
            r = axpy(Bp, r, a=-alpha)
        return w, b - r

    def solve_block(self, R: Array) -> tuple[Array, Array]:
        """W and B W for columns, each with its own step lengths and all products together."""
        W, r = np.zeros_like(R), R.copy()
        target = np.maximum(self.tol, 0.01 * self.pencil.eps) * column_norms(R)
        p, rz = r, np.ones(R.shape[1])
        for step in range(self.max_steps):
            going = column_norms(r) > target
            if not going.any():
                break
            if step % PATIENCE == PATIENCE - 1:
                self.pencil.mind_the_time()
            z = r if self.P is None else self.pencil.solves_P(self.P, r)
            rz, last = column_dots(r, z), rz
            p = z if step == 0 else z + p * (rz / last).astype(z.dtype)
            Bp = self.pencil.products_B(p)
            curvature = column_dots(p, Bp)
            if not (curvature[going] > 0).all():
                raise _indefinite(float(curvature[going].min()))
            # a column that has arrived stays where it is
            alpha = np.where(going, rz / np.where(going, curvature, 1.0), 0.0).astype(p.dtype)
            W += p * alpha
            r = r - Bp * alpha
            rz = np.where(rz > 0, rz, 1.0)
        return W, R - r


def _indefinite(curvature: float) -> NotPositiveDefinite:
    return NotPositiveDefinite(
        f"B is not positive definite: conjugate gradients met pᴴBp = {curvature:.3g}; "
        f"B must have only positive eigenvalues"
    )
