"""The one place that chooses: LAPACK or the iteration, which pair it runs on, and what is factorised for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .accelerated import Accelerated, Inverted, Paired, Wanted, Whitened
from .accelerated.domain import Domain
from .adapt import as_dense, plus
from .errors import NotPositiveDefinite
from .factor import DenseFactor, DenseShifted, SparseFactor, SparseShifted, factorise, shifted_factor
from .inner import ConjugateGradient, attach
from .krylov import survey
from .pencil import Pencil

# LAPACK is the faster one up to this size, whatever k is.
SMALL = 100
# Beyond this share of the spectrum, LAPACK is the faster one as long as its matrices fit.
SHARE = 1 / 6
DENSE_LIMIT = 4000


@dataclass
class Route:
    """How the pairs will be sought: the most `wanted` of `pencil`, in `domain`, or by LAPACK when there is none."""

    pencil: Pencil
    wanted: Wanted = Wanted.LARGEST
    domain: Domain | None = None
    lines: list[str] = field(default_factory=list)

    def say(self, line: str) -> None:
        """Add a sentence to what `explain` tells."""
        self.lines.append(line)


def choose(
    pencil: Pencil,
    k: int,
    which: str,
    sigma: float | None,
    method: Accelerated | None,
    rng: np.random.Generator,
    *,
    iterate: bool,
) -> Route:
    """The route for the k wanted pairs; `iterate` says that the caller asked for an iteration in some way."""
    n = pencil.n
    lapack = method is None and not iterate and (n <= SMALL or (k > SHARE * n and n <= DENSE_LIMIT))
    if lapack:
        pencil.A = as_dense(pencil.A)
        pencil.B = None if pencil.B is None else as_dense(pencil.B)
    inner = None if method is None else method.inner
    if sigma is not None:
        route = _near(pencil, sigma / pencil.unit, k)
    elif which == "smallest":
        route = _smallest(pencil, inner, rng)
    else:
        route = Route(pencil, {"magnitude": Wanted.MAGNITUDE, "ends": Wanted.ENDS}.get(which, Wanted.LARGEST))
    if route.pencil.solver is None and route.domain is None:
        _attach(route, inner)
    if lapack:
        share = f"k = {k} is a large share of n = {n}" if n > SMALL else f"n = {n} is small"
        route.say(f"LAPACK computed the pairs directly, as {share}.")
    elif route.domain is None:
        whitened = route.pencil.identity or isinstance(route.pencil.solver, DenseFactor)
        route.domain = Whitened(route.pencil) if whitened else Paired(route.pencil)
    return route


def _attach(route: Route, inner: Any) -> None:
    """Give the pencil its solver for B: the factor of a matrix, conjugate gradients to the end for an operator."""
    pencil = route.pencil
    if inner is None and pencil.B is not None and pencil.B.matrix is None:
        inner = ConjugateGradient(max_steps=max(500, 2 * pencil.n), tol=1e-13)
    inner = attach(pencil, inner)
    if inner is None:
        route.say("B is the identity, so no work was done for it.")
    else:
        route.say(f"Systems with B were solved by {inner.describe(pencil)}.")


def _smallest(pencil: Pencil, inner: Any, rng: np.random.Generator) -> Route:
    """The largest of (B, A) when A is positive definite, of (B, A + ηB) when it is not, of (−A, B) without entries."""
    if not _has_entries(pencil) or inner is not None:
        route = Route(pencil.negated())
        route.say("The smallest of (A, B) were found as the largest of (−A, B).")
        return route
    _check_B(pencil)
    tiny = 1e-8 * (pencil.A.size or 1.0) / (1.0 if pencil.B is None else pencil.B.size)
    for eta in (0.0, tiny):
        definite = _definite(pencil, -eta, 1)
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
    """Refuse a B that is not positive definite although nothing here solves with it: in full when that is cheap."""
    B = pencil.B
    if B is not None and (B.kind == "dense" or not (B.diagonal().real > 0).all()):
        factorise(B)


def _lowest(pencil: Pencil, rng: np.random.Generator) -> float:
    """An η ≥ 0 for which A + ηB is positive semidefinite, as far as a short Lanczos run can see."""
    attach(pencil, None)
    with pencil.counting(pencil.counts.setup):
        return survey(pencil, rng).shift


def _near(pencil: Pencil, sigma: float, k: int) -> Route:
    """The largest of (B, A − σB) or (B, σB − A) if one of the two is definite, otherwise the inverse at σ."""
    if not _has_entries(pencil):
        raise ValueError("sigma needs the entries of A and B, as A − σB is factorised; give matrices")
    _check_B(pencil)
    K = plus(pencil.A, -sigma, pencil.B)
    diagonal = K.diagonal().real
    for sign in (1, -1):
        if (sign * diagonal > 0).all():
            route = _definite(pencil, sigma, sign)
            if route is not None:
                return route
    if K.kind == "dense" or pencil.n <= SMALL:
        attach(pencil, None)
    return _inverse(pencil, sigma, k)


def _inverse(pencil: Pencil, sigma: float, k: int) -> Route:
    size = max(abs(sigma), pencil.A.size / (1.0 if pencil.B is None else pencil.B.size))
    asked, cleared = sigma, False
    for step in range(4):
        K = plus(pencil.A, -sigma, pencil.B)
        try:
            factor = shifted_factor(K)
        except ZeroDivisionError:
            sigma = asked + 10**step * pencil.eps**0.75 * size
            continue
        clearance = 0.0 if cleared else _clearance(pencil, factor, k)
        if clearance == 0:
            break
        sigma, cleared = asked + clearance, True
    else:
        raise ValueError(f"A − σB is singular at σ = {asked * pencil.unit:.6g} and near it; are A and B both singular?")
    route = Route(pencil, Wanted.MAGNITUDE, Inverted(pencil, sigma, factor))
    route.say(
        f"The values nearest to σ were found as the largest of (A − σB)⁻¹B by magnitude, "
        f"with A − σB (σ = {sigma * pencil.unit:.10g}) factorised as L D Lᴴ."
    )
    return route


def _clearance(pencil: Pencil, factor: DenseShifted | SparseShifted, k: int) -> float:
    """How far to move a σ that hits an eigenvalue: its 1/(λ − σ) would leave no digits to the other ones.

    A thousandth of the distance to the next eigenvalues, as a few steps of subspace iteration show it; mostly 0.
    """
    if factor.smallest > 1e-10:
        return 0.0
    X = np.random.default_rng(0).standard_normal((pencil.n, min(k + 2, pencil.n))).astype(pencil.dtype)
    for _ in range(3):
        X = np.linalg.qr(X)[0]
        X = np.column_stack([pencil.solve_K(factor, pencil.apply_B(np.ascontiguousarray(x))) for x in X.T])
    growth = np.linalg.svd(X, compute_uv=False)
    others = growth[growth < 1e-6 * growth[0]]
    return 1e-3 / float(others[0]) if others.size else 0.0


def _definite(pencil: Pencil, sigma: float, sign: int) -> Route | None:
    """The pair (B, ±(A − σB)), or None if that is not positive definite."""
    K = plus(pencil.A, -sigma, pencil.B)
    if sign < 0:
        K = K.negated()
    swapped = pencil.swapped(K, sigma, sign)
    try:
        swapped.solver = DenseFactor(K.matrix) if K.kind == "dense" else SparseFactor(K.matrix)
    except NotPositiveDefinite:
        return None
    route = Route(swapped)
    eta = -sigma * pencil.unit
    if sigma == 0:
        route.say("A is positive definite: its smallest were found as the largest of (B, A), with A factorised.")
    else:
        shown = f"A {'+' if eta >= 0 else '−'} {abs(eta):.6g} B"
        if sign < 0:
            shown = f"−({shown})"
        route.say(f"{shown} is positive definite: the values next to {-eta:.6g} were found with its Cholesky factor.")
    return route


def _has_entries(pencil: Pencil) -> bool:
    return pencil.A.matrix is not None and (pencil.B is None or pencil.B.matrix is not None)
