"""Eigenvalue solvers for scikit-fem: `skfem.solve(…, solver=skfem_solver(k=5))`."""

from __future__ import annotations

from typing import Any

from .solution.solution import Solution
from .solve import solve
from .typing import Array

# As many as by scikit-fem's own solvers.
DEFAULT_PAIRS = 5


def skfem_solver(k: int | None = None, **options: Any) -> EigenSolver:
    """A solver for `skfem.solve(*condense(K, M, D=…), solver=…)`: by default the five smallest eigenpairs.

    k, options
        Those of `splitmerge.solve`: `which`, `sigma`, `interval` (in place of k), `tol`, `certify` and all others. What
        is given to `skfem.solve` replaces them for that call.

    The eigenvectors are M-orthonormal. `solver.solution` is the `Solution` of the last call, with residuals, error
    bounds and the verdict.

    >>> import numpy as np, splitmerge as sm
    >>> from skfem import Basis, ElementTriP2, MeshTri, condense, solve
    >>> from skfem.models.poisson import laplace, mass
    >>> basis = Basis(MeshTri().refined(3), ElementTriP2())
    >>> pair = condense(laplace.assemble(basis), mass.assemble(basis), D=basis.get_dofs())
    >>> solver = sm.skfem_solver(k=3)
    >>> values, modes = solve(*pair, solver=solver)
    >>> (values / np.pi**2).round(1).tolist(), modes.shape == (basis.N, 3), solver.solution.verdict
    ([2.0, 5.0, 5.0], True, 'certified')
    """
    return EigenSolver(options if k is None else {"k": k, **options})


class EigenSolver:
    """Calls `solve` with these options; `solution` is the result of the last call."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.solution: Solution | None = None

    def __call__(self, K: Any, M: Any, **options: Any) -> tuple[Array, Array]:
        """The eigenvalues and eigenvectors of K u = λ M u."""
        asked = self.options | options
        if asked.get("interval") is None:
            asked = {"k": DEFAULT_PAIRS} | asked
            if asked.get("sigma") is None:
                asked = {"which": "smallest"} | asked
        self.solution = solve(K, M, **asked)
        return self.solution.eigenvalues, self.solution.eigenvectors

    def __repr__(self) -> str:
        return f"skfem_solver({', '.join(f'{name}={given!r}' for name, given in self.options.items())})"
