"""What can be told of a pair with a few factorisations and Lanczos steps, and which way `solve` would go."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..arguments import checked, stopping_rule
from ..errors import NotPositiveDefinite
from ..linalg.lanczos import LanczosProcess
from ..methods.survey import MIN_SURVEY_STEPS, survey
from ..planning.choose import choose
from ..planning.costs import fits, predicted
from ..preparation.solver import attached
from ..problem.adapt import adapt
from ..problem.factorise import factorise, shifted_factor
from ..problem.operator import Operator, plus
from ..problem.pencil import Pencil
from ..problem.problem import Problem
from ..solution.explain import worded_plan
from ..sparse_direct import Prediction

# A factorisation that is predicted to take more seconds is not made just to look.
PATIENCE = 10.0
# Up to this size the eigenvalues of a matrix are computed, beyond it they are estimated in so many steps.
SMALL, STEPS = 500, 40


@dataclass(frozen=True)
class Definite:
    """Is a matrix positive definite? `word` for yes, no or unknown; `factor` where it is."""

    word: str
    how: str
    negative: int | None = None
    zero: int | None = None
    factor: Any = field(default=None, repr=False)

    @property
    def definite(self) -> bool:
        """Yes?"""
        return self.factor is not None


@dataclass(frozen=True)
class Costs:
    """What a factorisation would take: seconds on one core, bytes, and by whom."""

    seconds: float
    bytes: float
    backend: str
    affordable: bool


def costs(op: Operator) -> Costs | None:
    """The prediction for a matrix that is large enough to think about it."""
    prediction: Prediction | None = predicted(op)
    if prediction is None:
        return None
    affordable = fits(prediction) and prediction.seconds <= PATIENCE
    return Costs(prediction.seconds, prediction.bytes, prediction.backend, affordable)


def definiteness(op: Operator, cost: Costs | None) -> Definite:
    """Factorise, and where that fails count the eigenvalues that are negative or zero."""
    if cost is not None and not cost.affordable:
        return Definite("unknown", "the factorisation that would tell was not made, for its cost")
    try:
        return Definite("positive definite", "it has a Cholesky factorisation", 0, 0, factorise(op))
    except NotPositiveDefinite:
        return _counted(op)


def _counted(op: Operator) -> Definite:
    """Of a matrix without a Cholesky factorisation."""
    tiny = 10 * op.n * float(np.finfo(op.dtype).eps) * (op.size or 1.0)
    negative, below = (_count(plus(op, shift, None)) for shift in (tiny, -tiny))
    if negative is None or below is None:
        return Definite("not positive definite", "it has no Cholesky factorisation")
    word = "indefinite" if negative else "singular" if below else "nearly singular"
    zero = below - negative
    # in the user's units
    margin = tiny / abs(op.scale)
    return Definite(word, f"{negative} negative eigenvalues and {zero} within {margin:.1g} of zero", negative, zero)


def _count(op: Operator) -> int | None:
    """How many eigenvalues are negative; None where rounding hides it."""
    try:
        return shifted_factor(op).negative
    except ZeroDivisionError:
        return None


def condition(op: Operator, factor: Any) -> tuple[float, str]:
    """The condition number of a positive definite matrix, and how it was found."""
    if op.n <= SMALL:
        matrix = op.matrix if op.kind == "dense" else op.matrix.toarray()
        values = np.linalg.eigvalsh(matrix)
        number = float(values[-1] / values[0]) if values[0] > 0 else math.inf
        return number, "from all its eigenvalues"
    largest = _top(op, op.times)
    inverse = _top(op, lambda v: factor.solve(v, None, None)[0])
    return largest * inverse, f"estimated from below by {STEPS} Lanczos steps with it and with its inverse"


def _top(op: Operator, times: Any) -> float:
    """The largest Ritz value of a short Lanczos run."""
    x = np.random.default_rng(0).standard_normal(op.n).astype(op.dtype)
    process = LanczosProcess(lambda v, _: times(np.ascontiguousarray(v)), lambda y: (y, y), x, x)
    while process.steps < min(STEPS, op.n) and not process.exhausted:
        process.extend()
    j = process.steps
    return float(process.ritz(j - 1, j - 1)[0][0])


def spectrum(A: Any, B: Any) -> tuple[float, float, str]:
    """The largest eigenvalue is at least the first number, the smallest at most the second."""
    products = Pencil(A, B, equilibrate=True).products
    try:
        _, solver = attached(products, None)
        found = survey(products.solving(solver), np.random.default_rng(0)).bounds
    except NotPositiveDefinite:
        # a B on the verge of singular, which is positive definite in other units only
        return math.nan, math.nan, "B is too close to singular"
    whole = found.size < MIN_SURVEY_STEPS
    how = "Ritz values of a whole space" if whole else f"Ritz values of {found.size} Lanczos steps"
    value_of = products.pencil.value_of
    return value_of(float(found[0])), value_of(float(found[-1])), how


def route(A: Any, B: Any, k: int, which: Any) -> list[str]:
    """What `solve` would try for k pairs, in the order of its plan; nothing is factorised for this."""
    problem = checked(Problem(A, B, k, which, None, None, 1e-8, None, None, "error", False), None)
    problem = replace(problem, rule=stopping_rule(None, 1e-8, None))
    pencil = Pencil(A, B, equilibrate=True)
    return list(worded_plan(choose(problem, pencil), pencil, k))


def operators(A: Any, B: Any) -> tuple[Operator, Operator | None]:
    """Both as the library sees them."""
    return adapt(A, "A"), None if B is None else adapt(B, "B")


def number(value: float, digits: int = 4) -> str:
    """For a reader."""
    return f"{value:.{digits}g}" if math.isfinite(value) else "unknown"
