"""Preconditioners P with PᴴP ≈ B; the same objects serve mirror descent and conjugate gradients."""

from .base import Preconditioner, Prepared
from .diagonal import Diagonal
from .exact import Exact, SquareRoot
from .incomplete_cholesky import IncompleteCholesky
from .low_rank import LowRank

__all__ = ["Diagonal", "Exact", "IncompleteCholesky", "LowRank", "Preconditioner", "Prepared", "SquareRoot"]
