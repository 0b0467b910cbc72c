"""The solver for B: a factorisation, conjugate gradients, or the entries of an operator computed first."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..linalg.reductions import norm
from ..methods.lobpcg.iteration import usual_block
from ..planning.choose import FORMED_N
from ..planning.costs import (
    EXACT_DIGITS,
    MAX_DENSE_N,
    SOLVES,
    SOLVES_PER_PAIR,
    SPMV_SECONDS,
    expected_products,
    factorised_seconds,
    fits,
    is_quick,
)
from ..planning.decision import Choice
from ..preconditioners import Preconditioner
from ..problem.factorise import factorise
from ..problem.pencil import Pencil
from ..problem.products import BSolver, Products
from ..problem.start import random_vector
from ..problem.target import Target
from ..solvers import Cholesky, ConjugateGradient, InnerSolver
from ..sparse_direct.cholesky import SparseFactor
from .trials import trials_of
from .workspace import Workspace

# Matrix-free B: avoid B-solves if one CG solve needs more steps than this.
MAX_CG_STEPS = 1000
# LOBPCG is assumed to take this many steps per CG step, on usual_block(k) vectors.
LOBPCG_STEPS_PER_CG_STEP = 4
# Relative residual of a solve with B by conjugate gradients that a Krylov method takes for exact.
EXACT_CG_TOL = 1e-13
# Steps of conjugate gradients for an operator B when nothing else is known.
OPERATOR_CG_STEPS = 500


def attached(products: Products, inner: InnerSolver | None) -> tuple[InnerSolver | None, BSolver | None]:
    """The solver for B, `inner` or by default a factorisation for a matrix and conjugate gradients for an operator."""
    B = products.B
    if B is None:
        return None, None
    if inner is None:
        inner = Cholesky() if B.matrix is not None else ConjugateGradient(max_steps=OPERATOR_CG_STEPS)
    if B.matrix is not None and not (B.diagonal().real > 0).all():
        # cheap, and it finds a row without mass before any solver does
        factorise(B)
    return inner, inner.prepare(products)


def solver_for(workspace: Workspace, pencil: Pencil, target: Target, hint: Preconditioner | None) -> Products | None:
    """Products with the pencil and a solver for B; None where a method without solves is expected to be faster.

    With the preconditioner `hint` B is not factorised unless it is small, and for a method of the user's not avoided
    either.
    """
    problem = workspace.problem
    inner = None if problem.method is None else problem.method.inner
    B = pencil.B
    if inner is None and B is not None:
        if B.matrix is not None and hint is None:
            inner = _cheaper_than_factorising(workspace, pencil)
        else:
            inner = _for_operator(workspace, pencil, target, hint)
            if inner is None and workspace.pencil.B is not B:
                # formed, and equilibrated then
                same = (pencil.unit > 0) == (workspace.pencil.unit > 0)
                pencil = workspace.pencil if same else workspace.pencil.negated()
            elif inner is None and not _is_small(pencil):
                return None
    products = workspace.products(pencil)
    inner, solver = attached(products.setup, inner)
    tell_solver(workspace, products, inner, solver)
    return products.solving(solver)


def tell_solver(workspace: Workspace, products: Products, inner: InnerSolver | None, solver: BSolver | None) -> None:
    """Record how systems with B are solved."""
    if inner is None:
        workspace.decide(Choice.IDENTITY)
    else:
        backend = solver.factors.name if isinstance(solver, SparseFactor) else None
        workspace.decide(Choice.SOLVER, solver=inner.describe(products), backend=backend)


def _cheaper_than_factorising(workspace: Workspace, pencil: Pencil) -> ConjugateGradient | None:
    """Conjugate gradients to the last digit for a sparse B, where they are expected to beat its factorisation."""
    assert pencil.B is not None
    prediction, k = workspace.plan.prediction, workspace.problem.k
    if prediction is None or is_quick(prediction, k):
        return None
    solves, factorised = SOLVES + SOLVES_PER_PAIR * k, factorised_seconds(prediction, k)
    best, least = None, math.inf
    for trial in trials_of(workspace.products(pencil).setup):
        step = (trial.work + pencil.B.matrix.nnz + 10 * pencil.n) * SPMV_SECONDS
        seconds = solves * trial.steps(EXACT_DIGITS) * step
        if seconds < least:
            best, least = trial, seconds
    if best is None or (fits(prediction) and factorised <= least):
        return None
    workspace.decide(Choice.CONJUGATE_GRADIENTS, prediction=prediction, factorised=factorised, seconds=least)
    return ConjugateGradient(None, best.preconditioner, tol=10.0**-EXACT_DIGITS)


def _for_operator(
    workspace: Workspace, pencil: Pencil, target: Target, hint: Preconditioner | None
) -> ConjugateGradient | None:
    """The way with the fewest products: conjugate gradients, or None.

    That means the entries of B, which are computed if they are not known, or LOBPCG without solves.
    """
    n, k = pencil.n, workspace.problem.k
    inner = ConjugateGradient(None, hint, tol=EXACT_CG_TOL)
    if hint is not None and workspace.problem.method is not None:
        return inner
    small = _is_small(pencil)
    forming = n if small or (n <= MAX_DENSE_N and hint is None) else math.inf
    # products per CG step, without solves and with them
    without = math.inf if small else _products_without_solves(n, k, target, hint)
    solving = 2 * expected_products(n, k)
    steps = _steps_of_a_solve(
        workspace.products(pencil).setup, inner, min(MAX_CG_STEPS, forming / min(without, solving))
    )
    if steps * solving <= min(forming, steps * without):
        return inner
    if forming <= steps * without and not small:
        workspace.form(B=True)
        workspace.decide(Choice.FORMED_B, n=n)
    return None


def _products_without_solves(n: int, k: int, target: Target, hint: Preconditioner | None) -> float:
    """Products of LOBPCG per step of conjugate gradients; a small operator is formed instead."""
    formed = n <= FORMED_N and hint is None
    return LOBPCG_STEPS_PER_CG_STEP * usual_block(k) if target is Target.LARGEST and not formed else math.inf


def _is_small(pencil: Pencil) -> bool:
    """Has B few rows and known entries, so that it is factorised where conjugate gradients take more products?"""
    return pencil.B is not None and pencil.B.matrix is not None and pencil.n <= FORMED_N


# a preconditioner far from B lets the iterates overflow, and ∞ is not small
@np.errstate(over="ignore", invalid="ignore")
def _steps_of_a_solve(products: Products, inner: ConjugateGradient, most: float) -> float:
    """Steps of conjugate gradients of one solve with B; infinite if more than `most`.

    Where a quarter of them does not nearly reach a quarter of the digits, the rest is not tried.
    """
    b = random_vector(products, np.random.default_rng(0))
    tally = products.tally
    for share, left in ((0.25, 10 * inner.tol**0.25), (1.0, 1e3 * products.eps)):
        before = tally.B_products
        _, Bw = replace(inner, max_steps=math.ceil(share * most)).prepare(products).solve(b, None, None)
        if not norm(b - Bw) <= left * norm(b):
            return math.inf
    return tally.B_products - before
