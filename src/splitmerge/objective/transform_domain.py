"""The domain y = P x, in which gradient descent is preconditioned mirror descent (section 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ..linalg.reductions import vdot
from ..preconditioners import Factored
from ..problem.pencil import Pencil
from ..typing import Array
from .difference import Objective


@dataclass(frozen=True)
class TransformDomain:
    """The pair (Ã, B̃) = (P⁻ᴴAP⁻¹, P⁻ᴴBP⁻¹) as operators; eigenvalues are those of (A, B), vectors y = P x.

    f(x) is the objective yᴴB̃y − √(yᴴÃy) of that pair at y = P x (equation 3.6).
    """

    pencil: Pencil
    P: Factored

    def to_domain(self, x: Array) -> Array:
        """Map x to y = P x."""
        return self.P.apply(x)

    def from_domain(self, y: Array) -> Array:
        """Map y back to x = P⁻¹ y."""
        return self.P.solve(y)

    @property
    def A(self) -> Any:
        """P⁻ᴴ A P⁻¹."""

        def multiply(y: Array) -> Array:
            x = self.P.solve(y)
            return self.P.solve_adjoint(self.pencil.apply_A(x, self.pencil.apply_B(x)))

        return self._operator(multiply)

    @property
    def B(self) -> Any:
        """P⁻ᴴ B P⁻¹, the identity for an exact P."""
        return self._operator(lambda y: self.P.solve_adjoint(self.pencil.apply_B(self.P.solve(y))))

    def divergence(self, x: Array, z: Array) -> float:
        """½(x − z)ᴴPᴴP(x − z): the Bregman divergence of the mirror map ½xᴴPᴴPx (equation 3.9)."""
        d = self.P.apply(x - z)
        return float(vdot(d, d).real) / 2

    def mirror_objective(self, x: Array, z: Array, alpha: float) -> float:
        """α⟨∇f(z), x⟩ plus the divergence of x from z; mirror descent steps from z to its minimiser (equation 3.8)."""
        return alpha * float(vdot(Objective(self.pencil).gradient(z), x).real) + self.divergence(x, z)

    def factor_error(self) -> float:
        """‖B − PᴴP‖_F², which an optimal P of a given structure minimises; by n products (equation 3.10)."""
        rows = np.eye(self.pencil.n, dtype=self.pencil.dtype)
        P = np.column_stack([self.P.apply(e) for e in rows])
        B = rows if self.pencil.B is None else self.pencil.B.times_block(rows)
        return float(np.linalg.norm(B - P.conj().T @ P) ** 2)

    def _operator(self, multiply: Callable[[Array], Array]) -> Any:
        n = self.pencil.n
        return LinearOperator((n, n), matvec=multiply, rmatvec=multiply, dtype=self.pencil.dtype)
