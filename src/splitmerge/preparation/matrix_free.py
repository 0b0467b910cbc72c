"""LOBPCG: the preconditioner, given or chosen by a trial against the predicted cost of a factorisation."""

from __future__ import annotations

from itertools import islice

import numpy as np

from ..errors import NotPositiveDefinite
from ..methods.lobpcg.iteration import Lobpcg
from ..methods.lobpcg.locally_optimal import LocallyOptimal
from ..methods.setup import Setup
from ..planning.costs import DIGITS, PREDICTED_N, factorised_seconds, fits, lobpcg_seconds
from ..planning.decision import Choice
from ..preconditioners import Preconditioner, Prepared, UserPreconditioner
from ..problem.factorise import factorise
from ..problem.operator import plus
from ..problem.pencil import Pencil
from ..problem.products import Products
from ..problem.start import random_vector
from ..problem.target import Target
from ..solvers import ConjugateGradient
from ..transforms import BInner
from .definiteness import check_B
from .trials import Trial, trials_of
from .workspace import Workspace

# LOBPCG steps that show whether A has negative eigenvalues, and those where it is known that there are some.
SIGN_STEPS, NEGATIVE_STEPS = 5, 100
# Doublings of η until A + ηB is called indefinite for every multiple of B.
MAX_DOUBLINGS = 8
NO_MULTIPLE = "no multiple of B was found that makes A + ηB positive definite; is B so?"
# Error bounds are computed by solves with B of at most this many CG steps.
BOUND_CG_STEPS = 500


def largest(workspace: Workspace, pencil: Pencil) -> Setup:
    """The largest of `pencil`, which is (A, B) or (−A, B), by a preconditioner of B."""
    B = pencil.B
    if B is not None and B.matrix is not None and B.n < PREDICTED_N:
        check_B(workspace)
        if workspace.semidefinite:
            # refuses it
            factorise(B)
    preconditioner = _given(workspace)
    P = None if preconditioner is None else preconditioner.prepare(workspace.products(pencil).setup)
    return _setup(workspace, pencil, preconditioner, P, smallest=False)


def smallest(workspace: Workspace, *, must: bool) -> Setup | None:
    """The smallest by a preconditioner of A: the given one, or the best of a trial.

    None where the predicted factorisation is expected to be faster, unless it `must` be this.
    """
    pencil, preconditioner = workspace.pencil, _given(workspace)
    if preconditioner is not None and pencil.A.size > 0:
        return _setup(workspace, pencil, preconditioner, _prepared_for_A(workspace, preconditioner))
    if pencil.A.matrix is None or pencil.A.size == 0:
        return _setup(workspace, pencil, None, None) if must else None
    best = _best_trial(workspace, must=must)
    return None if best is None else _setup(workspace, pencil, best.preconditioner, best.prepared)


def _prepared_for_A(workspace: Workspace, preconditioner: Preconditioner) -> Prepared:
    """The preconditioner of A, or of A + ηB where A is not positive definite."""
    pencil = workspace.pencil
    try:
        return preconditioner.prepare(Products(pencil.swapped(pencil.A, 0.0, 1)))
    except NotPositiveDefinite as error:
        if isinstance(preconditioner, UserPreconditioner):
            raise
        if not pencil.known:
            raise _without_entries(repr(preconditioner)) from error
    eta = _definite_shift(workspace, [])
    for _ in range(MAX_DOUBLINGS):
        try:
            return preconditioner.prepare(Products(pencil.swapped(plus(pencil.A, eta, pencil.B), -eta, 1)))
        except NotPositiveDefinite:
            eta *= 2
    raise NotPositiveDefinite(NO_MULTIPLE)


def _without_entries(preconditioner: str) -> NotPositiveDefinite:
    """The exception for an indefinite A beside an operator."""
    return NotPositiveDefinite(
        f"A is not positive definite, and {preconditioner} of A + ηB needs the entries of A and B; give matrices, or a "
        f"preconditioner of your own"
    )


def _given(workspace: Workspace) -> Preconditioner | None:
    """The preconditioner that the user has given, with the method or by itself."""
    problem = workspace.problem
    own: Preconditioner | None = getattr(problem.method, "preconditioner", None) or problem.preconditioner
    return own


def _best_trial(workspace: Workspace, *, must: bool) -> Trial | None:
    """The fastest preconditioner of A (of A + ηB if A is indefinite); None where factorising A is faster."""
    pencil, k, prediction = workspace.pencil, workspace.problem.k, workspace.plan.prediction
    needed = must or (prediction is not None and not fits(prediction))
    trials = _trials_of_A(workspace, 0.0)
    eta = _definite_shift(workspace, trials)
    if eta > 0 and needed:
        if not pencil.known:
            raise _without_entries("a preconditioner")
        trials = _trials_of_A(workspace, eta)
    elif eta > 0:
        return None
    if not trials:
        raise NotPositiveDefinite(NO_MULTIPLE)
    costs = [lobpcg_seconds(pencil, k, trial.steps(DIGITS), trial.work) for trial in trials]
    best = int(np.argmin(costs))
    figures = {"trials": tuple(map(Trial.figures, trials)), "seconds": costs[best], "prediction": prediction}
    if prediction is not None:
        factorised = factorised_seconds(prediction, k)
        if not needed and factorised <= costs[best]:
            return None
        figures |= {"factorised": factorised, "fits": fits(prediction)}
    workspace.decide(Choice.TRIAL, **figures)
    return trials[best]


def _trials_of_A(workspace: Workspace, eta: float) -> list[Trial]:
    """Trials of preconditioners of A + ηB."""
    pencil = workspace.pencil
    swapped = Products(pencil.swapped(plus(pencil.A, eta, pencil.B), -eta, 1))
    trials = trials_of(swapped)
    workspace.counts.setup.add(swapped.counts.swapped())
    return trials


def _definite_shift(workspace: Workspace, trials: list[Trial]) -> float:
    """0 where A seems to be positive semidefinite, otherwise an η that makes A + ηB so, as far as a few steps show."""
    best = min(trials, key=lambda trial: trial.rate, default=None)
    pencil, rng = workspace.pencil.negated(), np.random.default_rng(0)
    products = workspace.products(pencil).setup
    P: Prepared | None = None if best is None else best.prepared
    search = Lobpcg(Setup(products, Target.LARGEST, 1, rng, P=P), 1)
    search.launch(random_vector(pencil, rng)[:, None])
    for _ in islice(search.unrecorded(), SIGN_STEPS if trials else NEGATIVE_STEPS):
        if search.exhausted:
            break
    highest, tiny = float(search.values[0]), pencil.eps**0.5 * search.radius
    seen = highest > tiny or not trials
    return 2 * max(highest + float(search.errors[0]), tiny) if seen else 0.0


def _setup(
    workspace: Workspace,
    pencil: Pencil,
    preconditioner: Preconditioner | None,
    P: Prepared | None,
    *,
    smallest: bool = True,
) -> Setup:
    pencil = pencil.negated() if smallest else pencil
    solver = None
    if pencil.B is not None:
        # for the error bounds only
        solver = ConjugateGradient(BOUND_CG_STEPS, tol=1e-5).prepare(workspace.products(pencil).setup)
    products = workspace.products(pencil, solver)
    workspace.decide(Choice.MATRIX_FREE, preconditioner=None if P is None else preconditioner)
    method = workspace.problem.method
    block = method.block if isinstance(method, LocallyOptimal) else None
    return workspace.setup(
        products,
        Target.LARGEST,
        method=LocallyOptimal(preconditioner, block),
        transform=BInner(products),
        P=P,
        smooth=smallest,
    )
