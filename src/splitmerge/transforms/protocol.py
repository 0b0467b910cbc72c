"""Spectral transformations: operators T, Hermitian in some inner product, with the eigenvectors of (A, B)."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np

from ..problem.products import Products
from ..typing import Array


class Transform(Protocol):
    """Coordinates in which T is Hermitian: y with dual z, ⟨y, y'⟩ = zᴴy'.

    `dimension` is that of the space in which the inner product is definite: n, or the rank of a singular B. `single`
    says that the dual is y itself, `direct` that the eigenvalues of T are those of the pencil. Either T y or its dual
    (`dual_first`) is computed first, and the other one from it after the three-term recurrence has been applied:
    applying the recurrence to both lets them drift apart.
    """

    n: int
    dimension: int
    dtype: np.dtype[Any]
    products: Products
    single: bool
    direct: bool
    dual_first: bool

    def monitored(self) -> Self:
        """The same transformation, its products counted as monitoring."""

    def enter(self, X: Array) -> tuple[Array, Array]:
        """Columns of the pencil in these coordinates, and their duals."""

    def random(self, X: Array) -> tuple[Array, Array]:
        """Random vectors and their duals, from columns X of normally distributed numbers.

        Where B is ill-conditioned, X in the coordinates of the pencil hardly has components along some eigenvectors.
        These are isotropic in the inner product, or have a component at least along every eigenvector.
        """

    def leave(self, Y: Array) -> Array:
        """The inverse of `enter`."""

    def dual(self, y: Array) -> Array:
        """The dual of one vector."""

    def image(self, y: Array) -> Array:
        """B x for the x of these coordinates y; a product for it is counted as monitoring."""

    def apply(self, y: Array, z: Array) -> Array:
        """T y, or its dual where that comes first; the caller may overwrite it."""

    def complete(self, first: Array) -> tuple[Array, Array]:
        """A vector and its dual, from the one of them that comes first."""

    def apply_block(self, Y: Array, Z: Array) -> Array:
        """`apply` for columns; these and the result are in Fortran order."""

    def complete_block(self, first: Array) -> tuple[Array, Array]:
        """`complete` for columns."""

    def value(self, theta: float) -> float:
        """The eigenvalue of the pencil that belongs to the eigenvalue `theta` of T."""
