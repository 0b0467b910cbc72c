"""Routes that factorise nothing: to the smallest by a preconditioner of A, to the largest by one of B."""

from __future__ import annotations

import math

import numpy as np

from ..errors import NotPositiveDefinite
from ..methods.lobpcg.search import LocalSearch, usual_block
from ..planning.plan import Local, Route
from ..preconditioners import Diagonal, Exact, IncompleteCholesky, MultiGrid, Preconditioner, Prepared
from ..problem.operator import Operator, plus
from ..problem.pencil import Pencil
from ..problem.start import random_vector
from ..solvers.conjugate_gradient import ConjugateGradient
from ..sparse_direct.prediction import Prediction
from ..transforms.standard import Paired
from .trials import DENSE, IN_BLOCK, IN_VECTOR, Trial, attempt, fits, predicted

# A search without solves takes so many times the steps of conjugate gradients; one with them takes so many solves.
STEPS_MORE, SOLVES, SOLVES_A_PAIR = 2.5, 30, 6

# What takes less than so many seconds with a factorisation is done with it.
QUICK = 2.5

# A trial is made where a factorisation takes clearly more than a cycle of so many products a digit would.
CLEARLY, CYCLE = 1.5, 9

# Digits that are sought, and those of a solve that has to be exact.
DIGITS, EXACT = 8, 13

# A preconditioner that shrinks the error by less than this a step is worth another trial.
POOR = 0.7

# So many steps show whether A has negative values, and so many where it is known that there are some.
LOOK, LONG_LOOK = 5, 100

# Error bounds are made by solves with B of at most so many steps.
BOUND_STEPS = 500


def smallest_without_solves(
    pencil: Pencil, k: int, preconditioner: Preconditioner | None, prediction: Prediction | None, *, must: bool
) -> Route | None:
    """The route to the smallest by a preconditioner of A: the given one, or the best of a trial.

    None where a factorisation, which would cost what the `prediction` says, is expected to be faster, unless it `must`
    be this one.
    """
    if preconditioner is not None:
        return _local(pencil, preconditioner, preconditioner.prepare(pencil.swapped(pencil.A, 0.0, 1)))
    if pencil.A.matrix is None:
        return _local(pencil, None, None) if must else None
    if _quick(prediction, k) and not must:
        return None
    needed = must or (prediction is not None and not fits(prediction))
    if prediction is not None and not needed:
        # the best that can be hoped for: a digit a step, for so much work as a cycle of multigrid is
        hoped = _seconds(pencil, k, DIGITS, CYCLE * _entries(pencil.A))
        if _with_solves(prediction, k) <= CLEARLY * hoped:
            return None
    trials = _trials_of_A(pencil, 0.0)
    eta = _negative(pencil, trials)
    if eta > 0 and needed:
        # a multiple of B makes it definite
        trials = _trials_of_A(pencil, eta)
    elif eta > 0:
        return None
    if not trials:
        raise NotPositiveDefinite("no multiple of B was found that makes A + ηB positive definite; is B so?")
    costs = [_seconds(pencil, k, trial.steps(DIGITS), trial.work) for trial in trials]
    best = int(np.argmin(costs))
    told = f"A trial: {'; '.join(map(str, trials))}."
    if prediction is not None:
        expected = _with_solves(prediction, k)
        told += f" {_compared(prediction, expected)}; to iterate {costs[best]:.3g} s."
        if not needed and expected <= costs[best]:
            return None
        if not fits(prediction):
            told += " That much memory is not free."
    route = _local(pencil, trials[best].preconditioner, trials[best].prepared)
    route.lines.insert(0, told)
    return route


def _with_solves(prediction: Prediction, k: int) -> float:
    """Seconds of a factorisation and of the solves that a search for k pairs takes."""
    return prediction.seconds + (SOLVES + SOLVES_A_PAIR * k) * prediction.solve_seconds


def _quick(prediction: Prediction | None, k: int) -> bool:
    """Is the factorisation to be made without a trial of anything else?"""
    return prediction is None or (_with_solves(prediction, k) < QUICK and fits(prediction))


def _trials_of_A(pencil: Pencil, eta: float) -> list[Trial]:
    """Trials of preconditioners of A + ηB."""
    swapped = pencil.swapped(plus(pencil.A, eta, pencil.B), -eta, 1)
    trials = _trials(swapped)
    pencil.counts.setup.add(swapped.counts.swapped())
    return trials


