"""The one place that chooses: LAPACK or the iteration, which pair it runs on, and what is factorised for it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..linalg.cholesky import DenseFactor
from ..methods.krylov.accelerated import Accelerated
from ..methods.lobpcg.locally_optimal import LocallyOptimal
from ..methods.lobpcg.search import usual_block
from ..methods.mixed_precision import narrowed
from ..preconditioners import Preconditioner
from ..preparation.attach import attach
from ..preparation.matrix_free import largest_without_solves, smallest_without_solves, solver_for
from ..preparation.shifted import near, smallest
from ..preparation.trials import predicted
from ..problem.operator import as_dense
from ..problem.pencil import Pencil
from ..problem.target import Wanted
from ..solvers.conjugate_gradient import ConjugateGradient
from ..transforms.standard import domain_of
from .plan import Route

# Up to this size LAPACK is the faster one, whatever the kind of the matrices and whatever k is.
SMALL = 100
# Dense matrices: up to this size for one pair, and so much further for each more.
SMALL_DENSE, A_PAIR_MORE = 200, 20
# Beyond this share of the spectrum, LAPACK is the faster one as long as its matrices fit.
SHARE = 1 / 6
DENSE_LIMIT = 4000
# The smallest of an operator up to this size are found by forming it.
SMALL_OPERATOR = 1000
# An operator B that takes more steps of conjugate gradients a solve is not solved with. To do without solves takes so
# many times the steps of one, and as many vectors take part.
MANY, LOCAL_STEPS = 1000, 4
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
    method: Accelerated | LocallyOptimal | None,
    rng: np.random.Generator,
    *,
    iterate: bool,
    narrow: bool = False,
    hint: Preconditioner | None = None,
) -> Route:
    """The route for the k wanted pairs.

    `iterate` says that the caller asked for an iteration in some way, `narrow` that a search in single precision and
    polishing would do. `hint` is what the caller knows of an inverse: of A for the smallest, otherwise of B.
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
    elif isinstance(method, LocallyOptimal) or (hint is not None and which == "smallest" and not lapack):
        route = _without_solves(pencil, k, which, getattr(method, "preconditioner", None) or hint)
    elif which == "smallest":
        formed = not lapack and _form_A(pencil)
        route = smallest(pencil, k, inner, rng, lapack=lapack)
        if formed:
            route.say(f"The operator A was formed by {n} products: its smallest would take more than those.")
    else:
        route = Route(pencil, {"magnitude": Wanted.MAGNITUDE, "ends": Wanted.ENDS}.get(which, Wanted.LARGEST))
    untold = inner is None and hint is None and route.pencil is pencil and route.domain is None
    if narrow and not lapack and untold:
        _narrow(route)
    if route.pencil.solver is None and route.domain is None:
        route = _attach(route, inner, hint, k)
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


def _without_solves(pencil: Pencil, k: int, which: str, preconditioner: Preconditioner | None) -> Route:
    """The route of `LocallyOptimal`."""
    if which == "largest":
        return largest_without_solves(pencil, preconditioner)
    route = smallest_without_solves(pencil, k, preconditioner, predicted(pencil.A), must=True)
    assert route is not None
    return route


def _attach(route: Route, inner: Any, hint: Preconditioner | None, k: int) -> Route:
    """Give the pencil its solver for B, or go over to a route that needs none."""
    pencil = route.pencil
    if inner is None and pencil.B is not None:
        if pencil.B.matrix is not None and hint is None:
            inner = solver_for(route, k)
        else:
            inner = _solver_of_operator(route, hint, k)
            if inner is None and pencil.B.matrix is None:
                return largest_without_solves(pencil, hint)
    inner = attach(pencil, inner)
    if inner is None:
        route.say("B is the identity, so no work was done for it.")
    else:
        route.say(f"Systems with B were solved by {inner.describe(pencil)}.")
    return route


def _solver_of_operator(route: Route, hint: Preconditioner | None, k: int) -> ConjugateGradient | None:
    """The way with the fewest products: to solve by conjugate gradients, not to solve at all, or to form B (None)."""
    pencil, n = route.pencil, route.pencil.n
    inner = ConjugateGradient(None, hint, tol=1e-13)
    forming = n if n <= DENSE_LIMIT and hint is None else math.inf
    # what a step of a solve stands for, without solves and with them
    descent = LOCAL_STEPS * usual_block(k) if route.wanted is Wanted.LARGEST else math.inf
    solution = 2 * _expected(n, k)
    steps = _steps_of_a_solve(pencil, inner, min(MANY, forming / min(descent, solution)))
    if steps * solution <= min(forming, steps * descent):
        return inner
    if forming <= steps * descent:
        pencil.counts.setup.B_products += n
        assert pencil.B is not None
        pencil.B = as_dense(pencil.B)
        route.say(f"Solves with the operator B were expected to take more than {n} products: B was formed.")
    return None


def _steps_of_a_solve(pencil: Pencil, inner: ConjugateGradient, most: float) -> float:
    """How many steps of conjugate gradients solve a system with B; infinite if more than `most`.

    Where a quarter of them does not show a quarter of the digits, nearly, the rest is not tried.
    """
    b = np.random.default_rng(0).standard_normal(pencil.n).astype(pencil.dtype)
    tally = pencil.counts.setup
    for share, left in ((0.25, 10 * inner.tol**0.25), (1.0, 1e3 * pencil.eps)):
        before = tally.B_products
        _, Bw = replace(inner, max_steps=math.ceil(share * most)).prepare(pencil).solve(b, None, None)
        if not np.linalg.norm(b - Bw) <= left * np.linalg.norm(b):
            return math.inf
    return tally.B_products - before


def _form_A(pencil: Pencil) -> bool:
    """Compute the columns of a small operator A, whose smallest would take more products than those."""
    if pencil.A.matrix is not None or pencil.n > SMALL_OPERATOR:
        return False
    pencil.counts.setup.A_products += pencil.n
    pencil.A = as_dense(pencil.A)
    return True
