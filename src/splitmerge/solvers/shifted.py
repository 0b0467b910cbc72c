"""Solve with A − σB without a factorisation: by the user's function, or by MINRES."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, minres

from ..linalg.reductions import norm
from ..problem.pencil import Pencil
from ..problem.products import Iterative, Products
from ..typing import Array

# MINRES makes at most this many steps per unknown.
MINRES_STEPS_PER_UNKNOWN = 20


@dataclass(frozen=True)
class UserInverse:
    """The caller's inverse of A − σM, times `factor`, in the coordinates of the pencil."""

    pencil: Pencil
    function: Callable[[Array], Any]
    factor: float

    def solve(self, b: Array) -> Array:
        """(A − τB)⁻¹b, undoing the scaling: (αDKD)⁻¹ = D⁻¹K⁻¹D⁻¹/α."""
        pencil = self.pencil
        # a copy, as the function may overwrite its argument
        w = np.asarray(self.function(pencil.from_vectors(b.copy()))).reshape(-1)
        if w.shape != b.shape or not np.isfinite(w).all():
            raise ValueError(f"OPinv gave {w.shape} numbers, or infinite ones, for a vector of shape {b.shape}")
        return np.asarray(pencil.from_vectors(w * (self.factor / pencil.A.scale))).astype(pencil.dtype)


@dataclass(frozen=True)
class Minres(Iterative):
    """Solves with A − σB by products alone; a complex vector is treated as a real one of twice the length."""

    products: Products
    sigma: float

    def bound_to(self, products: Products) -> Minres:
        """The same solver, multiplying by these counted products."""
        return replace(self, products=products)

    def solve(self, b: Array) -> Array:
        """(A − σB)⁻¹b, or ValueError if that takes too long."""
        n, products = self.products.n, self.products
        kind, dtype = products.dtype.kind, products.dtype

        def times(x: Array) -> Array:
            y = np.ascontiguousarray(x.ravel().view(np.complex128) if kind == "c" else x.ravel()).astype(dtype)
            product = products.apply_plain_A(y) - self.sigma * products.apply_B(y)
            return product.astype(np.complex128).view(np.float64) if kind == "c" else product.astype(np.float64)

        right = b.astype(np.complex128).view(np.float64) if kind == "c" else b.astype(np.float64)
        K = LinearOperator((right.size, right.size), matvec=times, dtype=np.float64)
        w, _ = minres(K, right, rtol=0.1 * products.eps, maxiter=MINRES_STEPS_PER_UNKNOWN * n)
        error = norm(times(w) - right) / norm(right)
        if not error <= 1e3 * math.sqrt(n) * products.eps:
            raise ValueError(
                f"Error in inverting [A-sigma*M]: function minres did not converge (relative residual {error:.1g}); "
                f"give matrices, or OPinv"
            )
        return (w.view(np.complex128) if kind == "c" else w).astype(dtype)
