"""Where T is Hermitian: the whitened domain of a dense factor, the B-inner product of any solver, the inverse at σ."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..linalg.cholesky import DenseFactor
from ..problem.pencil import Pencil
from ..typing import Array


class Domain(Protocol):
    """Coordinates in which T is Hermitian: y with dual z, ⟨y, y'⟩ = zᴴy'.

    `single` says that the dual is y itself, `direct` that the eigenvalues of T are those of the pencil. The dual of T y
    may come first (`dual_first`) and T y from it: whichever comes second is computed after the recurrence has been
    taken off the first. Were the recurrence taken off both, they would soon belong to different vectors.
    """

    n: int
    dtype: np.dtype[Any]
    single: bool
    direct: bool
    dual_first: bool

    def enter(self, X: Array) -> tuple[Array, Array]:
        """Columns of the pencil in these coordinates, and their duals."""

    def leave(self, Y: Array) -> Array:
        """And back."""

    def dual(self, y: Array) -> Array:
        """The dual of one vector."""

    def product_norm(self, y: Array) -> float:
        """‖Bx‖ for the x of these coordinates y."""

    def apply(self, y: Array, z: Array) -> Array:
        """T y, or its dual where that comes first; the caller may overwrite it."""

    def complete(self, first: Array) -> tuple[Array, Array]:
        """A vector and its dual, from the one of them that comes first."""

    def value(self, theta: float) -> float:
        """The eigenvalue of the pencil that belongs to the eigenvalue `theta` of T."""


class Whitened:
    """y = U x for B = UᴴU (or B the identity): T = U⁻ᴴAU⁻¹, an ordinary Hermitian matrix, and one basis to keep."""

    single = True
    direct = True
    dual_first = False

    def __init__(self, pencil: Pencil) -> None:
        self.pencil, self.n, self.dtype = pencil, pencil.n, pencil.dtype

    def enter(self, X: Array) -> tuple[Array, Array]:
        """Y = U X."""
        solver = self.pencil.solver
        Y = solver.whiten(X) if isinstance(solver, DenseFactor) else X.copy()
        return Y, Y

    def leave(self, Y: Array) -> Array:
        """X = U⁻¹Y."""
        solver = self.pencil.solver
        return solver.unwhiten(Y) if isinstance(solver, DenseFactor) else Y

    def dual(self, y: Array) -> Array:
        """y itself."""
        return y

    def product_norm(self, y: Array) -> float:
        """‖Uᴴy‖."""
        solver = self.pencil.solver
        return float(self.pencil.kernels.norm(solver.dual(y) if isinstance(solver, DenseFactor) else y))

    def apply(self, y: Array, z: Array) -> Array:
        """A product between two half solves."""
        return self.pencil.apply_whitened(y)

    def complete(self, first: Array) -> tuple[Array, Array]:
        """One and the same."""
        return first, first

    def value(self, theta: float) -> float:
        """T has the eigenvalues of (A, B)."""
        return theta


class Paired:
    """x itself, with B x beside it: T = B⁻¹A is Hermitian in the inner product of B."""

    single = False
    direct = True
    dual_first = True

    def __init__(self, pencil: Pencil) -> None:
        self.pencil, self.n, self.dtype = pencil, pencil.n, pencil.dtype

    def enter(self, X: Array) -> tuple[Array, Array]:
        """X and B X; a B that is not positive definite shows here, if nowhere else."""
        X = np.asfortranarray(X)
        BX = np.column_stack([self.pencil.apply_B(x) for x in X.T])
        for x, Bx in zip(X.T, BX.T, strict=True):
            self.pencil.B_norm(x, Bx)
        return X.copy(), BX

    def leave(self, Y: Array) -> Array:
        """Nothing to do."""
        return Y

    def dual(self, y: Array) -> Array:
        """B y."""
        return self.pencil.apply_B(y)

    def product_norm(self, y: Array) -> float:
        """‖By‖; the product is booked as monitoring."""
        with self.pencil.counting(self.pencil.counts.monitoring):
            return float(self.pencil.kernels.norm(self.pencil.apply_B(y)))

    def apply(self, y: Array, z: Array) -> Array:
        """A y, the dual of B⁻¹Ay."""
        return self.pencil.apply_plain_A(y)

    def complete(self, first: Array) -> tuple[Array, Array]:
        """A solve with B."""
        return self.pencil.solve_B(first)

    def value(self, theta: float) -> float:
        """T has the eigenvalues of (A, B)."""
        return theta


def domain_of(pencil: Pencil) -> Whitened | Paired:
    """The domain that the solver for B allows."""
    whitened = pencil.identity or isinstance(pencil.solver, DenseFactor)
    return Whitened(pencil) if whitened else Paired(pencil)
