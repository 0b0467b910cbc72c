"""The largest eigenpairs of (A, B) for an A given by products and a factorised or implicit B."""

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

# Largest size at which the whitened matrix is formed.
MAX_FORMED_SIZE = 512
# Relative residual of the eigenpairs; with relative gaps of 1e-3, the angles of the vectors are below 1e-7.
RESIDUAL_TOL = 1e-10


def leading(form: Definite, times: Callable[[Array], Array], k: int, M: Array) -> tuple[Array, Array, str]:
    """Return k eigenvalues and B-orthonormal eigenvectors of (A, B), and a description; A is close to MMᵀ."""
    if isinstance(form, Rooted):
        return _whitened(form, times, k)
    n = M.shape[0]
    if isinstance(form, Woodbury):
        # a random start takes half as many products as a start from B⁻¹M, which needs more verification
        hint: dict[str, Any] = {"method": Accelerated(inner=UserSolve(lambda b: form.solve(b[:, None])[:, 0]))}
    else:
        assert isinstance(form, Iterated)
        start = form.pairs(M)[1][:, :k]
        hint = {"diagonal": form.jacobi[:, 0], "x0": start if start.size else None}
    solution = solve(_operator(times, n), _operator(form.times, n), k, rng=0, tol=RESIDUAL_TOL, **hint)
    return solution.eigenvalues, solution.eigenvectors, _describe(solution)


def _whitened(form: Rooted, times: Callable[[Array], Array], k: int) -> tuple[Array, Array, str]:
    """Solve QᵀAQ y = λ y and return u = Qy."""

    def product(Y: Array) -> Array:
        return form.whiten(times(form.unwhiten(Y)))

    C: Any = _operator(product, form.rank)
    if form.rank <= MAX_FORMED_SIZE:
        C = product(np.eye(form.rank))
        C = (C + C.T) / 2
    solution = solve(C, k=k, rng=0, tol=RESIDUAL_TOL)
    return solution.eigenvalues, form.unwhiten(solution.eigenvectors), _describe(solution)


def _operator(times: Callable[[Array], Array], n: int) -> LinearOperator:
    return LinearOperator((n, n), matvec=lambda v: times(v.reshape(n, 1))[:, 0], matmat=times, dtype=np.float64)


def _describe(solution: Any) -> str:
    way = f"{solution.steps} steps of an iteration" if solution.steps else "LAPACK"
    return f"The directions of the shrunk pair were computed by {way}."
