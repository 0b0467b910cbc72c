"""The set-ups of a distributed solve: conjugate gradients, MUMPS and GAMG in place of what one process would use."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import NotPositiveDefinite
from ..linalg.lanczos import PlainLanczos, largest_eigenvalue
from ..linalg.reductions import largest, norm
from ..methods.lobpcg.iteration import usual_block
from ..methods.lobpcg.locally_optimal import LocallyOptimal
from ..methods.setup import Setup
from ..planning.plan import Candidate, Engine, Map
from ..preconditioners import MultiGrid
from ..preparation import matrix_free
from ..preparation.prepare import prepare
from ..preparation.shift_invert import shift_invert
from ..preparation.solver import tell_solver
from ..preparation.swap import ETA_GROWTH
from ..preparation.workspace import Workspace
from ..problem.operator import Operator, plus
from ..problem.start import random_vector
from ..problem.target import Target
from ..solvers import ConjugateGradient, InnerSolver
from ..system.processes import everywhere
from ..transforms import standard
from .factor import COMPLEX_BUILD
from .solver import EXACT_TOL, DistributedSolve, factored

# The smallest of a pair up to this n are found by factorising A, and those of meshes in the plane up to the second one.
# Of a larger pair they are sought by LOBPCG with multigrid, which up to the third n is given up after these steps, as a
# factorisation is faster then.
FACTORISED_N, PLANE_N, TRIED_N, TRIED_STEPS = 2_000, 200_000, 20_000, 50
# The graph of A is that of a mesh in the plane if the number of rows within a graph distance grows by at most this
# factor when the distance doubles from this radius, for each of this number of random rows. It grows about fourfold in
# the plane and eightfold in space, but less near a boundary.
PLANE_RADIUS, PLANE_GROWTH, PLANE_ROWS = 4, 4.1, 6
# Lanczos steps that may show that a mass matrix is positive definite, and the clearance that they must show.
DEFINITE_STEPS, CLEARANCE = 60, 1e-3


def setups(workspace: Workspace) -> Iterator[tuple[Candidate, Setup]]:
    """The set-ups of the candidates, in the order in which they are tried."""
    problem, pencil = workspace.problem, workspace.pencil
    method = problem.method
    if method is not None and not method.subspace:
        yield Candidate(Engine.DEFLATION), _deflation(workspace)
    elif problem.sigma is not None:
        yield Candidate(Engine.SHIFT_INVERT), _nearest(workspace, problem.sigma / pencil.unit)
    elif problem.which == "smallest":
        yield from _smallest_first(workspace)
    elif isinstance(method, LocallyOptimal):
        yield Candidate(Engine.LOBPCG), matrix_free.largest(workspace, pencil)
    else:
        target = Target.of(problem.which)
        yield Candidate(Engine.KRYLOV, target=target), _largest(workspace, target)


def _smallest_first(workspace: Workspace) -> Iterator[tuple[Candidate, Setup]]:
    """LOBPCG where it is asked for, or n is large; otherwise, and where it fails, shift-invert below the spectrum."""
    problem, pencil, opening = workspace.problem, workspace.pencil, len(workspace.decisions)
    asked = isinstance(problem.method, LocallyOptimal) or problem.preconditioner is not None
    factorised = pencil.known and not asked and not (COMPLEX_BUILD and problem.method is None)
    if not pencil.known or asked or (problem.method is None and _is_large(pencil.A)):
        workspace.max_products = _most_products(workspace) if factorised else math.inf
        yield Candidate(Engine.LOBPCG, Map.NEGATED), _smallest(workspace)
        workspace.max_products = math.inf
        del workspace.decisions[opening:]
    if factorised:
        yield Candidate(Engine.SHIFT_INVERT), _nearest(workspace, _below(workspace))


def _is_large(A: Operator) -> bool:
    """Does a factorisation of A take longer than LOBPCG?"""
    return COMPLEX_BUILD or (A.n > FACTORISED_N and not is_plane(A))


def is_plane(A: Operator) -> bool:
    """Does the number of rows within a distance of one of them grow as on a mesh in the plane?"""
    return A.n <= PLANE_N and all(_growth(A, np.random.default_rng(seed)) <= PLANE_GROWTH for seed in range(PLANE_ROWS))


def _growth(A: Operator, rng: np.random.Generator) -> float:
    """The growth of the number of rows around a random one as the radius doubles; infinite if most rows are reached."""
    weights = random_vector(A, rng)
    ball, counts = np.abs(weights) == largest(np.abs(weights)), []
    for _ in range(2):
        for _ in range(PLANE_RADIUS):
            # of random weights, none cancel each other
            ball = ball | (A.times(np.where(ball, weights, 0.0)) != 0)
        counts.append(norm(ball.astype(float)) ** 2)
    return counts[1] / counts[0] if counts[1] < A.n / 2 else math.inf


def _most_products(workspace: Workspace) -> float:
    """The products that LOBPCG may make where a factorisation follows."""
    return TRIED_STEPS * usual_block(workspace.problem.k) if workspace.pencil.n <= TRIED_N else math.inf


def _deflation(workspace: Workspace) -> Setup:
    """One pair after the other by a method of first order, or by Lanczos."""
    problem = workspace.problem
    if problem.method.inner is None:
        workspace.problem = replace(problem, method=replace(problem.method, inner=DistributedSolve()))
    setup = prepare(Candidate(Engine.DEFLATION), workspace)
    workspace.problem = problem
    assert setup is not None
    return setup


def _largest(workspace: Workspace, target: Target) -> Setup:
    """Thick-restart Lanczos, with solves by conjugate gradients or MUMPS."""
    problem, products = workspace.problem, workspace.products()
    inner: InnerSolver | None = None if problem.method is None else problem.method.inner
    if products.B is not None and inner is None:
        hint = problem.preconditioner
        inner = DistributedSolve() if hint is None else ConjugateGradient(None, hint, tol=EXACT_TOL)
    solver = None if products.B is None or inner is None else inner.prepare(products.setup)
    tell_solver(workspace, products, None if products.B is None else inner, solver)
    products = products.solving(solver)
    return workspace.krylov(products, target, transform=standard(products))


def _nearest(workspace: Workspace, sigma: float) -> Setup:
    """Shift-invert Lanczos with A − σB factorised by MUMPS."""
    if not workspace.pencil.known:
        raise ValueError("sigma needs the entries of A and B, as A − σB is factorised; give assembled matrices")
    check_B(workspace)
    return shift_invert(workspace, sigma)


def _below(workspace: Workspace) -> float:
    """A σ just below all eigenvalues, by the inertia of A − σB."""
    check_B(workspace)
    pencil = workspace.pencil
    size = (pencil.A.size or 1.0) / (1.0 if pencil.B is None else pencil.B.size)
    eta = pencil.eps**0.5 * size
    for growth in ETA_GROWTH:
        factor = _factor_of(plus(pencil.A, eta, pencil.B))
        if factor is not None and factor.negative == 0:
            workspace.shifted[-float(eta)] = factor
            return -float(eta)
        eta *= growth * growth
    raise NotPositiveDefinite(f"no multiple of B up to {eta * abs(pencil.unit):.3g} makes A + ηB positive definite")


def _factor_of(K: Operator) -> Any:
    """K factorised; None where it is singular."""
    assert K.entries is not None
    try:
        return K.entries.factorised()
    except ZeroDivisionError:
        return None


def _smallest(workspace: Workspace) -> Setup:
    """LOBPCG, preconditioned by GAMG unless another preconditioner is given."""
    problem, pencil = workspace.problem, workspace.pencil
    given = getattr(problem.method, "preconditioner", None) or problem.preconditioner
    if given is None and pencil.A.known:
        workspace.problem = replace(problem, preconditioner=MultiGrid())
    try:
        setup = matrix_free.smallest(workspace, must=True)
    finally:
        workspace.problem = problem
    assert setup is not None
    return setup


def check_B(workspace: Workspace) -> None:
    """Refuse a B that is not positive definite: by Lanczos steps if they suffice, otherwise by its inertia."""
    B = workspace.pencil.B
    if workspace.semidefinite is not None or B is None:
        workspace.semidefinite = False
        return
    if not everywhere(bool((B.diagonal().real > 0).all())):
        raise NotPositiveDefinite(
            "B is not positive definite: it has diagonal entries that are not positive; on several processes B must "
            "be positive definite"
        )
    if not _surely_definite(B):
        factored(B)
    workspace.semidefinite = False


def _surely_definite(B: Operator) -> bool:
    """Do Lanczos steps with D B D, which has a unit diagonal, show that it is clear of singular?"""
    assert B.entries is not None
    d = 1 / np.sqrt(B.diagonal().real)
    c = B.entries.congruent(d).norm
    x = random_vector(B, np.random.default_rng(0))
    process = PlainLanczos(lambda v: c * v - d * B.times(d * v), x)
    return largest_eigenvalue(process, DEFINITE_STEPS) < (1 - CLEARANCE) * c
