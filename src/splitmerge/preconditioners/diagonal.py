"""P = √diag(B), the optimal diagonal preconditioner (remark after equation 3.10)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import NotPositiveDefinite
from ..linalg.reductions import largest
from ..problem.products import Products
from ..system.processes import current, everywhere
from ..typing import Array
from .base import Factored, Preconditioner, Prepared


@dataclass(frozen=True)
class Diagonal(Preconditioner):
    """Jacobi preconditioner: negligible cost, and sufficient for finite element mass matrices."""

    def _prepare(self, pencil: Products) -> Prepared:
        return Rooted(root_of_diagonal(pencil))

    _prepare_distributed = _prepare


def root_of_diagonal(pencil: Products) -> Array:
    """√diag(B); raises `NotPositiveDefinite` if a diagonal entry is not positive."""
    assert pencil.B is not None
    d = pencil.B.diagonal().real
    if not everywhere(bool((d > 0).all())):
        where = "a diagonal entry" if current() else f"its diagonal entry {int(np.argmin(d))} (from 0)"
        raise NotPositiveDefinite(
            f"B is not positive definite: {where} is {-largest(-d):.3g}; remove rows and columns with non-positive "
            f"diagonal entries, or add a small multiple of the identity to B"
        )
    return np.asarray(np.sqrt(d))


class Rooted(Factored):
    """P = diag(root)."""

    def __init__(self, root: Array) -> None:
        self.root = root
        self.inverse_gram = 1 / root**2

    def apply(self, x: Array) -> Array:
        """P x."""
        return x * self.root

    def solve(self, y: Array) -> Array:
        """P⁻¹ y."""
        return y / self.root

    def solve_adjoint(self, x: Array) -> Array:
        """P⁻ᴴ x."""
        return self.solve(x)

    def gram_solve(self, b: Array) -> Array:
        """(PᴴP)⁻¹ b."""
        return b * self.inverse_gram

    def gram_block(self, R: Array) -> Array:
        """(PᴴP)⁻¹ R for a block of columns R."""
        return R * self.inverse_gram[:, None]
