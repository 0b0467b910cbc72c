"""The solvers of the dense comparison: `sm.solve` and others, each called as its documentation recommends.

Every solver is a function of a tolerance that starts from the plain matrices, so that its time includes the set-up. All
results are evaluated by `Problem.error`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg import blas, lapack
from scipy.sparse.linalg import LinearOperator, eigsh, lobpcg

import splitmerge as sm

try:
    import primme
except ImportError:
    primme = None

# Eigenpairs of the problems with more than one.
PAIR_COUNT = 10
SINE_TOLERANCE, RESIDUAL_TOLERANCE = 1e-5, 1e-8
LOBPCG_MAX_STEPS = 2000
PEERS = ("eigsh", "eigsh Cholesky", "eigh", "lobpcg", "primme")

Pairs = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Problem:
    """A pair with its largest eigenpairs by LAPACK as a reference."""

    A: np.ndarray
    B: np.ndarray
    kappa: float
    values: np.ndarray
    vectors: np.ndarray

    @classmethod
    def cell(cls, n: int, kappa: float) -> Problem:
        """The paper's pair, with its PAIR_COUNT largest eigenpairs in descending order."""
        A, B = sm.gallery.synthetic_pair(n, kappa, rng=n + kappa)
        values, vectors = scipy.linalg.eigh(A, B, subset_by_index=[n - PAIR_COUNT, n - 1])
        return cls(A, B, kappa, values[::-1], vectors[:, ::-1])

    @property
    def n(self) -> int:
        return self.A.shape[0]

    def start(self, k: int) -> np.ndarray:
        return np.random.default_rng(1).standard_normal((self.n, k))

    def error(self, pairs: Pairs, k: int) -> float:
        """sin θ (k = 1) or the largest relative residual (k > 1), each divided by its tolerance: at most 1 if reached.

        Infinite if the pairs are not the k largest.
        """
        values, X = pairs
        order = np.argsort(values)[::-1]
        values, X = values[order], X[:, order]
        if X.shape[1] != k or not np.isfinite(X).all():
            return np.inf
        BX = self.B @ X
        if k == 1:
            x, u = X[:, 0] / np.sqrt(X[:, 0] @ BX[:, 0]), self.vectors[:, 0]
            rest = x - u * (u @ (self.B @ x))
            return float(np.sqrt(max(rest @ (self.B @ rest), 0.0)) / SINE_TOLERANCE)
        if np.abs(values - self.values[:k]).max() > 1e-6 * abs(self.values[0]):
            return np.inf
        R = self.A @ X - BX * values
        return float(
            (np.linalg.norm(R, axis=0) / (np.abs(values) * np.linalg.norm(BX, axis=0))).max() / RESIDUAL_TOLERANCE
        )


class Whitened:
    """The operator U⁻ᵀ A U⁻¹ with B = UᵀU, by direct BLAS calls: dpotrf, then dtrsv, dsymv, dtrsv per product."""

    def __init__(self, A: np.ndarray, B: np.ndarray) -> None:
        # the transpose of a C-ordered symmetric array is the same matrix in Fortran order, without a copy
        self.A = A.T
        self.U, info = lapack.dpotrf(B.T, lower=0, clean=0)
        assert info == 0

    def times(self, y: np.ndarray) -> np.ndarray:
        z = blas.dsymv(1.0, self.A, blas.dtrsv(self.U, y))
        return blas.dtrsv(self.U, z, trans=1, overwrite_x=1)

    def operator(self) -> LinearOperator:
        def block(Y: np.ndarray) -> np.ndarray:
            return np.column_stack([self.times(y) for y in Y.T])

        return LinearOperator(self.A.shape, matvec=self.times, matmat=block, dtype=self.A.dtype)

    def back(self, pairs: Pairs) -> Pairs:
        """Transform eigenpairs of the operator to those of (A, B)."""
        return pairs[0], blas.dtrsm(1.0, self.U, pairs[1])

    def solve_B(self, R: np.ndarray) -> np.ndarray:
        return lapack.dpotrs(self.U, R, lower=0)[0]


