"""What the tests of the paper's statements share: steps, norms and the methods they hold for."""

from __future__ import annotations

import itertools
import os

import numpy as np
from hypothesis import settings

import splitmerge as sm
from strategies import Pair

# `make test` sees the same examples every time; `make test-slow` draws many new ones
EXAMPLES = int(os.environ.get("SPLITMERGE_EXAMPLES", "0"))
some = settings(deadline=None, max_examples=EXAMPLES or 40, derandomize=not EXAMPLES)
few = settings(deadline=None, max_examples=EXAMPLES or 20, derandomize=not EXAMPLES)

DENSE_PRECONDITIONERS = [sm.Exact(), sm.SquareRoot(), sm.Diagonal(), sm.LowRank(rank=3)]
SPARSE_PRECONDITIONERS = [*DENSE_PRECONDITIONERS, sm.IncompleteCholesky(drop_tol=0.1)]
ALL_METHODS = [
    sm.Accelerated(),
    sm.SplitMerge(),
    sm.Power(),
    sm.GradientDescent(),
    sm.MirrorDescent(),
    sm.MirrorDescent(preconditioner=sm.Diagonal()),
    sm.Lanczos(),
]


def solving_pencil(pair: Pair) -> sm.Pencil:
    """The pencil of the pair; whatever solves with B factorises it."""
    return sm.Pencil(pair.A, pair.B)


def first_states(pencil: sm.Pencil, method: sm.Method, x0: np.ndarray, steps: int, rng: int = 0) -> list[sm.State]:
    """The start and at most `steps` steps."""
    return list(itertools.islice(sm.iterates(pencil, method=method, x0=x0, rng=rng), steps + 1))


def B_norm(pair: Pair, x: np.ndarray) -> float:
    return float(np.sqrt(np.vdot(x, pair.B @ x).real))


def distance(pair: Pair, x: np.ndarray, y: np.ndarray) -> float:
    """‖x − y‖_B relative to ‖y‖_B."""
    return B_norm(pair, x - y) / B_norm(pair, y)


def matrix_of(action: object, n: int, dtype: object) -> np.ndarray:
    """The dense matrix of a linear map, column by column."""
    return np.column_stack([action(np.ascontiguousarray(e)) for e in np.eye(n, dtype=dtype)])  # type: ignore[operator]


def scaled(pair: Pair, x: np.ndarray) -> np.ndarray:
    """The multiple of x with the least f."""
    return x * (np.linalg.norm(pair.F @ x) / (2 * B_norm(pair, x) ** 2))


def largest_preconditioned(pair: Pair, P: object) -> float:
    """λ₁((PᴴP)⁻¹B), densely."""
    inverse = matrix_of(P.solve, pair.n, pair.A.dtype)  # type: ignore[attr-defined]
    return float(np.linalg.norm(inverse.conj().T @ pair.dense_B @ inverse, 2))


def admissible_v(pair: Pair, x: np.ndarray, length: float, stream: int = 7) -> np.ndarray:
    """A random v ⟂ Fx of this length; zero when F has one row."""
    Fx = pair.F @ x
    v = pair.vector(stream, size=Fx.size)
    # twice, as one pass leaves rounding of the size of what it took out
    for _ in range(2):
        v = v - Fx * (np.vdot(Fx, v) / np.vdot(Fx, Fx))
    norm = np.linalg.norm(v)
    return v * (length / norm) if norm > 1e-8 else 0 * v
