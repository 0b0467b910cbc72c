"""Factorisations of A − μB for shift-invert solves, and inertia counts that isolate the leading eigenvalue."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...linalg.ldl import DenseShifted
from ...methods.protocol import Method
from ...objective.state import State
from ...problem.factorise import shifted_factor
from ...problem.operator import plus
from ...problem.products import Products
from ...sparse_direct.ldl import SparseShifted
from ...typing import Array
from ...verification.inertia import count_below


class Guard(NamedTuple):
    """All eigenvalues except the target and those already locked are below `low` (None: not yet known).

    `tried` is the residual at the last inertia count.
    """

    low: float | None = None
    tried: float = math.inf

    def holds(self, state: State) -> bool:
        """Is the target the only eigenpair that this state can converge to?"""
        return self.low is not None and state.finite and state.value >= self.low

    def tested(self, state: State, Tx: Array) -> Guard:
        """The guard after a test of a state with Tx = B⁻¹Ax.

        With ρ = ‖Ax − μBx‖ in the B⁻¹-norm, there is an eigenvalue in [μ − ρ, μ + ρ]. If it is the only one above
        μ − ρ, it is the target, and Rayleigh quotient iteration converges to it (Beattie and Fox 1989). The inertia
        count takes one factorisation, computed only if ρ has been halved since the last one.
        """
        products, axpy, value = state.products, state.products.kernels.axpy, state.value
        error = axpy(state.Bx, state.Ax.copy(), a=-value)
        rho = math.sqrt(max(products.kernels.dot(error, axpy(state.x, Tx.copy(), a=-value)), 0.0) / state.b)
        low = value - rho
        # A is positive semidefinite, so an inertia count below zero gives no information
        if rho > self.tried / 2 or low <= 0:
            return self
        try:
            below = count_below(products, low - products.scale.shift)
        except MemoryError:
            below = None
        alone = below is not None and products.n - below <= products.found.shape[1] + 1
        return Guard(low if alone else None, rho)


def need_entries(products: Products, method: Method) -> None:
    """Raise ValueError if A or B is matrix-free, because A − μB must be factorised."""
    if not products.pencil.has_entries:
        raise ValueError(f"{method!r} factorises A − μB and needs the entries of A and B; give matrices")


def inverse_applied(state: State, value: float) -> Array | None:
    """y = (A − μB)⁻¹Bx for μ = `value`, restricted to the B-orthogonal complement of the locked vectors: PᴴKPy = Bx.

    Takes one more solve with K per locked vector. None if the system is singular, because μ is an eigenvalue.
    """
    products, found = state.products, state.products.B_found
    factor = _factor(products, value - products.scale.shift)
    if factor is None:
        return None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        y = products.solve_K(factor, state.Bx)
        if found.shape[1]:
            Z = np.column_stack([products.solve_K(factor, np.ascontiguousarray(u)) for u in found.T])
            try:
                y = y - Z @ np.linalg.solve(found.conj().T @ Z, found.conj().T @ y)
            except np.linalg.LinAlgError:
                return None
    return y if np.isfinite(y).all() else None


def _factor(products: Products, value: float) -> DenseShifted | SparseShifted | None:
    """A factorisation of A − μB; if it is exactly singular, with μ perturbed by a rounding error."""
    nudge = 4 * products.eps * max(abs(value), products.scale.radius)
    for mu in (value, value + nudge):
        try:
            return shifted_factor(plus(products.A, -mu, products.B), products.solver)
        except ZeroDivisionError:
            continue
    return None
