"""What a preconditioner is: a matrix P with PᴴP ≈ B, given by its four actions."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..kernels import Array
from ..pencil import Pencil


class Prepared(ABC):
    """P for one pencil. The domain y = P x sees Ã = P⁻ᴴAP⁻¹ and B̃ = P⁻ᴴBP⁻¹; `exact` means B̃ = I."""

    exact: bool = False

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

    def prepare(self, pencil: Pencil) -> Prepared:
        """P for this pencil's B; the identity needs none."""
        if pencil.B is None:
            return Identity()
        if pencil.B.matrix is None:
            raise ValueError(f"the preconditioner {self!r} needs the entries of B, and B is an operator")
        return self._prepare(pencil)

    @abstractmethod
    def _prepare(self, pencil: Pencil) -> Prepared: ...


class Identity(Prepared):
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