def _trials(pencil: Pencil) -> list[Trial]:
    """Preconditioners of the pencil's B that were tried; none if B proved not to be positive definite."""
    trials: list[Trial] = []
    assert pencil.B is not None
    candidates = (MultiGrid(), IncompleteCholesky()) if pencil.B.kind == "sparse" else (Exact(),)
    for preconditioner in (Diagonal(), *candidates):
        if trials and min(trial.rate for trial in trials) < POOR:
            break
        try:
            trial = attempt(pencil, preconditioner)
        except NotPositiveDefinite:
            trial = None
        if trial is None:
            return []
        trials.append(trial)
    return trials


def _negative(pencil: Pencil, trials: list[Trial]) -> float:
    """0 where A seems to be positive semidefinite, otherwise an η that makes A + ηB so; as far as a few steps show."""
    best = min(trials, key=lambda trial: trial.rate, default=None)
    negated, rng = pencil.negated(), np.random.default_rng(0)
    search = LocalSearch(negated, 1, None if best is None else best.prepared, rng, block=1)
    with negated.counting(negated.counts.setup):
        search.start(random_vector(negated, rng)[:, None])
        while search.steps < (LOOK if trials else LONG_LOOK) and not search.exhausted:
            search.advance()
    highest, tiny = float(search.values[0]), pencil.eps**0.5 * search.radius
    seen = highest > tiny or not trials
    return 2 * max(highest + float(search.errors[0]), tiny) if seen else 0.0


def _seconds(pencil: Pencil, k: int, steps: float, work: float) -> float:
    """What a search without solves is expected to take, by the steps and the work of conjugate gradients."""
    m = usual_block(k)
    step = m * (work + _entries(pencil.A) + _entries(pencil.B)) * IN_BLOCK + 20 * pencil.n * m * m * DENSE
    return STEPS_MORE * steps * step


def _entries(M: Operator | None) -> float:
    """How many multiplications a product with M takes, as far as that is known."""
    if M is None or M.matrix is None:
        return 0.0
    return float(M.matrix.nnz if M.kind == "sparse" else M.n**2)


def _compared(prediction: Prediction, seconds: float) -> str:
    return (
        f"A factorisation by {prediction.backend} was predicted to take {prediction.bytes / 2**30:.2g} GiB and, "
        f"with its solves, {seconds:.3g} s"
    )


def largest_without_solves(pencil: Pencil, preconditioner: Preconditioner | None) -> Route:
    """The route to the largest by a preconditioner of B."""
    P = None if preconditioner is None else preconditioner.prepare(pencil)
    return _local(pencil, preconditioner, P, smallest=False)


def _local(
    pencil: Pencil, preconditioner: Preconditioner | None, P: Prepared | None, *, smallest: bool = True
) -> Route:
    pencil = pencil.negated() if smallest else pencil
    if pencil.B is not None:
        # for the error bounds only
        pencil.solver = ConjugateGradient(BOUND_STEPS, tol=1e-5).prepare(pencil)
    route = Route(pencil, domain=Paired(pencil), local=Local(preconditioner, P, itself=smallest))
    how = "not preconditioned" if P is None else f"preconditioned by {preconditioner!r}"
    route.say(f"Nothing was factorised: products with A and B served, and gradients that were {how}.")
    return route


def solver_for(route: Route, k: int) -> ConjugateGradient | None:
    """Conjugate gradients to the last digit for a sparse B, where they are expected to beat its factorisation."""
    pencil = route.pencil
    assert pencil.B is not None
    prediction = route.prediction = predicted(pencil.B)
    if prediction is None or _quick(prediction, k):
        return None
    solves, factorised = SOLVES + SOLVES_A_PAIR * k, _with_solves(prediction, k)
    best, least = None, math.inf
    for trial in _trials(pencil):
        step = (trial.work + pencil.B.matrix.nnz + 10 * pencil.n) * IN_VECTOR
        seconds = solves * trial.steps(EXACT) * step
        if seconds < least:
            best, least = trial, seconds
    if best is None or (fits(prediction) and factorised <= least):
        return None
    route.say(f"{_compared(prediction, factorised)}; conjugate gradients {least:.3g} s.")
    return ConjugateGradient(None, best.preconditioner, tol=10.0**-EXACT)
