"""Methods, inner solvers and preconditioners, each with the options that its documentation allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

import splitmerge as sm

from .families import Problem
from .matrices import Rng

MAX_FIRST_ORDER = 150


def options(rng: Rng) -> Any:
    """A preconditioner object."""
    return [
        sm.Diagonal(),
        sm.Exact(),
        sm.SquareRoot(),
        sm.IncompleteCholesky(),
        sm.LowRank(int(rng.integers(1, 12))),
        sm.MultiGrid(),
    ][int(rng.integers(6))]


def preconditioner(rng: Rng, problem: Problem, smallest: bool) -> Any:
    """A preconditioner object, or a function or matrix that applies an approximate inverse."""
    if rng.random() < 0.6:
        return options(rng)
    M = problem.A if smallest or problem.B is None else problem.B
    d = 1 / np.maximum(abs(np.diagonal(M).real).astype(float), 1e-300)
    if not np.isfinite(d).all():
        return sm.Diagonal()
    return (lambda x: (x.T * d).T) if rng.random() < 0.5 else np.diag(d)


def inner(rng: Rng, problem: Problem) -> tuple[Any, bool]:
    """A solver for B, and whether it is exact."""
    kind = rng.random()
    if kind < 0.4:
        return None, True
    if kind < 0.6 or problem.hostile:
        return sm.Cholesky(), True
    if kind < 0.8:
        steps = None if rng.random() < 0.5 else int(rng.integers(5, 60))
        return sm.ConjugateGradient(steps, options(rng) if rng.random() < 0.4 else None, tol=0.1), False
    B = np.eye(problem.n) if problem.B is None else problem.B.astype(np.result_type(problem.B, np.float64))
    try:
        factor = scipy.linalg.cho_factor(B)
    except scipy.linalg.LinAlgError:
        return sm.Cholesky(), True
    return sm.UserSolve(lambda b: scipy.linalg.cho_solve(factor, b)), False


def _step(rng: Rng) -> Any:
    return [sm.Adaptive(), sm.Sampled(), sm.Fixed(0.3), sm.Adaptive(0.5)][int(rng.integers(4))]


def _bound(rng: Rng) -> Any:
    return sm.LanczosBound() if rng.random() < 0.7 else sm.TraceBound()


def first_order(rng: Rng, problem: Problem) -> tuple[Any, bool]:
    """A method of the paper."""
    solver, exact = inner(rng, problem)
    kind = int(rng.integers(5))
    if kind == 0:
        return sm.Power(solver), exact
    if kind == 1:
        return sm.SplitMerge(solver), exact
    if kind == 2:
        return sm.MirrorDescent(options(rng), _step(rng), _bound(rng)), False
    if kind == 3:
        return sm.GradientDescent(_step(rng), _bound(rng)), False
    return sm.Lanczos(solver, bool(rng.random() < 0.7), int(rng.choice([20, 1000]))), exact


def method(rng: Rng, problem: Problem) -> tuple[Any, bool, bool]:
    """A method, whether its solves are exact, and whether it is one of the paper's."""
    kind = rng.random()
    if kind < 0.35 or (kind > 0.5 and problem.n > MAX_FIRST_ORDER):
        solver, exact = inner(rng, problem)
        basis = int(rng.integers(4, 60)) if rng.random() < 0.3 else None
        return sm.Accelerated(basis, inner=solver), exact, False
    if kind < 0.5:
        block = int(rng.integers(1, 12)) if rng.random() < 0.3 else None
        return sm.LocallyOptimal(options(rng) if rng.random() < 0.5 else None, block), False, False
    return *first_order(rng, problem), True
