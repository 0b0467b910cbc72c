"""Preconditioners P with PᴴP ≈ B, for mirror descent and conjugate gradients."""

from .base import Factored, Preconditioner, Prepared
from .diagonal import Diagonal
from .exact import Exact, SquareRoot
from .incomplete_cholesky import IncompleteCholesky
from .low_rank import LowRank
from .multigrid import MultiGrid
from .user import UserDiagonal, UserPreconditioner

__all__ = [
    "Diagonal",
    "Exact",
    "Factored",
    "IncompleteCholesky",
    "LowRank",
    "MultiGrid",
    "Preconditioner",
    "Prepared",
    "SquareRoot",
    "UserDiagonal",
    "UserPreconditioner",
]
