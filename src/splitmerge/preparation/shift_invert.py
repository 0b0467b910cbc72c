"""Shift-invert: factorise A − σB, and move σ where it hits an eigenvalue."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from ..linalg.ldl import DenseShifted
from ..linalg.reductions import gram, norm
from ..methods.setup import Setup
from ..planning.costs import MAX_DENSE_N
from ..planning.decision import Choice
from ..problem.factorise import shifted_factor
from ..problem.operator import plus
from ..problem.pencil import Pencil
from ..problem.products import Products
from ..problem.target import Target
from ..solvers.estimate import is_singular
from ..sparse_direct.ldl import SparseShifted
from ..transforms import MasslessShiftInvert, SemidefiniteShiftInvert, ShiftInvert
from ..transforms.shift_invert import root_of
from ..typing import Array
from .definiteness import has_definite_rest, massless
from .workspace import Workspace

# Attempts to move σ off a singular A − σB, and further ones from where it has been moved to.
SINGULAR_MOVES, FURTHER_MOVES = 3, 3
# Blocks of subspace iteration, as multiples of k + 2: larger ones where a multiple eigenvalue is hit.
BLOCK_FACTORS = (1, 4, 16)


def shift_invert(workspace: Workspace, asked: float) -> Setup:
    """The eigenvalues nearest to σ = `asked` (of the scaled pair) as the largest of (A − σB)⁻¹B by magnitude."""
    pencil, products = workspace.pencil, workspace.products()
    sigma, factor = factorised_near(products.setup, asked, workspace.problem.k)
    backend = factor.name if isinstance(factor, SparseShifted) else None
    workspace.decide(Choice.SHIFT_INVERT, sigma=sigma * pencil.unit, backend=backend)
    transform, k = _transform(workspace, products, sigma, factor), workspace.problem.k
    if transform.dimension < k:
        raise ValueError(f"k is {k}, but B has rank {transform.dimension}, so that no more eigenvalues are finite")
    return workspace.krylov(products, Target.nearest(sigma - asked), transform=transform)


def _transform(
    workspace: Workspace, products: Products, sigma: float, factor: DenseShifted | SparseShifted
) -> ShiftInvert:
    """Shift-invert in the inner product of B, or for a singular B on its range."""
    if not workspace.semidefinite:
        return ShiftInvert(products, sigma, factor)
    assert products.B is not None
    rows = massless(products.B)
    if products.n > MAX_DENSE_N or has_definite_rest(products.B, rows):
        return MasslessShiftInvert(products, sigma, factor, 1, rows)
    return SemidefiniteShiftInvert(products, sigma, factor, 1, root_of(products, "B")[0])


def factorised_near(products: Products, asked: float, k: int) -> tuple[float, DenseShifted | SparseShifted]:
    """σ at or next to `asked`, clear of eigenvalues, and A − σB factorised."""
    pencil = products.pencil
    size = max(abs(asked), pencil.A.size / (1.0 if pencil.B is None else pencil.B.size)) or 1.0
    sigma, factor = asked, _try_factor(pencil, asked)
    for step in range(SINGULAR_MOVES):
        if factor is None:
            sigma = asked + 10**step * pencil.eps**0.75 * size
            factor = _try_factor(pencil, sigma)
    # again from where it has been moved to: close to a singular A − σB the other eigenvalues are hard to see
    for _ in range(FURTHER_MOVES):
        clearance = 0.0 if factor is None else _clearance(products, factor, k, sigma, size)
        if clearance <= 2 * (sigma - asked):
            break
        sigma = asked + clearance
        factor = _try_factor(pencil, sigma)
    if factor is None:
        raise ValueError(f"A − σB is singular at σ = {asked * pencil.unit:.6g} and near it; are A and B both singular?")
    return sigma, factor


def _try_factor(pencil: Pencil, sigma: float) -> DenseShifted | SparseShifted | None:
    """A − σB factorised, or None where it is singular."""
    K = plus(pencil.A, -sigma, pencil.B)
    try:
        factor = shifted_factor(K)
    except ZeroDivisionError:
        return None
    return None if is_singular(K, factor) else factor


def _clearance(products: Products, factor: DenseShifted | SparseShifted, k: int, sigma: float, size: float) -> float:
    """How far to move a σ on an eigenvalue: 1/(λ − σ) dominates there and the other Ritz values lose all digits.

    A thousandth of the gap to the next eigenvalues, as a few steps of subspace iteration show it; mostly 0.
    """
    n, eps, rng = products.n, products.eps, np.random.default_rng(0)
    x = rng.standard_normal((n, 1)).astype(products.dtype)
    for _ in range(2):
        x, _ = _inverse_times(products, factor, x / norm(x))
    # a small pivot alone does not tell: without pivoting there are some far from every eigenvalue, too
    closeness = norm(x) * size
    if closeness < eps**-0.5:
        return 0.0
    for columns in (multiple * (k + 2) for multiple in BLOCK_FACTORS):
        Y = rng.standard_normal((n, min(columns, n))).astype(products.dtype)
        for _ in range(3):
            X = np.linalg.qr(Y)[0]
            Y, BX = _inverse_times(products, factor, X)
        H, G = gram(BX, Y), gram(BX, X)
        growth = np.sort(np.abs(eigh((H + H.conj().T) / 2, (G + G.conj().T) / 2, eigvals_only=True)))[::-1]
        others = growth[(growth > 0) & (growth < eps**0.4 * growth[0])]
        if others.size:
            return float(eps**0.2 / others[0])
        if columns >= n or closeness < eps**-0.7:
            break
    # none of the other eigenvalues was seen, so none is near
    return float(eps**0.4 * abs(sigma))


def _inverse_times(products: Products, factor: DenseShifted | SparseShifted, X: Array) -> tuple[Array, Array]:
    """(A − σB)⁻¹BX and BX."""
    BX = np.column_stack([products.apply_B(np.ascontiguousarray(x)) for x in X.T])
    return np.column_stack([products.solve_K(factor, np.ascontiguousarray(x)) for x in BX.T]), BX
