"""The pair in single precision, where that leaves enough digits."""

from __future__ import annotations

import math

import numpy as np

from ..errors import NotPositiveDefinite
from ..linalg.cholesky import DenseFactor
from ..methods.setup import Setup
from ..planning.decision import Choice
from ..problem.products import Products
from ..problem.target import Target
from ..solvers.estimate import inverse_norm
from .workspace import Workspace

# Up to this condition of B, corrections by its factor in single precision are right to three digits.
MAX_CONDITION = 1e4
# Entries beyond these powers of two might overflow in single precision.
MAX_EXPONENT = 16


def mixed_precision(workspace: Workspace, target: Target) -> Setup | None:
    """The search in single precision and the polishing in double; None where B is too badly conditioned for it."""
    single = in_single(workspace.products())
    if single is None:
        return None
    workspace.decide(Choice.MIXED_PRECISION)
    # the factor in single precision is accurate enough for error bounds
    products = workspace.products(solver=single.solver)
    return workspace.krylov(products, target, single=single)


def in_single(products: Products) -> Products | None:
    """The pair in single precision with B factorised, or None where that leaves too few digits."""
    pencil = products.pencil
    sizes = [pencil.A.size] if pencil.B is None else [pencil.A.size, pencil.B.size]
    if any(size > 0 and abs(math.frexp(size)[1]) > MAX_EXPONENT for size in sizes):
        return None
    narrow = pencil.recast(np.dtype(np.complex64 if pencil.dtype.kind == "c" else np.float32))
    if pencil.B is None:
        return Products(narrow, products.counts, products.budget)
    try:
        factor = DenseFactor(pencil.B.matrix, narrow.dtype)
    except NotPositiveDefinite:
        return None
    single = Products(narrow, products.counts, products.budget, factor)
    if float(pencil.B.diagonal().real.max()) * inverse_norm(single) > MAX_CONDITION:
        return None
    return single
