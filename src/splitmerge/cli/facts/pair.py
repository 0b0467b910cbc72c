"""Properties of a pair computed by a few factorisations and Lanczos steps, and the plan of `solve` for it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...arguments import stopping_rule
from ...errors import NotPositiveDefinite
from ...linalg.lanczos import LanczosProcess
from ...methods.survey import MIN_SURVEY_STEPS, survey
from ...planning.choose import choose
from ...planning.costs import fits
from ...planning.plan import Plan
from ...preparation.solver import attached
from ...problem.adapt import adapt
from ...problem.factorise import counting_factor, factorise
from ...problem.operator import Operator, plus
from ...problem.pencil import Pencil
from ...problem.problem import Problem
from ...solution.explain import worded_plan
from ...sparse_direct import Prediction

# Predicted seconds of the most expensive factorisation that `info` computes.
MAX_FACTORISATION_SECONDS = 10.0
# Rows up to which the condition number is computed from all eigenvalues.
DENSE_EIGENVALUES_MAX_ROWS = 500
# Lanczos steps of the estimate of the condition number of larger matrices.
CONDITION_LANCZOS_STEPS = 40
# κ(B)/κ(A) from which the files may be in the wrong order; κ(K)/κ(M) is mostly 7 to 1,000 for finite elements.
SWAPPED_CONDITION_RATIO = 5.0


@dataclass(frozen=True)
class Definite:
    """The definiteness of a matrix: `word` names it, `how` justifies it; `factor` if it is positive definite.

    `negative` and `zero` are the numbers of negative and of zero eigenvalues, None if unknown.
    """

    word: str
    how: str
    negative: int | None = None
    zero: int | None = None
    factor: Any = field(default=None, repr=False)

    @property
    def definite(self) -> bool:
        """Is the matrix known to be positive definite?"""
        return self.factor is not None


@dataclass(frozen=True)
class Costs:
    """The predicted cost of a factorisation: seconds on one core, bytes, and the backend."""

    seconds: float
    bytes: float
    backend: str
    affordable: bool


def costs(prediction: Prediction | None) -> Costs | None:
    """The predicted cost of factorising a large matrix, and whether `info` makes the factorisation."""
    if prediction is None:
        return None
    affordable = fits(prediction) and prediction.seconds <= MAX_FACTORISATION_SECONDS
    return Costs(prediction.seconds, prediction.bytes, prediction.backend, affordable)


def definiteness(op: Operator, cost: Costs | None) -> Definite:
    """Determine the definiteness by a Cholesky factorisation; if it fails, by inertia counts."""
    if cost is not None and not cost.affordable:
        return Definite("unknown", "the factorisation was skipped because of its predicted cost")
    try:
        return Definite("positive definite", "the Cholesky factorisation exists", 0, 0, factorise(op))
    except NotPositiveDefinite:
        return _counted(op)


def _counted(op: Operator) -> Definite:
    """The definiteness of a matrix without a Cholesky factorisation, by two inertia counts."""
    tiny = 10 * op.n * float(np.finfo(op.dtype).eps) * (op.size or 1.0)
    negative, below = (_count(plus(op, shift, None)) for shift in (tiny, -tiny))
    if negative is None or below is None:
        return Definite("not positive definite", "the Cholesky factorisation breaks down")
    word = "indefinite" if negative else "singular" if below else "nearly singular"
    zero = below - negative
    # the margin in the user's units
    margin = tiny / abs(op.scale)
    return Definite(word, f"{negative} negative eigenvalues and {zero} within {margin:.1g} of zero", negative, zero)


def _count(op: Operator) -> int | None:
    """The number of negative eigenvalues; None if the shifted matrix is numerically singular."""
    try:
        return counting_factor(op).negative
    except ZeroDivisionError:
        return None


def condition(op: Operator, factor: Any, name: str = "B") -> tuple[float, str]:
    """The condition number of a positive definite matrix, and how it was computed."""
    if op.n <= DENSE_EIGENVALUES_MAX_ROWS:
        matrix = op.matrix if op.kind == "dense" else op.matrix.toarray()
        values = np.linalg.eigvalsh(matrix)
        number = float(values[-1] / values[0]) if values[0] > 0 else math.inf
        return number, "from all its eigenvalues"
    largest = _top(op, op.times)
    inverse = _top(op, lambda v: factor.solve(v, None, None)[0])
    return largest * inverse, f"a lower estimate by {CONDITION_LANCZOS_STEPS} Lanczos steps with {name} and {name}⁻¹"


def wrong_order(A: Any, B: Any, condition_A: float, condition_B: float) -> str:
    """Why two positive definite matrices look like a mass as A and a stiffness as B; empty if they do not.

    Elements of width h give a stiffness with a condition number of order h⁻² and a mass with one that h hardly changes.
    """
    if is_diagonal(A) and not is_diagonal(B):
        return "A is diagonal, as a lumped mass is, and B is not"
    if math.inf > condition_B >= SWAPPED_CONDITION_RATIO * condition_A:
        return f"The condition number of B, {condition_B:.1e}, is {condition_B / condition_A:.0f} times that of A"
    return ""


def is_diagonal(M: Any) -> bool:
    """Are all entries off the diagonal zero?"""
    entries = sp.coo_array(M)
    rows, columns = entries.coords
    return not bool((entries.data[rows != columns] != 0).any())


def _top(op: Operator, times: Any) -> float:
    """The largest Ritz value after a few Lanczos steps."""
    x = np.random.default_rng(0).standard_normal(op.n).astype(op.dtype)
    process = LanczosProcess(lambda v, _: times(np.ascontiguousarray(v)), lambda y: (y, y), x, x)
    while process.steps < min(CONDITION_LANCZOS_STEPS, op.n) and not process.exhausted:
        process.extend()
    j = process.steps
    return float(process.ritz(j - 1, j - 1)[0][0])


def spectrum(A: Any, B: Any) -> tuple[float, float, str]:
    """A lower bound of the largest eigenvalue, an upper bound of the smallest, and how they were computed."""
    products = Pencil(A, B, equilibrate=True).products
    try:
        _, solver = attached(products, None)
        found = survey(products.solving(solver), np.random.default_rng(0)).bounds
    except NotPositiveDefinite:
        # B is nearly singular: positive definite before equilibration, but not after it
        return math.nan, math.nan, "B is too close to singular"
    whole = found.size < MIN_SURVEY_STEPS
    how = "Ritz values of a complete Krylov space" if whole else f"Ritz values of {found.size} Lanczos steps"
    value_of = products.pencil.value_of
    return value_of(float(found[0])), value_of(float(found[-1])), how


@dataclass(frozen=True)
class Routes:
    """The plans of `solve` for k eigenpairs at either end of the spectrum, made without any factorisation."""

    pencil: Pencil
    plans: dict[str, Plan]
    k: int

    @property
    def predictions(self) -> dict[str, Prediction | None]:
        """The predicted factorisations: the smallest pairs take one of A, the largest one of B."""
        return {"A": self.plans["smallest"].prediction, "B": self.plans["largest"].prediction}

    def told(self) -> dict[str, list[str]]:
        """The plans in words."""
        return {which: list(worded_plan(plan, self.pencil, self.k)) for which, plan in self.plans.items()}


def routes(A: Any, B: Any, k: int) -> Routes:
    """Plan for both ends of the spectrum."""
    rule, pencil = stopping_rule(None, 1e-8, None), Pencil(A, B, equilibrate=True)
    plans = {}
    for which in ("largest", "smallest"):
        problem = Problem(A, B, k, which, None, None, 1e-8, None, None, "error", certify=False, rule=rule)
        plans[which] = choose(problem, pencil).complete()
    return Routes(pencil, plans, k)


def operators(A: Any, B: Any) -> tuple[Operator, Operator | None]:
    """A and B as operators."""
    return adapt(A, "A"), None if B is None else adapt(B, "B")


def number(value: float, digits: int = 4) -> str:
    """A number with the given significant digits; "unknown" if it is not finite."""
    return f"{value:.{digits}g}" if math.isfinite(value) else "unknown"
