"""The interface of a preconditioner: the action of (PᴴP)⁻¹ ≈ B⁻¹, and the factor P itself if it is available."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..problem.pencil import Pencil, counted
from ..problem.products import Products
from ..typing import Array


class Prepared(ABC):
    """A preconditioner (PᴴP)⁻¹ set up for one pencil; `exact` means PᴴP = B."""

    exact: bool = False

    @property
    def work(self) -> float:
        """Approximate number of multiplications per vector; 0 if negligible compared with a product with B."""
        return 0.0

    @abstractmethod
    def gram_solve(self, b: Array) -> Array:
        """(PᴴP)⁻¹ b."""

    def coarser(self, pencil: Pencil) -> tuple[Pencil, Prepared, Any] | None:
        """The coarse-level pair, its preconditioner and the prolongation matrix; None without a coarse level."""
        return None

    def gram_block(self, R: Array) -> Array:
        """(PᴴP)⁻¹ R for a block of columns R."""
        return np.column_stack([self.gram_solve(np.ascontiguousarray(r)) for r in R.T])


class Factored(Prepared):
    """A preconditioner with an explicit factor P.

    In the variables y = P x the pair is Ã = P⁻ᴴAP⁻¹ and B̃ = P⁻ᴴBP⁻¹; B̃ = I for an exact P.
    """

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
    """Options of a preconditioner; `prepare` sets it up for one pencil."""

    def prepare(self, pencil: Pencil | Products) -> Prepared:
        """Set up the preconditioner for the B of this pencil; P = I if B is the identity."""
        if pencil.B is None:
            return Identity()
        if pencil.B.entries is not None:
            return self._prepare_distributed(counted(pencil))
        if pencil.B.matrix is None:
            # for the smallest, A takes the place of B
            name = "B" if (pencil if isinstance(pencil, Pencil) else pencil.pencil).inverse is None else "A"
            raise ValueError(
                f"the preconditioner {self!r} needs the entries of {name}, but {name} is matrix-free; give {name} as a "
                f"matrix, or use UserPreconditioner or UserDiagonal"
            )
        return self._prepare(counted(pencil))

    @abstractmethod
    def _prepare(self, pencil: Products) -> Prepared: ...

    def _prepare_distributed(self, pencil: Products) -> Prepared:
        """The same for a B whose rows are distributed over processes."""
        raise ValueError(
            f"the preconditioner {self!r} needs all of B on one process, but B is distributed; use MultiGrid(), "
            f"Diagonal() or a preconditioner of your own"
        )


class Identity(Factored):
    """P = I, which is exact for B = I."""

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
