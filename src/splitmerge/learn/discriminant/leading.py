"""The largest pairs of (A, B) for an A that is there as a product, and a B that can be solved with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ...methods.krylov.accelerated import Accelerated
from ...solve import solve
from ...solvers.user import UserSolve
from ...typing import Array
from ..covariance.definite import Definite, Rooted
from ..covariance.implicit import Iterated, Woodbury

# Up to this size the matrix is formed and `solve` left to decide.
FORMED = 512
# The relative residual of the pairs: the angles are right to seven digits, then, where the gaps are 1e-3.
TOL = 1e-10


def leading(form: Definite, times: Callable[[Array], Array], k: int, M: Array) -> tuple[Array, Array, str]:
    """k values and B-orthonormal vectors of (A, B), and how they were found; A is MMᵀ and something small."""
    if isinstance(form, Rooted):
        return _whitened(form, times, k)
    n = M.shape[0]
    if isinstance(form, Woodbury):
        # from a random vector it takes half the products that it takes from B⁻¹M, which asks for more checks
        hint: dict[str, Any] = {"method": Accelerated(inner=UserSolve(lambda b: form.solve(b[:, None])[:, 0]))}
    else:
        assert isinstance(form, Iterated)
        start = form.pairs(M)[1][:, :k]
        hint = {"diagonal": form.jacobi[:, 0], "x0": start if start.size else None}
    solution = solve(_operator(times, n), _operator(form.times, n), k, rng=0, tol=TOL, **hint)
    return solution.eigenvalues, solution.eigenvectors, _story(solution)


def _whitened(form: Rooted, times: Callable[[Array], Array], k: int) -> tuple[Array, Array, str]:
    """QᵀAQ y = λ y, and u = Qy."""

    def product(Y: Array) -> Array:
        return form.whiten(times(form.unwhiten(Y)))

    C: Any = _operator(product, form.rank)
    if form.rank <= FORMED:
        C = product(np.eye(form.rank))
        C = (C + C.T) / 2
    solution = solve(C, k=k, rng=0, tol=TOL)
    return solution.eigenvalues, form.unwhiten(solution.eigenvectors), _story(solution)


def _operator(times: Callable[[Array], Array], n: int) -> LinearOperator:
    return LinearOperator((n, n), matvec=lambda v: times(v.reshape(n, 1))[:, 0], matmat=times, dtype=np.float64)


def _story(solution: Any) -> str:
    way = f"{solution.steps} steps of the search" if solution.steps else "LAPACK"
    return f"The directions of the shrunk pair were found by {way}."
