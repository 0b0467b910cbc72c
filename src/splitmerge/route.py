"""The one place that chooses: LAPACK or the iteration, which pair it runs on, and what is factorised for it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .accelerated import Accelerated, Wanted
from .accelerated.domain import domain_of
from .adapt import as_dense
from .factor import DenseFactor
from .inner import ConjugateGradient, attach
from .inverse import near, smallest
from .narrow import narrowed
from .pencil import Pencil
from .plan import Route

# Up to this size LAPACK is the faster one, whatever the kind of the matrices and whatever k is.
SMALL = 100
# Dense matrices: up to this size for one pair, and so much further for each more.
SMALL_DENSE, A_PAIR_MORE = 200, 20
# Beyond this share of the spectrum, LAPACK is the faster one as long as its matrices fit.
SHARE = 1 / 6
DENSE_LIMIT = 4000
# Dense matrices from this size on are searched in single precision, where that will do.
NARROW = 400


def prefers_lapack(n: int, k: int, *, dense: bool) -> bool:
    """Is a whole decomposition expected to be faster than an iteration?"""
    small = SMALL_DENSE + A_PAIR_MORE * (k - 1) if dense else SMALL
    return n <= DENSE_LIMIT and (n <= small or k > SHARE * n)


def choose(
    pencil: Pencil,
    k: int,
    which: str,
    sigma: float | None,
    method: Accelerated | None,
    rng: np.random.Generator,
    *,
    iterate: bool,
    narrow: bool = False,
) -> Route:
    """The route for the k wanted pairs.

    `iterate` says that the caller asked for an iteration in some way, `narrow` that a search in single precision and
    polishing would do.
    """
    n = pencil.n
    lapack = method is None and not iterate and prefers_lapack(n, k, dense=pencil.dense)
    if lapack:
        # an operator is multiplied by the columns of the identity
        pencil.counts.setup.A_products += n * (pencil.A.matrix is None)
        pencil.A = as_dense(pencil.A)
        if pencil.B is not None:
            pencil.counts.setup.B_products += n * (pencil.B.matrix is None)
            pencil.B = as_dense(pencil.B)
    inner = None if method is None else method.inner
    if sigma is not None:
        route = near(pencil, sigma / pencil.unit, k, lapack=lapack)
    elif which == "smallest":
        route = smallest(pencil, inner, rng, lapack=lapack)
    else:
        route = Route(pencil, {"magnitude": Wanted.MAGNITUDE, "ends": Wanted.ENDS}.get(which, Wanted.LARGEST))
    if narrow and not lapack and route.pencil is pencil and route.domain is None and inner is None:
        _narrow(route)
    if route.pencil.solver is None and route.domain is None:
        _attach(route, inner, k)
    if lapack:
        route.say(f"LAPACK computed the pairs directly: for k = {k} of n = {n} that is faster than to iterate.")
    elif route.domain is None:
        route.domain = domain_of(route.narrow or route.pencil)
        if route.narrow is None:
            _form(route, k)
    return route


def _narrow(route: Route) -> None:
    """Search in single precision where that pays: dense matrices that are not small, B well enough conditioned."""
    pencil = route.pencil
    if not pencil.dense or pencil.n < NARROW or pencil.dtype.char not in "dD":
        return
    route.narrow = narrowed(pencil)
    if route.narrow is not None:
        # right to the digits that error bounds need
        pencil.solver = route.narrow.solver
        route.say("B was factorised and the search made in single precision; double precision polished the result.")


def _form(route: Route, k: int) -> None:
    """Form U⁻ᴴAU⁻¹ when the products are expected to be so many that the half solves cost more than that.

    Forming it takes as long as the half solves of 100 (n = 256) to 210 (n = 4096) products.
    """
    pencil = route.pencil
    expected = _expected(pencil.n, k)
    if isinstance(pencil.solver, DenseFactor) and pencil.A.kind == "dense" and expected > 220:
        pencil.explicit = pencil.solver.transformed(np.array(pencil.A.matrix, order="F"))
        route.say(f"Some {expected:.0f} products were expected, so the transformed matrix U⁻ᴴAU⁻¹ was formed.")


def _expected(n: int, k: int) -> float:
    """How many products a search for k pairs takes on average of the paper's pairs."""
    return float((18 + 5 * k) * (n / 512) ** 0.4)


def _attach(route: Route, inner: Any, k: int) -> None:
    """Give the pencil its solver for B: the factor of a matrix, conjugate gradients to the end for an operator.

    The columns of a small operator B are computed and factorised where that takes fewer products than the solves would.
    """
    pencil = route.pencil
    if inner is None and pencil.B is not None and pencil.B.matrix is None:
        if pencil.n <= DENSE_LIMIT and not _solves_quickly(pencil, math.ceil(pencil.n / _expected(pencil.n, k))):
            pencil.counts.setup.B_products += pencil.n
            pencil.B = as_dense(pencil.B)
            route.say(f"Solves with the operator B were expected to take more than {pencil.n} products: B was formed.")
        else:
            inner = ConjugateGradient(max_steps=max(5000, 10 * pencil.n), tol=1e-13)
    inner = attach(pencil, inner)
    if inner is None:
        route.say("B is the identity, so no work was done for it.")
    else:
        route.say(f"Systems with B were solved by {inner.describe(pencil)}.")


def _solves_quickly(pencil: Pencil, steps: int) -> bool:
    """Do so many steps of conjugate gradients solve a system with B?"""
    b = np.random.default_rng(0).standard_normal(pencil.n).astype(pencil.dtype)
    _, Bw = ConjugateGradient(max_steps=steps, tol=1e-13).prepare(pencil).solve(b, None, None)
    return bool(np.linalg.norm(b - Bw) <= 1e3 * pencil.eps * np.linalg.norm(b))
