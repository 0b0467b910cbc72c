"""Eigenpairs of symmetric-definite pairs A u = λ B u by difference-based optimisation.

>>> import splitmerge as sm
>>> A, B = sm.gallery.synthetic_pair(64, kappa_B=10, rng=0)
>>> sol = sm.solve(A, B, k=3, rng=0)
>>> sol.converged, bool((sol.residuals <= 1e-8).all())
(True, True)
"""

from . import gallery
from .accelerated import Accelerated
from .driver import iterates
from .errors import NotConverged, NotPositiveDefinite
from .files import read_pair
from .history import History
from .inner import Cholesky, ConjugateGradient, UserSolve
from .local import LocallyOptimal
from .methods import GradientDescent, Lanczos, Method, MirrorDescent, Power, SplitMerge
from .objective import LanczosBound, Objective, TraceBound, positive_curvature
from .pencil import Pencil
from .preconditioners import Diagonal, Exact, IncompleteCholesky, LowRank, MultiGrid, SquareRoot
from .scipy_api import eigsh
from .solution import Solution
from .solve import solve
from .state import State
from .stepsize import Adaptive, Fixed, Sampled
from .stopping import MaxSeconds, MaxSteps, Reason, Residual, SineAngle, Stagnation
from .store import load
from .transform import TransformDomain

__version__ = "0.1.0"

__all__ = [
    "Accelerated",
    "Adaptive",
    "Cholesky",
    "ConjugateGradient",
    "Diagonal",
    "Exact",
    "Fixed",
    "GradientDescent",
    "History",
    "IncompleteCholesky",
    "Lanczos",
    "LanczosBound",
    "LocallyOptimal",
    "LowRank",
    "MaxSeconds",
    "MaxSteps",
    "Method",
    "MirrorDescent",
    "MultiGrid",
    "NotConverged",
    "NotPositiveDefinite",
    "Objective",
    "Pencil",
    "Power",
    "Reason",
    "Residual",
    "Sampled",
    "SineAngle",
    "Solution",
    "SplitMerge",
    "SquareRoot",
    "Stagnation",
    "State",
    "TraceBound",
    "TransformDomain",
    "UserSolve",
    "eigsh",
    "gallery",
    "iterates",
    "load",
    "positive_curvature",
    "read_pair",
    "solve",
]
