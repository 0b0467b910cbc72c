"""The pair (B, ±(A − σB)) for a positive definite ±(A − σB): its largest eigenvalues belong to the λ next to σ."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..errors import NotPositiveDefinite
from ..linalg import csr
from ..linalg.cholesky import DenseFactor
from ..linalg.lanczos import LanczosProcess
from ..methods.survey import survey
from ..planning.decision import Choice
from ..problem.factorise import factorise
from ..problem.operator import Operator, plus
from ..problem.pencil import Pencil
from ..problem.products import Products
from ..problem.start import random_vector
from ..sparse_direct.choice import definite_factors, one_for_all
from ..sparse_direct.cholesky import SparseFactor
from ..sparse_direct.ldl import SparseShifted
from ..transforms import is_lumped
from ..typing import Array
from .solver import attached
from .workspace import Workspace

# Factors by which η grows until A + ηB is called indefinite for every multiple of B.
ETA_GROWTH = (2, 4, 16, *(256,) * 7)
# Lanczos steps that bound the smallest eigenvalue, and how much larger than needed η may be.
LOWEST_STEPS, MAX_ETA_RATIO = 20, 4
# Factor by which η exceeds the estimate, again if A + ηB is not positive definite.
ETA_MARGIN = 1.5


def swapped(workspace: Workspace, sigma: float, sign: int, *, clear: bool) -> Products | None:
    """Products with (B, ±(A − σB)), which is factorised; None if it is not positive definite.

    `clear` also requires σ to be clear of the eigenvalues.
    """
    pencil = workspace.pencil
    K = plus(pencil.A, -sigma, pencil.B)
    if sign < 0:
        K = K.negated()
    factor = _definite_factor(workspace, K, sigma, sign)
    if factor is None:
        return None
    if clear and not (_cancels_little(workspace, K, sigma) and _clear(factor, K.diagonal(), pencil.eps)):
        return None
    backend = factor.factors.name if isinstance(factor, SparseFactor) else None
    workspace.decide(Choice.SWAPPED, shift=-sigma * pencil.unit, sign=sign, backend=backend)
    return Products(pencil.swapped(K, sigma, sign), budget=workspace.budget, solver=factor)


def _definite_factor(workspace: Workspace, K: Operator, sigma: float, sign: int) -> DenseFactor | SparseFactor | None:
    """K = ±(A − σB) factorised; None if it is not positive definite.

    For a σ of the user's the factors are kept, as they serve shift-invert if K is indefinite.
    """
    known = None
    try:
        if workspace.problem.sigma is not None and sign > 0 and K.kind == "sparse" and one_for_all(K.matrix):
            shifted = workspace.shifted[sigma] = SparseShifted(K.matrix)
            if shifted.negative != 0:
                return None
            known = shifted.lu
        elif K.kind == "sparse":
            known = workspace.last_factors = definite_factors(K.matrix, workspace.last_factors)
            if known is None:
                return None
        return factorise(K, known=known)
    except (NotPositiveDefinite, ZeroDivisionError):
        return None


def _cancels_little(workspace: Workspace, K: Operator, sigma: float) -> bool:
    """Is the diagonal of A − σB well above the rounding errors of A and σB?"""
    pencil = workspace.pencil
    if sigma == 0:
        return True
    terms = np.abs(pencil.A.diagonal()) + abs(sigma) * (1.0 if pencil.B is None else np.abs(pencil.B.diagonal()))
    return bool((K.diagonal().real > pencil.eps**0.5 * terms).all())


def _clear(factor: DenseFactor | SparseFactor, diagonal: Array, eps: float) -> bool:
    """Is σ clear of the eigenvalues? Close to one, its 1/(λ − σ) dominates and the others lose all digits."""
    if isinstance(factor, DenseFactor):
        least = float((np.abs(factor.U.diagonal()) ** 2 / diagonal.real).min())
    else:
        least = factor.least
    return bool(least > eps**0.5)


def swapped_below(workspace: Workspace) -> Products:
    """Products with (B, A + ηB) for an η ≥ 0 that makes A + ηB positive definite, not much larger than needed."""
    pencil = workspace.pencil
    tiny = pencil.eps**0.5 * (pencil.size or 1.0 / (1.0 if pencil.B is None else pencil.B.size))
    eta, definite = tiny, None
    for eta in _etas(workspace, tiny):
        definite = swapped(workspace, -eta, 1, clear=False)
        if definite is not None:
            break
    if definite is None:
        raise NotPositiveDefinite(
            f"no multiple of B up to {eta * abs(pencil.unit):.3g} makes A + ηB positive definite: A must be positive "
            f"definite on the null space of B; b_policy='restrict' condenses that, and sigma asks for values inside"
        )
    return definite if eta == tiny else _nearer(workspace, definite, eta, tiny)


def _etas(workspace: Workspace, tiny: float) -> Iterator[float]:
    """Increasing η: `tiny`, a Lanczos estimate, where that shows nothing a bound by Gershgorin's circles, then more."""
    yield tiny
    eta = tiny if workspace.semidefinite else max(_lowest(workspace), tiny)
    if eta == tiny:
        eta = max(_gershgorin(workspace.pencil), tiny)
    if eta > tiny:
        yield eta
    for growth in ETA_GROWTH:
        eta *= growth
        yield eta


def _gershgorin(pencil: Pencil) -> float:
    """An η for which A + ηB is strictly diagonally dominant, for a diagonal B; 0 where there is none."""
    A, B = pencil.A, pencil.B
    if A.matrix is None or not (B is None or is_lumped(B)):
        return 0.0
    diagonal = A.diagonal().real
    sums = csr.row_sums(A.matrix) if A.kind == "sparse" else np.abs(A.matrix).sum(axis=1)
    masses = 1.0 if B is None else B.diagonal().real
    with np.errstate(over="ignore"):
        least = (1 + pencil.eps**0.5) * float(((sums - np.abs(diagonal) - diagonal) / masses).max())
    return least if math.isfinite(least) else 0.0


def _nearer(workspace: Workspace, definite: Products, eta: float, tiny: float) -> Products:
    """A smaller η than `eta`, if Lanczos on (B, A + ηB) shows that the smallest eigenvalue is far above −η."""
    setup, x = definite.setup, random_vector(definite, workspace.rng)
    process = LanczosProcess(setup.apply_A, setup.solve_B, x, setup.apply_B(x))
    while process.steps < LOWEST_STEPS and not process.exhausted:
        process.extend()
    top = float(process.ritz(process.steps - 1, process.steps - 1)[0][0])
    least = max(eta - 1 / top, tiny) if top > 0 else eta
    while (least := ETA_MARGIN * least) * MAX_ETA_RATIO < eta:
        nearer = swapped(workspace, -least, 1, clear=False)
        if nearer is not None:
            return nearer
    return definite


def _lowest(workspace: Workspace) -> float:
    """An η ≥ 0 for which A + ηB is positive semidefinite, as far as a short Lanczos run can see."""
    products = workspace.products().setup
    try:
        _, solver = attached(products, None)
        return survey(workspace.products(solver=solver).setup, workspace.rng).shift
    except NotPositiveDefinite:
        # too badly conditioned: η is found by trial
        return 0.0
