"""What a preconditioner is: (PᴴP)⁻¹ ≈ B⁻¹ as an action, and where it is known the matrix P itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..problem.pencil import Pencil, counted
from ..problem.products import Products
from ..typing import Array


class Prepared(ABC):
    """(PᴴP)⁻¹ for one pencil; `exact` means PᴴP = B."""

    exact: bool = False

    @property
    def work(self) -> float:
        """About how many multiplications it takes for one vector; 0 where that is little beside a product."""
        return 0.0

    @abstractmethod
    def gram_solve(self, b: Array) -> Array:
        """(PᴴP)⁻¹ b."""

    def coarser(self, pencil: Pencil) -> tuple[Pencil, Prepared, Any] | None:
        """A smaller pair with its preconditioner, and the matrix that takes its vectors back; None if there is none."""
        return None

    def gram_block(self, R: Array) -> Array:
        """(PᴴP)⁻¹ R for columns R."""
        return np.column_stack([self.gram_solve(np.ascontiguousarray(r)) for r in R.T])


class Factored(Prepared):
    """P for one pencil. The domain y = P x sees Ã = P⁻ᴴAP⁻¹ and B̃ = P⁻ᴴBP⁻¹, the identity for an exact P."""

    @abstractmethod
    def apply(self, x: Array) -> Array:
        """P x."""

    @abstractmethod
    def solve(self, y: Array) -> Array:
        """P⁻¹ y."""

    @abstractmethod
    def solve_adjoint(self, x: Array) -> Array:
        """P⁻ᴴ x."""

    def gram_solve(self, b: Array) -> Array:
        """(PᴴP)⁻¹ b."""
        return self.solve(self.solve_adjoint(b))


class Preconditioner(ABC):
    """Options of a preconditioner; `prepare` builds P for one pencil."""

    def prepare(self, pencil: Pencil | Products) -> Prepared:
        """P for this pencil's B; the identity needs none."""
        if pencil.B is None:
            return Identity()
        if pencil.B.matrix is None:
            raise ValueError(f"the preconditioner {self!r} needs the entries of B, and B is an operator")
        return self._prepare(counted(pencil))

    @abstractmethod
    def _prepare(self, pencil: Products) -> Prepared: ...


class Identity(Factored):
    """P = I, which is exact for B = I and the only preconditioner that it needs."""

    exact = True

    def apply(self, x: Array) -> Array:
        """The vector itself."""
        return x

    def solve(self, y: Array) -> Array:
        """The vector itself."""
        return y

    def solve_adjoint(self, x: Array) -> Array:
        """The vector itself."""
        return x
