"""Shift-invert: factorise A − σB, and move σ where it hits an eigenvalue."""

from __future__ import annotations

import numpy as np

from ..linalg.blas import kernels
from ..linalg.ldl import DenseShifted
from ..linalg.multiply import product
from ..linalg.reductions import gram, vdot
from ..methods.setup import Setup
from ..planning.costs import MAX_DENSE_N
from ..planning.decision import Choice
from ..problem.factorise import shifted_factor
from ..problem.operator import plus
from ..problem.pencil import Pencil
from ..problem.products import Products
from ..problem.start import random_vector
from ..problem.target import Target
from ..solvers.estimate import is_singular
from ..sparse_direct.ldl import SparseShifted
from ..transforms import LumpedShiftInvert, MasslessShiftInvert, SemidefiniteShiftInvert, ShiftInvert, is_lumped
from ..transforms.shift_invert import root_of
from ..typing import Array
from .definiteness import has_definite_rest, massless
from .workspace import Workspace

# Attempts to move σ off a singular A − σB, and further ones from where it has been moved to.
SINGULAR_MOVES, FURTHER_MOVES = 7, 3
# The fraction up to which rounding may change the distance of the nearest eigenvalue to σ, where others are as near.
MAX_UNRESOLVED = 0.05
# Lanczos steps that show whether σ is on an eigenvalue; further ones per wanted pair where it may be a multiple one.
FIRST_STEPS, STEPS_PER_PAIR = 5, 4


def shift_invert(workspace: Workspace, asked: float) -> Setup:
    """The eigenvalues nearest to σ = `asked` (of the scaled pair) as the largest of (A − σB)⁻¹B by magnitude."""
    pencil, products = workspace.pencil, workspace.products()
    sigma, factor = factorised_near(products.setup, asked, workspace.problem.k, workspace.shifted.get(asked))
    backend = getattr(factor, "name", None)
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
        kind = LumpedShiftInvert if is_lumped(products.B) else ShiftInvert
        return kind(products, sigma, factor)
    assert products.B is not None
    rows = massless(products.B)
    if products.n > MAX_DENSE_N or has_definite_rest(products.B, rows):
        return MasslessShiftInvert(products, sigma, factor, 1, rows)
    return SemidefiniteShiftInvert(products, sigma, factor, 1, root_of(products, "B")[0])


def factorised_near(
    products: Products, asked: float, k: int, known: SparseShifted | None = None
) -> tuple[float, DenseShifted | SparseShifted]:
    """σ at or next to `asked`, clear of eigenvalues, and A − σB factorised; it may be `known` at `asked`."""
    pencil = products.pencil
    size = max(abs(asked), pencil.size) or 1.0
    sigma, factor = asked, _try_factor(pencil, asked, known)
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
        raise ValueError(
            f"A − σB is singular to working precision at σ = {asked * pencil.unit:.6g} and near it: σ is on an "
            f"eigenvalue, or A and B have a common null vector; move sigma, or check A and B"
        )
    return sigma, factor


def _try_factor(
    pencil: Pencil, sigma: float, known: SparseShifted | None = None
) -> DenseShifted | SparseShifted | None:
    """A − σB factorised, or None where it is singular."""
    K = plus(pencil.A, -sigma, pencil.B)
    try:
        factor = shifted_factor(K) if known is None else known
    except ZeroDivisionError:
        return None
    return None if is_singular(K, factor) else factor


def _clearance(products: Products, factor: DenseShifted | SparseShifted, k: int, sigma: float, size: float) -> float:
    """How far to move a σ on an eigenvalue: 1/(λ − σ) dominates there and the other Ritz values lose all digits.

    A thousandth of the gap to the next eigenvalues, as a few Lanczos steps show it; mostly 0.
    """
    eps, x = products.eps, random_vector(products, np.random.default_rng(0))
    # whose squares may overflow
    norm = kernels(products.dtype).norm
    for _ in range(2):
        x = products.solve_K(factor, products.apply_B(x * (1 / norm(x))))
        if norm(x) == 0:
            # σ is so far away that its inverse underflows
            return 0.0
    # a small pivot alone does not tell: without pivoting there are some far from every eigenvalue, too
    closeness = norm(x) * size
    if closeness < eps**-0.5:
        return 0.0
    for steps in (FIRST_STEPS, FIRST_STEPS + STEPS_PER_PAIR * (k + 2)):
        growth = _inverse_ritz(products, factor, x, steps)
        if growth.size == 0:
            # the inverse has overflowed
            return float(eps**0.4 * size)
        drops = np.flatnonzero(growth[1 : k + 3] < eps**0.4 * growth[: k + 2][: growth.size - 1])
        if drops.size and growth[drops[0] + 1] > 0:
            return float(eps**0.2 / growth[drops[0] + 1])
        # relative to the rounding of the eigenvalues next to σ: of large ones elsewhere, `size` may be
        length = norm(x) / vdot(x, products.apply_B(x)).real ** 0.5
        unresolved = growth[0] * float(products.scale.perturbation(np.array([sigma]), np.array([length]))[0])
        # copies of one eigenvalue would agree up to this
        several = unresolved < MAX_UNRESOLVED and eps**0.4 * growth[0] < growth[-1] < 0.5 * growth[0]
        if several or unresolved < eps**0.25:
            return 0.0
    # of a multiple eigenvalue rounding shows copy after copy, and none of the others: so none is near
    return float(eps**0.4 * abs(sigma))


def _inverse_ritz(products: Products, factor: DenseShifted | SparseShifted, u: Array, steps: int) -> Array:
    """The magnitudes of Ritz values of T = (A − σB)⁻¹B, the largest first.

    The space is u, which inverse iteration has found, and a Krylov space from a random vector that is orthogonal to it.
    """
    steps = min(steps, products.n)
    V, D = (np.zeros((products.rows, steps), products.dtype, order="F") for _ in range(2))
    H = np.zeros((steps, steps), np.result_type(products.dtype, np.float64))
    x = u
    for j in range(steps):
        d = products.apply_B(x)
        square = vdot(x, d).real
        # rounding leaves little else of a vector in the null space of B
        least = products.eps * products.scale.B_norm * vdot(x, x).real
        if not (square > least and square**0.5 > (10 * products.eps * abs(H[j - 1, j - 1].real) if j > 1 else 0.0)):
            steps = j
            break
        V[:, j], D[:, j] = x / square**0.5, d / square**0.5
        x = products.solve_K(factor, D[:, j])
        H[: j + 1, j], x = _orthogonalised(V[:, : j + 1], D[:, : j + 1], x)
        if j == 0:
            _, x = _orthogonalised(V[:, :1], D[:, :1], random_vector(products, np.random.default_rng(1)))
    return np.sort(np.abs(np.linalg.eigvalsh(H[:steps, :steps], UPLO="U")))[::-1]


def _orthogonalised(V: Array, D: Array, x: Array) -> tuple[Array, Array]:
    """The coefficients of x along the columns of V, whose duals are D, and the rest of x."""
    first = gram(D, x)
    x = x - product(V, first)
    second = gram(D, x)
    return first + second, x - product(V, second)
