"""User-supplied preconditioners: an approximate inverse of B, or the diagonal of a matrix-free B."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import NotPositiveDefinite
from ..linalg.reductions import vdot
from ..problem.pencil import Pencil, counted
from ..problem.products import Products
from ..problem.start import random_vector
from ..typing import Array
from .base import Preconditioner, Prepared
from .diagonal import Rooted


@dataclass(frozen=True)
class UserPreconditioner(Preconditioner):
    """`inverse`, an object with `@` or a function, applies a Hermitian positive definite approximation of B⁻¹."""

    inverse: Any = field(repr=False)

    def __post_init__(self) -> None:
        if not callable(self.inverse) and not hasattr(self.inverse, "__matmul__"):
            raise ValueError(
                f"preconditioner is {self.inverse!r}; give a preconditioner such as MultiGrid(), or an operator or "
                f"function that applies an approximate inverse"
            )

    def prepare(self, pencil: Pencil | Products) -> Prepared:
        """Check the shape and the sign of the preconditioner on one random vector."""
        P = _User(counted(pencil).pencil, self.inverse)
        b = random_vector(pencil, np.random.default_rng(0))
        size = float(vdot(b, P.gram_solve(b)).real)
        if not (0 < size < np.inf):
            raise NotPositiveDefinite(
                f"the preconditioner is not positive definite: bᴴPb = {size:.3g} for a random b; "
                f"give an approximate inverse with positive eigenvalues"
            )
        return P

    def _prepare(self, pencil: Products) -> Prepared:
        return self.prepare(pencil)


class _User(Prepared):
    def __init__(self, pencil: Pencil, inverse: Any) -> None:
        self.pencil, self.inverse = pencil, inverse

    def gram_solve(self, b: Array) -> Array:
        """(DBD)⁻¹ = D⁻¹B⁻¹D⁻¹ for the scaling D of the pencil; a scalar factor does not affect a preconditioner."""
        pencil = self.pencil
        # a copy, as the user's code may overwrite its argument
        given = pencil.from_vectors(b.copy())
        w = np.asarray(self.inverse @ given if hasattr(self.inverse, "__matmul__") else self.inverse(given))
        if w.shape != b.shape or w.dtype.kind not in "biufc":
            raise ValueError(
                f"the preconditioner gave shape {w.shape}, dtype {w.dtype} for a vector of shape {b.shape}; return a "
                f"numeric array of that shape"
            )
        return pencil.from_vectors(w.astype(pencil.dtype))


@dataclass(frozen=True)
class UserDiagonal(Preconditioner):
    """Jacobi preconditioner from the given diagonal of a matrix-free B."""

    diagonal: Any = field(repr=False)

    def __post_init__(self) -> None:
        d = np.asarray(self.diagonal)
        if d.ndim != 1 or d.dtype.kind not in "biuf":
            raise ValueError(f"diagonal has shape {d.shape}, dtype {d.dtype}; give the n real entries of a diagonal")
        if not (np.isfinite(d).all() and (d > 0).all()):
            raise ValueError(
                "diagonal has entries that are not positive and finite; give the diagonal of a positive definite matrix"
            )

    def prepare(self, pencil: Pencil | Products) -> Prepared:
        """P = √d, scaled as the pencil is."""
        d, scaling = np.asarray(self.diagonal, dtype=np.float64), counted(pencil).pencil.scaling
        if d.size != pencil.rows:
            raise ValueError(f"diagonal has {d.size} entries, but n is {pencil.rows}; give one entry per row of B")
        root = np.sqrt(d) * (1.0 if scaling is None else scaling)
        return Rooted(root.astype(np.empty(0, pencil.dtype).real.dtype))

    def _prepare(self, pencil: Products) -> Prepared:
        return self.prepare(pencil)
