"""Sparse direct solvers behind one protocol: selection of the fastest installed backend and prediction of its cost.

Backends: CHOLMOD (scikit-sparse) for positive definite matrices; PARDISO (pypardiso) and MUMPS (python-mumps) for
definite and indefinite ones. If none of them is installed, matrices are factorised without pivoting: by QDLDL where
factors are sparse, otherwise by SciPy's SuperLU with the nested dissection ordering of METIS (pymetis) or a minimum
degree ordering.
"""

from .backends.superlu import symmetric_lu
from .choice import definite_factors, indefinite_factors, triangular_factors
from .costs import WORTH_A_WORD, advice, recount_seconds
from .fill.levels import levels_of
from .fill.ordering import narrow_profile
from .fill.prediction import Prediction, predict, rough_prediction
from .protocol import Factors, Triangular

__all__ = [
    "WORTH_A_WORD",
    "Factors",
    "Prediction",
    "Triangular",
    "advice",
    "definite_factors",
    "indefinite_factors",
    "levels_of",
    "narrow_profile",
    "predict",
    "recount_seconds",
    "rough_prediction",
    "symmetric_lu",
    "triangular_factors",
]
