"""Sparse factorisations behind one protocol, the fastest that is installed, and what they will cost.

CHOLMOD (scikit-sparse) for positive definite matrices, PARDISO (pypardiso) and MUMPS (python-mumps) for all, SuperLU
without pivoting in an order of METIS (pymetis) or of minimum degree where none of them is there.
"""

from .choice import definite_factors, indefinite_factors, triangular_factors
from .costs import WORTH_A_WORD, advice, recount_seconds
from .prediction import Prediction, predict
from .protocol import Factors, Triangular
from .superlu import symmetric_lu

__all__ = [
    "WORTH_A_WORD",
    "Factors",
    "Prediction",
    "Triangular",
    "advice",
    "definite_factors",
    "indefinite_factors",
    "predict",
    "recount_seconds",
    "symmetric_lu",
    "triangular_factors",
]
