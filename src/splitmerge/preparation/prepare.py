"""Set-up: the only stage that factorises. It takes the first candidate of the plan that holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..linalg.cholesky import DenseFactor
from ..methods.direct import Direct
from ..methods.krylov.provisional import Provisional
from ..methods.setup import Setup
from ..methods.survey import survey
from ..planning.costs import (
    PREDICTED_N,
    check_fits,
    expected_products,
    factorised_seconds,
    step_seconds,
    verified_seconds,
)
from ..planning.decision import Choice
from ..planning.plan import Candidate, Engine, Map
from ..problem.operator import plus
from ..problem.products import Products
from ..problem.target import Target
from ..run.iteration import Iteration
from ..sparse_direct.cholesky import SparseFactor
from ..transforms import inverse_of, standard
from ..typing import Array
from . import matrix_free
from .definiteness import check_B
from .shift_invert import shift_invert
from .single_precision import mixed_precision, refinement
from .solver import attached, solver_for, tell_solver
from .swap import swapped, swapped_below
from .workspace import Workspace

# Form U⁻ᴴAU⁻¹ for more expected products than this: forming it takes as long as their half solves.
EXPLICIT_PRODUCTS = 220


def setups(workspace: Workspace) -> Iterator[tuple[Candidate, Setup]]:
    """The set-up of each candidate that holds, in the order of the plan, made when it is asked for."""
    plan = workspace.plan
    if plan.forms_A or plan.forms_B:
        workspace.form(A=plan.forms_A, B=plan.forms_B)
    opening = len(workspace.decisions)
    for candidate in _candidates(workspace):
        del workspace.decisions[opening:]
        before = workspace.counts.A_products
        setup = prepare(candidate, workspace)
        if setup is not None:
            _mention_unused(workspace, setup)
            last = candidate is workspace.plan.candidates[-1] and workspace.plan.otherwise is None
            yield candidate, setup if last else setup._replace(last=False)
            if candidate.provisional:
                del workspace.decisions[opening:]
                made = workspace.counts.A_products - before
                workspace.decide(Choice.GIVEN_UP, products=made, **_prices(candidate, workspace))
                opening = len(workspace.decisions)


def _candidates(workspace: Workspace) -> Iterator[Candidate]:
    """The candidates of the plan, and of those that follow it, which are made when they are needed."""
    yield from workspace.plan.candidates
    while workspace.plan.otherwise is not None:
        workspace.plan = workspace.plan.otherwise()
        yield from workspace.plan.candidates


def _prices(candidate: Candidate, workspace: Workspace) -> dict[str, Any]:
    """The products that a search may make, and the factorisation whose price they are a fraction of."""
    prediction, pencil, k = workspace.plan.prediction, workspace.pencil, workspace.problem.k
    assert prediction is not None
    return {
        "limit": candidate.max_products,
        "seconds": candidate.max_products * step_seconds(pencil, k),
        "backend": prediction.backend,
        "factorised": verified_seconds(prediction, pencil.n, k),
    }


def _mention_unused(workspace: Workspace, setup: Setup) -> None:
    """Record that the user's preconditioner has nothing to do: beside LAPACK, or for B = I."""
    given = workspace.problem.preconditioner
    if given is not None and setup.P is None and getattr(setup.products.solver, "P", None) is None:
        workspace.decide(Choice.UNUSED_PRECONDITIONER, preconditioner=repr(given))


def bind(setup: Setup) -> Iteration:
    """The iteration of a set-up."""
    if setup.provisional:
        return Provisional(setup)
    return Direct(setup) if setup.method is None else setup.method.bind(setup)


def prepare(candidate: Candidate, workspace: Workspace) -> Setup | None:
    """Factorise and measure what the candidate needs; None if it does not hold."""
    engine = candidate.engine
    workspace.max_products, workspace.provisional = candidate.max_products, candidate.provisional
    if engine is Engine.LAPACK and not workspace.pencil.dense:
        workspace.form(A=True, B=True)
    if engine is Engine.DEFLATION:
        return _deflation(workspace)
    if engine is Engine.SHIFT_INVERT:
        _check_shift(workspace, candidate)
        return shift_invert(workspace, candidate.sigma)
    if engine is Engine.LOBPCG:
        return _matrix_free(candidate, workspace)
    if engine is Engine.MIXED_PRECISION:
        return mixed_precision(workspace, candidate.target)
    if engine is Engine.REFINEMENT:
        return refinement(workspace, candidate.map)
    if candidate.map in (Map.SWAPPED, Map.SWAPPED_BELOW):
        return _swapped(candidate, workspace)
    return _standard(candidate, workspace)


def _matrix_free(candidate: Candidate, workspace: Workspace) -> Setup | None:
    """LOBPCG, which needs a definite B."""
    if candidate.map is Map.SAME:
        return matrix_free.largest(workspace, workspace.pencil)
    if candidate.trial:
        check_B(workspace)
        if workspace.semidefinite:
            return None
    return matrix_free.smallest(workspace, must=not candidate.trial)


