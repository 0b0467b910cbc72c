"""Routes to the smallest values and to those next to σ: (B, A − σB) where that is definite, otherwise the inverse."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ..errors import NotPositiveDefinite
from ..linalg.cholesky import DenseFactor
from ..linalg.lanczos import LanczosProcess, largest_eigenvalue
from ..linalg.ldl import DenseShifted
from ..planning.plan import Route
from ..preparation.attach import attach
from ..problem.factorise import factorise, shifted_factor
from ..problem.operator import Operator, plus
from ..problem.pencil import Pencil
from ..problem.target import Wanted
from ..sparse_direct.cholesky import SparseFactor
from ..sparse_direct.ldl import SparseShifted
from ..transforms.shift_invert import Inverted
from ..typing import Array
from .matrix_free import smallest_without_solves
from .survey import survey
from .trials import check_fits, predicted

# Lanczos steps that show whether a mass matrix is positive definite, and how clear of singular it has to be for them.
CHECK_STEPS, CLEAR = (40, 80, 160), 1e-3


def smallest(pencil: Pencil, k: int, inner: Any, rng: np.random.Generator, *, lapack: bool) -> Route:
    """The largest of (B, A) when A is positive definite, of (B, A + ηB) when it is not, of (−A, B) without entries.

    Where a factorisation of A would take more time or memory than there is, the route is one without.
    """
    entries = pencil.has_entries and inner is None
    if entries:
        _check_B(pencil)
        prediction = None
        if not lapack:
            prediction = predicted(pencil.A)
            route = smallest_without_solves(pencil, k, None, prediction, must=False)
            if route is not None:
                return route
        try:
            definite = _definite(pencil, 0.0, 1)
        except MemoryError:
            # it was more than predicted
            route = smallest_without_solves(pencil, k, None, prediction, must=True)
            assert route is not None
            return route
        if definite is not None and _clear(definite):
            definite.prediction = prediction
            return definite
    if lapack or not entries:
        route = Route(pencil.negated())
        route.say("The smallest of (A, B) were found as the largest of (−A, B).")
        return route
    tiny = pencil.eps**0.5 * (pencil.A.size or 1.0) / (1.0 if pencil.B is None else pencil.B.size)
    definite = _definite(pencil, -tiny, 1)
    if definite is not None:
        return definite
    eta = max(_lowest(pencil, rng), tiny)
    for _ in range(8):
        definite = _definite(pencil, -eta, 1)
        if definite is not None:
            return definite
        eta *= 2
    raise NotPositiveDefinite(
        f"no multiple of B up to {eta * abs(pencil.unit):.3g} makes A + ηB positive definite; is B positive definite?"
    )


def _check_B(pencil: Pencil) -> None:
    """Refuse a B that is not positive definite although nothing here solves with it."""
    B = pencil.B
    if B is None or (B.kind == "sparse" and _surely_definite(B)):
        return
    check_fits(B, "B")
    factorise(B)


def _surely_definite(B: Operator) -> bool:
    """Is B with its diagonal scaled to 1 clear of singular, as a mass matrix is? Else a factorisation has to tell.

    Its eigenvalues are below the largest row sum c, and a few Lanczos steps bound those of cI − B, wrongly once in a
    million times.
    """
    diagonal = B.diagonal().real
    if not (diagonal > 0).all():
        return False
    D = sp.diags_array(1 / np.sqrt(diagonal))
    scaled = D @ B.matrix @ D
    sums = np.asarray(abs(scaled).sum(axis=1))
    if (sums < 2 - 100 * float(np.finfo(B.dtype).eps)).all():
        # by Gershgorin's circles, a diagonal that outweighs its row is proof enough
        return True
    c = float(sums.max())
    x = np.random.default_rng(0).standard_normal(B.n).astype(B.dtype)
    process = LanczosProcess(
        lambda v, _: c * v - scaled @ v, lambda y: (y, y), x, x, reorthogonalise=False, store=False
    )
    return any(largest_eigenvalue(process, steps) < (1 - CLEAR) * c for steps in CHECK_STEPS)


def _lowest(pencil: Pencil, rng: np.random.Generator) -> float:
    """An η ≥ 0 for which A + ηB is positive semidefinite, as far as a short Lanczos run can see."""
    attach(pencil, None)
    with pencil.counting(pencil.counts.setup):
        return survey(pencil, rng).shift


def near(pencil: Pencil, sigma: float, k: int, *, lapack: bool) -> Route:
    """The largest of (B, A − σB) or (B, σB − A) if one of the two is definite, otherwise the inverse at σ."""
    if not pencil.has_entries:
        raise ValueError("sigma needs the entries of A and B, as A − σB is factorised; give matrices")
    _check_B(pencil)
    K = plus(pencil.A, -sigma, pencil.B)
    check_fits(K, "A − σB")
    diagonal = K.diagonal().real
    for sign in (1, -1):
        if (sign * diagonal > 0).all():
            route = _definite(pencil, sigma, sign)
            if route is not None and _clear(route):
                return route
    if lapack:
        attach(pencil, None)
        return Route(pencil, sigma=sigma)
    return inverse(pencil, sigma, k)


def inverse(pencil: Pencil, sigma: float, k: int) -> Route:
    """The inverse at σ (of the scaled pair), or next to it where A − σB is singular."""
    size = max(abs(sigma), pencil.A.size / (1.0 if pencil.B is None else pencil.B.size)) or 1.0
    asked, factor = sigma, _try_factor(pencil, sigma)
    for step in range(3):
        if factor is None:
            sigma = asked + 10**step * pencil.eps**0.75 * size
            factor = _try_factor(pencil, sigma)
    # once more from where it has moved to: next to a singular A − σB the others are hard to see
    for _ in range(3):
        clearance = 0.0 if factor is None else _clearance(pencil, factor, k, sigma, size)
        if clearance <= 2 * (sigma - asked):
            break
        sigma = asked + clearance
        factor = _try_factor(pencil, sigma)
    if factor is None:
        raise ValueError(f"A − σB is singular at σ = {asked * pencil.unit:.6g} and near it; are A and B both singular?")
    route = Route(pencil, Wanted.nearest(sigma - asked), Inverted(pencil, sigma, factor), sigma=asked)
    by = f" by {factor.name}" if isinstance(factor, SparseShifted) else ""
    route.say(
        f"The values nearest to σ were found as the largest of (A − σB)⁻¹B by magnitude, "
        f"with A − σB (σ = {sigma * pencil.unit:.10g}) factorised as L D Lᴴ{by}."
    )
    return route


def _try_factor(pencil: Pencil, sigma: float) -> DenseShifted | SparseShifted | None:
    """A − σB factorised, or None where it is singular."""
    try:
        return shifted_factor(plus(pencil.A, -sigma, pencil.B))
    except ZeroDivisionError:
        return None


def _clearance(pencil: Pencil, factor: DenseShifted | SparseShifted, k: int, sigma: float, size: float) -> float:
    """How far to move a σ that hits an eigenvalue: its 1/(λ − σ) would leave no digits to the other ones.

    A thousandth of the distance to the next eigenvalues, as a few steps of subspace iteration show it; mostly 0.
    """
    rng = np.random.default_rng(0)
    x = rng.standard_normal((pencil.n, 1)).astype(pencil.dtype)
    for _ in range(2):
        x, _ = _inverse_times(pencil, factor, x / np.linalg.norm(x))
    # a small pivot alone says nothing: without pivoting there are some far from every eigenvalue, too
    closeness = float(np.linalg.norm(x)) * size
    if closeness < pencil.eps**-0.5:
        return 0.0
    # more columns where the eigenvalue that is hit has a multiplicity
    for columns in (k + 2, 4 * (k + 2), 16 * (k + 2)):
        Y = rng.standard_normal((pencil.n, min(columns, pencil.n))).astype(pencil.dtype)
        for _ in range(3):
            X = np.linalg.qr(Y)[0]
            Y, BX = _inverse_times(pencil, factor, X)
        H, G = BX.conj().T @ Y, BX.conj().T @ X
        growth = np.sort(np.abs(eigh((H + H.conj().T) / 2, (G + G.conj().T) / 2, eigvals_only=True)))[::-1]
        others = growth[growth < pencil.eps**0.4 * growth[0]]
        if others.size:
            return float(pencil.eps**0.2 / others[0])
        if columns >= pencil.n or closeness < pencil.eps**-0.7:
            break
    # none of the others was seen, so none is near
    return float(pencil.eps**0.4 * abs(sigma))


def _inverse_times(pencil: Pencil, factor: DenseShifted | SparseShifted, X: Array) -> tuple[Array, Array]:
    """(A − σB)⁻¹BX and BX."""
    BX = np.column_stack([pencil.apply_B(np.ascontiguousarray(x)) for x in X.T])
    return np.column_stack([pencil.solve_K(factor, np.ascontiguousarray(x)) for x in BX.T]), BX


def _definite(pencil: Pencil, sigma: float, sign: int) -> Route | None:
    """The pair (B, ±(A − σB)), or None if that is not positive definite."""
    K = plus(pencil.A, -sigma, pencil.B)
    if sign < 0:
        K = K.negated()
    swapped = pencil.swapped(K, sigma, sign)
    try:
        swapped.solver = factorise(K)
    except NotPositiveDefinite:
        return None
    route = Route(swapped)
    eta = -sigma * pencil.unit
    by = f" by {swapped.solver.factors.name}" if isinstance(swapped.solver, SparseFactor) else ""
    if sigma == 0:
        route.say(f"A is positive definite: its smallest were found as the largest of (B, A), with A factorised{by}.")
    else:
        shown = f"A {'+' if eta >= 0 else '−'} {abs(eta):.6g} B"
        if sign < 0:
            shown = f"−({shown})"
        route.say(
            f"{shown} is positive definite: the values next to {-eta:.6g} were found with its Cholesky factor{by}."
        )
    return route


def _clear(route: Route) -> bool:
    """Is σ clear of the eigenvalues? Next to one of them, its 1/(λ − σ) leaves no digits to the other ones."""
    pencil, factor = route.pencil, route.pencil.solver
    assert pencil.B is not None
    if isinstance(factor, DenseFactor):
        least = float((np.abs(factor.U.diagonal()) ** 2 / pencil.B.diagonal().real).min())
    else:
        assert isinstance(factor, SparseFactor)
        least = factor.least
    return bool(least > pencil.eps**0.5)
