"""The largest pairs of (A, B) for an A that is there as a product, and a B that can be solved with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ..accelerated import Accelerated
from ..inner import UserSolve
from ..kernels import Array
from ..solve import solve
from .definite import Definite, Rooted
from .unformed import Iterated, Woodbury

# Up to this size the matrix is formed and `solve` left to decide.
FORMED = 512
# The relative residual of the pairs: the angles are right to seven digits, then, where the gaps are 1e-3.
TOL = 1e-10


def leading(form: Definite, times: Callable[[Array], Array], k: int, M: Array) -> tuple[Array, Array, str]:
    """k values and B-orthonormal vectors, and how they were found; the span of B⁻¹M is where the search begins."""
    if isinstance(form, Rooted):
        return _whitened(form, times, k, M)
    assert isinstance(form, (Woodbury, Iterated))
    n, start = M.shape[0], form.pairs(M)[1][:, :k]
    hint: dict[str, Any] = (
        {"method": Accelerated(inner=UserSolve(lambda b: form.solve(b[:, None])[:, 0]))}
        if isinstance(form, Woodbury)
        else {"diagonal": form.jacobi[:, 0]}
    )
    x0 = start if start.size else None
    solution = solve(_operator(times, n), _operator(form.times, n), k, x0=x0, rng=0, tol=TOL, **hint)
    return solution.eigenvalues, solution.eigenvectors, _story(solution)


def _whitened(form: Rooted, times: Callable[[Array], Array], k: int, M: Array) -> tuple[Array, Array, str]:
    """QᵀAQ y = λ y, and u = Qy."""

    def product(Y: Array) -> Array:
        return form.whiten(times(form.unwhiten(Y)))

    if form.rank <= FORMED:
        C = product(np.eye(form.rank))
        solution = solve((C + C.T) / 2, k=k, rng=0, tol=TOL)
    else:
        start = np.linalg.svd(form.whiten(M), full_matrices=False)[0][:, :k]
        solution = solve(_operator(product, form.rank), k=k, x0=start, rng=0, tol=TOL)
    return solution.eigenvalues, form.unwhiten(solution.eigenvectors), _story(solution)


def _operator(times: Callable[[Array], Array], n: int) -> LinearOperator:
    return LinearOperator((n, n), matvec=lambda v: times(v.reshape(n, 1))[:, 0], matmat=times, dtype=np.float64)


def _story(solution: Any) -> str:
    way = f"{solution.steps} steps of the search" if solution.steps else "LAPACK"
    return f"The directions of the shrunk pair were found by {way}."