@dataclass
class Side:
    """A solver. `tol` is the sufficient tolerance once known, `seconds` the best time, `state` the outcome."""

    name: str
    variant: str
    run: Callable[[float], Any]
    by_tol: bool = True
    tol: float | None = None
    seconds: float = np.inf
    error: float = np.inf
    misses: int = 0
    state: str = "new"
    solution: sm.Solution | None = field(default=None, repr=False)

    def attempt(self, tol: float) -> Pairs | None:
        """The eigenpairs, or None if the solver fails."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = self.run(tol)
            except (RuntimeError, ValueError, np.linalg.LinAlgError):
                return None
        if isinstance(result, sm.Solution):
            self.solution = result
            return result.eigenvalues, result.eigenvectors
        return result

    def reset(self) -> None:
        """Reset the times, but keep the tolerance."""
        self.seconds, self.error, self.misses, self.state, self.solution = np.inf, np.inf, 0, "new", None


def ours(problem: Problem, k: int) -> list[Side]:
    """`sm.solve`, stopped by the angle and by the tolerance for k = 1, and with tol = 1e-8 for k > 1."""
    A, B = problem.A, problem.B
    if k > 1:
        return [Side("ours", "tol=1e-8", lambda _: sm.solve(A, B, k, tol=RESIDUAL_TOLERANCE, rng=0), by_tol=False)]
    rule = sm.SineAngle(problem.vectors[:, 0], SINE_TOLERANCE)
    return [
        Side("ours", "SineAngle", lambda _: sm.solve(A, B, stop=rule, rng=0), by_tol=False),
        Side("ours by tol", "tol", lambda tol: sm.solve(A, B, tol=tol, rng=0)),
    ]


def peers(problem: Problem, k: int) -> list[Side]:
    """The other solvers; of several variants the fastest counts."""
    A, B, n, X = problem.A, problem.B, problem.n, problem.start(k)
    v0 = X[:, 0].copy()

    def by_cholesky(tol: float) -> Pairs:
        op = Whitened(A, B)
        return op.back(eigsh(op.operator(), k, which="LA", v0=v0, tol=tol))

    def by_lobpcg(tol: float) -> Pairs:
        return lobpcg(A, X.copy(), B=B, tol=tol, maxiter=LOBPCG_MAX_STEPS)

    def by_preconditioned_lobpcg(tol: float) -> Pairs:
        M = Whitened(A, B).solve_B
        return lobpcg(A, X.copy(), B=B, M=M, tol=tol, maxiter=LOBPCG_MAX_STEPS)

    sides = [
        Side("eigsh", "M=B", lambda tol: eigsh(A, k, M=B, which="LA", v0=v0, tol=tol)),
        Side("eigsh Cholesky", "operator", by_cholesky),
        Side("eigh", "subset", lambda _: scipy.linalg.eigh(A, B, subset_by_index=[n - k, n - 1]), by_tol=False),
        Side("lobpcg", "plain", by_lobpcg),
        Side("lobpcg", "M = B⁻¹", by_preconditioned_lobpcg),
    ]
    if primme is not None:
        sides += primme_sides(problem, k)
    return sides


def primme_sides(problem: Problem, k: int) -> list[Side]:
    """PRIMME with its default start, which is deterministic and better than v0; it selects its method dynamically."""
    A, B = problem.A, problem.B

    def by_cholesky(tol: float) -> Pairs:
        op = Whitened(A, B)
        return op.back(primme.eigsh(op.operator(), k, which="LA", tol=tol))

    return [
        Side("primme", "M=B", lambda tol: primme.eigsh(A, k, M=B, which="LA", tol=tol)),
        Side("primme", "Cholesky operator", by_cholesky),
    ]


def limit(problem: Problem, products: int) -> Side:
    """Lower bound of the time with a factorisation of B: dpotrf and the products of unrestarted Lanczos."""
    y = problem.start(1)[:, 0]

    def run(_: float) -> Pairs:
        op = Whitened(problem.A, problem.B)
        for _ in range(products):
            op.times(y)
        return problem.values[:1], problem.vectors[:, :1]

    return Side("limit", "", run, by_tol=False)


def lanczos_products(problem: Problem) -> int:
    """The products of unrestarted, fully reorthogonalised Lanczos to sin θ ≤ 1e-5."""
    rule = sm.SineAngle(problem.vectors[:, 0], SINE_TOLERANCE)
    method = sm.Lanczos(max_basis=problem.n)
    return sm.solve(problem.A, problem.B, method=method, stop=rule, rng=0).counts.A_products