def _check_shift(workspace: Workspace, candidate: Candidate) -> None:
    """Refuse an indefinite B, and an A − σB whose factors are predicted not to fit; once per solve."""
    check_B(workspace)
    pencil = workspace.pencil
    if not workspace.checked_shift and pencil.n >= PREDICTED_N:
        check_fits(plus(pencil.A, -candidate.sigma, pencil.B), "A − σB")
    workspace.checked_shift = True


def _swapped(candidate: Candidate, workspace: Workspace) -> Setup | None:
    """LAPACK or thick-restart Lanczos on (B, ±(A − σB))."""
    smallest, lapack = workspace.problem.sigma is None, candidate.engine is Engine.LAPACK
    check_B(workspace)
    if candidate.map is Map.SWAPPED_BELOW:
        products: Products | None = swapped_below(workspace)
    elif smallest:
        try:
            products = swapped(workspace, candidate.sigma, candidate.sign, clear=candidate.clear)
        except MemoryError:
            # the factorisation took more than predicted
            return matrix_free.smallest(workspace, must=True)
    else:
        _check_shift(workspace, candidate)
        if not (candidate.sign * _diagonal(workspace, candidate.sigma) > 0).all():
            return None
        products = swapped(workspace, candidate.sigma, candidate.sign, clear=candidate.clear)
    if products is None:
        return None
    prediction = workspace.plan.prediction
    if smallest and prediction is not None:
        seconds = factorised_seconds(prediction, workspace.problem.k)
        workspace.decide(Choice.PREDICTED, prediction=prediction, factorised=seconds)
    if smallest and workspace.formed_A and not lapack:
        workspace.decide(Choice.FORMED_A, n=workspace.pencil.n)
    return _setup(candidate, workspace, products)


def _diagonal(workspace: Workspace, sigma: float) -> Array:
    """The diagonal of A − σB."""
    pencil = workspace.pencil
    diagonal = pencil.A.diagonal().real
    return np.asarray(diagonal - sigma * (1.0 if pencil.B is None else pencil.B.diagonal().real))


def _standard(candidate: Candidate, workspace: Workspace) -> Setup | None:
    """LAPACK or thick-restart Lanczos on (±A, B), with a solver for B."""
    pencil = workspace.pencil
    if candidate.engine is Engine.LAPACK and _finite_wanted(workspace):
        check_B(workspace)
        if workspace.semidefinite:
            return None
        if workspace.problem.sigma is not None:
            _, solver = attached(workspace.products().setup, None)
            return _setup(candidate, workspace, workspace.products(solver=solver))
    if candidate.map is Map.NEGATED:
        pencil = pencil.negated()
        workspace.decide(Choice.NEGATED)
        if candidate.provisional:
            workspace.decide(Choice.UNFACTORISED, **_prices(candidate, workspace))
        if workspace.formed_A and candidate.engine is not Engine.LAPACK:
            workspace.decide(Choice.FORMED_A, n=pencil.n)
    # LAPACK has the entries of B, so it needs no preconditioner
    hint = None if candidate.engine is Engine.LAPACK else workspace.problem.preconditioner
    products = solver_for(workspace, pencil, candidate.target, hint)
    if products is None:
        return matrix_free.largest(workspace, pencil)
    return _setup(candidate, workspace, products)


def _finite_wanted(workspace: Workspace) -> bool:
    """Are eigenvalues wanted that a singular B leaves finite?"""
    return workspace.problem.sigma is not None or workspace.problem.which == "smallest"


def _setup(candidate: Candidate, workspace: Workspace, products: Products) -> Setup:
    """The set-up of LAPACK or of thick-restart Lanczos for these products."""
    n, k = products.n, workspace.problem.k
    if candidate.engine is Engine.LAPACK:
        workspace.decide(Choice.LAPACK, k=k, n=n)
        return workspace.setup(products, candidate.target)
    expected = expected_products(n, k)
    if isinstance(products.solver, DenseFactor) and products.A.kind == "dense" and expected > EXPLICIT_PRODUCTS:
        explicit = products.solver.transformed(np.array(products.A.matrix, order="F"))
        products = products.solving(products.solver, explicit)
        workspace.decide(Choice.EXPLICIT, products=expected)
    prediction = None if candidate.map is Map.SWAPPED_BELOW else workspace.plan.prediction
    inverted = products.pencil.inverse is not None and isinstance(products.solver, SparseFactor)
    transform = inverse_of(products) if inverted else standard(products)
    return workspace.krylov(products, candidate.target, transform=transform, prediction=prediction)


def _deflation(workspace: Workspace) -> Setup:
    """Solver, survey of the spectrum and the method's own set-up, for one pair after the other."""
    method, rng = workspace.problem.method, workspace.rng
    setup_products = workspace.products().setup
    inner, solver = attached(setup_products, method.inner)
    products = workspace.products(solver=solver)
    known = survey(products.setup, rng)
    memory = method.setup(products.setup, rng)
    which = workspace.problem.which
    workspace.decide(Choice.DEFLATION, which=which, method=method)
    if workspace.plan.forms_B:
        workspace.decide(Choice.FORMED_B, n=products.n)
    tell_solver(workspace, products, inner, solver)
    if which == "smallest":
        workspace.decide(Choice.NEGATED)
    return workspace.setup(products, Target.LARGEST, method=method, survey=known, memory=memory)
