"""Numerical checks of the paper's theorems: the largest deviations on small random pairs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.linalg

from ... import gallery
from ...iterates import iterates
from ...methods.first_order.gradient_descent import GradientDescent
from ...methods.first_order.mirror_descent import MirrorDescent
from ...methods.first_order.power import Power
from ...methods.first_order.split_merge import SplitMerge
from ...methods.first_order.stepsize import Fixed, Sampled
from ...methods.protocol import Method
from ...objective.difference import Objective
from ...objective.state import State
from ...preconditioners import Diagonal, Exact
from ...problem.pencil import Pencil
from ...typing import Array

# Number of random pairs, their order n, and steps per run.
PAIR_COUNT, PAIR_ROWS, STEP_COUNT = 20, 40, 60
# Relative increase of f up to which it is attributed to rounding.
ROUNDING_TOLERANCE = 1e-12


def run_theory(seed: int) -> dict[str, Any]:
    """The largest deviation from each theorem over all pairs, and the number of runs with published steps that raise f.

    A published step is one of Split-Merge with the step length of the paper.
    """
    found = []
    for number in range(PAIR_COUNT):
        kappa = (3, 30, 100)[number % 3]
        A, B = gallery.synthetic_pair(PAIR_ROWS, kappa, rng=[seed, number])
        x = np.random.default_rng([seed, number, 1]).standard_normal(PAIR_ROWS)
        found.append({**_landscape(A, B, x), **_steps(A, B, x)})
    worst = {name: max(each[name] for each in found) for name in found[0]}
    raised = sum(each["published"] > ROUNDING_TOLERANCE for each in found)
    return {"pairs": PAIR_COUNT, "n": PAIR_ROWS, "seed": seed, "worst": worst, "raised": raised}


def _landscape(A: Array, B: Array, x: Array) -> dict[str, float]:
    f = Objective(Pencil(A, B))
    values, U = scipy.linalg.eigh(A, B)
    # a B-normalised eigenvector times √λ/2 satisfies the stationarity condition 2√(xᵀAx) = λ
    stationary = [U[:, j] * np.sqrt(values[j]) / 2 for j in range(PAIR_ROWS)]
    slopes = [np.linalg.norm(f.gradient(point)) / np.linalg.norm(B @ point) for point in stationary]
    top = U[:, -1]
    bends = [top @ f.hessian_product(point, top) for point in stationary[:-1]]
    point = x * (np.sqrt(x @ A @ x) / (2 * (x @ B @ x)))
    hessian = np.column_stack([f.hessian_product(point, e) for e in np.eye(PAIR_ROWS)])
    F = scipy.linalg.cholesky(A)
    v = np.random.default_rng(0).standard_normal(PAIR_ROWS)
    Fx = F @ point
    v -= Fx * ((Fx @ v) / (Fx @ Fx))
    H = f.splitting_matrix(point, v / np.linalg.norm(v), F)
    return {
        "stationary": float(max(slopes)),
        "minimum": float(abs(f.value(stationary[-1]) + values[-1] / 4) / values[-1]),
        "saddle": float(max(bends)),
        "surrogate": float(max(np.linalg.eigvalsh(hessian - H)[-1], np.linalg.eigvalsh(H - 2 * B)[-1])),
    }


def _states(A: Array, B: Array | None, x: Array, method: Method, steps: int = STEP_COUNT) -> list[State]:
    return list(itertools.islice(iterates(A, B, method=method, x0=x, rng=0), steps + 1))


def _steps(A: Array, B: Array, x: Array) -> dict[str, float]:
    first_order: tuple[Method, ...] = (
        GradientDescent(),
        MirrorDescent(Exact(), Sampled()),
        MirrorDescent(Diagonal(), Sampled()),
    )
    rises = [_largest_rise([state.f for state in _states(A, B, x, method)]) for method in first_order]
    power = _states(A, B, x, Power(), 10)[-1].vector
    half = _states(A, B, x, MirrorDescent(Exact(), Fixed(0.5)), 10)[-1].vector
    merges = _states(A, B, x, SplitMerge())
    L = scipy.linalg.cholesky(B, lower=True)
    whitened = scipy.linalg.solve_triangular(L, scipy.linalg.solve_triangular(L, A, lower=True).T, lower=True)
    inside = _states((whitened + whitened.T) / 2, None, L.T @ x, SplitMerge())
    quotients = np.array([[state.eigenvalue for state in run] for run in (merges, inside)])
    # a state is the optimal multiple of the published iterate, which is longer by the factor `memory`
    lengths = [state.memory or 1.0 for state in merges]
    published = [c * c * state.b - c * state.r for c, state in zip(lengths, merges, strict=True)]
    return {
        "rise": max(rises),
        "half": float(np.linalg.norm(power / np.linalg.norm(power) - half / np.linalg.norm(half))),
        "transform": float(np.abs(quotients[0] - quotients[1]).max() / quotients.max()),
        "merge": _largest_rise([state.f for state in merges]),
        "published": _largest_rise(published),
    }


def _largest_rise(values: list[float]) -> float:
    """The largest increase of f in one step, relative to its final magnitude."""
    return max(b - a for a, b in itertools.pairwise(values)) / abs(values[-1])
