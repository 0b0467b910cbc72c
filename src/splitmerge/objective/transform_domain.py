"""The domain y = P x, in which gradient descent is preconditioned mirror descent (section 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scipy.sparse.linalg import LinearOperator

from ..preconditioners import Factored
from ..problem.pencil import Pencil
from ..typing import Array


@dataclass(frozen=True)
class TransformDomain:
    """The pair (Ã, B̃) = (P⁻ᴴAP⁻¹, P⁻ᴴBP⁻¹) as operators; eigenvalues are those of (A, B), vectors y = P x."""

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

    def _operator(self, multiply: Callable[[Array], Array]) -> Any:
        n = self.pencil.n
        return LinearOperator((n, n), matvec=multiply, rmatvec=multiply, dtype=self.pencil.dtype)
