"""Problems with their pencils as `solve` makes them, for the stages that follow."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from splitmerge.arguments import checked, stopping_rule
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.problem import Problem


class Counted(LinearOperator):
    """A matrix of which only products are known, and how many columns were multiplied."""

    def __init__(self, matrix):
        super().__init__(matrix.dtype, matrix.shape)
        self.matrix, self.columns = matrix, 0

    def _matvec(self, x):
        self.columns += 1
        return self.matrix @ np.ravel(x)

    def _matmat(self, X):
        self.columns += X.shape[1]
        return self.matrix @ X


def asked(A, B=None, k=1, which="largest", sigma=None, method=None, **more):
    """The checked problem and its pencil; `more` are arguments of `solve`."""
    tol, stop, max_steps, certify = (
        more.pop(name, default)
        for name, default in (("tol", 1e-8), ("stop", None), ("max_steps", None), ("certify", False))
    )
    hint, diagonal = more.pop("preconditioner", None), more.pop("diagonal", None)
    problem = Problem(A, B, k, which, sigma, method, tol, stop, max_steps, "error", certify, hint, **more)
    problem = replace(checked(problem, diagonal), rule=stopping_rule(stop, tol, max_steps))
    negate = problem.which == "smallest" and method is not None and not method.subspace
    return problem, Pencil(A, B, negate=negate, equilibrate=True)


def tridiagonal(n, diagonal=2.0, beside=-1.0):
    """A sparse matrix with these diagonals."""
    beside = np.full(n - 1, beside)
    return sp.csr_array(sp.diags_array([beside, np.full(n, diagonal), beside], offsets=[-1, 0, 1]))
