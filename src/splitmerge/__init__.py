"""Eigenpairs of symmetric-definite pairs A u = λ B u by difference-based optimisation.

>>> import splitmerge as sm
>>> A, B = sm.gallery.synthetic_pair(64, kappa_B=10, rng=0)
>>> sol = sm.solve(A, B, k=3, rng=0)
>>> sol.converged, bool((sol.residuals <= 1e-8).all())
(True, True)
"""

from .cli import startup

if startup.is_program():
    # Ctrl-C during the imports below would be a traceback
    startup.end_on_interrupt()

import importlib as _importlib
import typing as _typing

from .eigsh import eigsh
from .errors import NotConverged, NotPositiveDefinite
from .iterates import iterates
from .methods.first_order.gradient_descent import GradientDescent
from .methods.first_order.mirror_descent import MirrorDescent
from .methods.first_order.power import Power
from .methods.first_order.split_merge import SplitMerge
from .methods.first_order.stepsize import Adaptive, Fixed, Sampled, StepSize
from .methods.krylov.accelerated import Accelerated
from .methods.krylov.lanczos import Lanczos
from .methods.lobpcg.locally_optimal import LocallyOptimal
from .methods.protocol import Method
from .objective.curvature import LanczosBound, TraceBound, positive_curvature
from .objective.difference import Objective
from .objective.state import State
from .objective.transform_domain import TransformDomain
from .preconditioners import (
    Diagonal,
    Exact,
    IncompleteCholesky,
    LowRank,
    MultiGrid,
    Preconditioner,
    SquareRoot,
    UserPreconditioner,
)
from .problem.pencil import Pencil
from .run.checkpoint import Checkpoint
from .run.history import History
from .run.reason import Reason
from .run.rules import MaxSeconds, MaxSteps, Residual, Rule, SineAngle, Stagnation
from .solution.solution import Solution
from .solve import solve
from .solvers.cholesky import Cholesky
from .solvers.conjugate_gradient import ConjugateGradient
from .solvers.user import UserSolve
from .verification.verdict import Verdict

if _typing.TYPE_CHECKING:
    from . import gallery
    from .io.matrices import read_pair
    from .scikit_fem import skfem_solver
    from .solution.loading import load
    from .versions import show_versions

__version__ = "0.1.0"

# Imported by their modules when they are first used: a solve needs no file and no test problem, with which scipy.io and
# scipy.special come.
_LATER = {
    "load": ".solution.loading",
    "read_pair": ".io.matrices",
    "show_versions": ".versions",
    "skfem_solver": ".scikit_fem",
}


def __getattr__(name: str) -> _typing.Any:
    if name == "gallery":
        return _importlib.import_module(".gallery", __name__)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(_importlib.import_module(_LATER[name], __name__), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "Accelerated",
    "Adaptive",
    "Checkpoint",
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
    "Preconditioner",
    "Reason",
    "Residual",
    "Rule",
    "Sampled",
    "SineAngle",
    "Solution",
    "SplitMerge",
    "SquareRoot",
    "Stagnation",
    "State",
    "StepSize",
    "TraceBound",
    "TransformDomain",
    "UserPreconditioner",
    "UserSolve",
    "Verdict",
    "eigsh",
    "gallery",
    "iterates",
    "load",
    "positive_curvature",
    "read_pair",
    "show_versions",
    "skfem_solver",
    "solve",
]
