"""Solvers for B w = b: a Cholesky factorisation, conjugate gradients, or a user-supplied function."""

from .cholesky import Cholesky
from .conjugate_gradient import ConjugateGradient
from .protocol import InnerSolver
from .user import UserSolve

__all__ = ["Cholesky", "ConjugateGradient", "InnerSolver", "UserSolve"]
