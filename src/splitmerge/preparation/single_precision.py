"""Set-ups whose factor of B is in single precision, where that leaves enough digits."""

from __future__ import annotations

import math

from ..errors import NotPositiveDefinite
from ..linalg.cholesky import DenseFactor
from ..linalg.reductions import norm
from ..linalg.rounding import narrowed, precision
from ..methods.refinement.near_start import DeflatedFactor
from ..methods.refinement.polish import Polished, first_polished
from ..methods.setup import Setup
from ..planning.decision import Choice
from ..planning.plan import Map
from ..problem.factorise import deflated_cholesky
from ..problem.products import Products
from ..problem.target import Target
from ..solvers.estimate import inverse_norm, longest_vector, resolution
from ..typing import Array
from .workspace import Workspace

# Up to this condition of B, corrections by its factor in single precision are right to three digits.
MAX_CONDITION = 1e4
# Entries beyond these powers of two might overflow in single precision.
MAX_EXPONENT = 16
# The relative residual up to which a start is refined.
NEAR_RESIDUAL = 1e-2
# The tolerance that a rule for angles amounts to.
ANGLES_TOL = 1e-8
# The factor that refines it is in single precision where rounding leaves the eigenvalue known to this fraction.
SINGLE_FRACTION = 1e-2


def mixed_precision(workspace: Workspace, target: Target) -> Setup | None:
    """The search in single precision and the polishing in double; None where B is too badly conditioned for it."""
    single = in_single(workspace.products())
    if single is None:
        return None
    workspace.decide(Choice.MIXED_PRECISION)
    # the factor in single precision is accurate enough for error bounds
    products = workspace.products(solver=single.solver)
    return workspace.krylov(products, target, single=single)


def refinement(workspace: Workspace, map_: Map) -> Setup | None:
    """The refinement of a start that is close to the wanted eigenvector; None where it is not."""
    assert workspace.X is not None
    negated = map_ is Map.NEGATED
    products = workspace.products(workspace.pencil.negated() if negated else workspace.pencil)
    start = _near(products, workspace.X[:, 0])
    single = None if start is None else in_single(products)
    if start is None or single is None:
        return None
    products = products.solving(single.solver)
    factor = _deflated(products, start, workspace.problem.rule.residual_tol or ANGLES_TOL)
    if factor is None:
        return None
    if negated:
        workspace.decide(Choice.NEGATED)
    workspace.decide(Choice.REFINEMENT)
    return workspace.krylov(products, factor.target, deflated=factor)


def _near(products: Products, x: Array) -> Polished | None:
    """The state at x if its residual is small."""
    try:
        state = first_polished(products.setup, products.scale, x)
    except NotPositiveDefinite:
        # the candidates that follow refuse such a B, or can do with it
        return None
    return state if state.residual <= NEAR_RESIDUAL else None


def _deflated(products: Products, start: Polished, tol: float) -> DeflatedFactor | None:
    """τB − A deflated by the start and factorised; None where another eigenvalue is beyond τ, or close to it.

    τ is as far below the Rayleigh quotient as rounding of τB − A and the error of a pair with the residual `tol` need.
    """
    value, longest = start.value, longest_vector(products, start.x[:, None])
    error = tol * abs(value) * norm(start.Bx) * longest
    for dtype in (narrowed(products.dtype), products.dtype):
        rounding = resolution(products, longest, abs(value)) * precision(dtype) / products.eps
        margin = 2 * (rounding + error)
        if margin > SINGLE_FRACTION * abs(value) and dtype != products.dtype:
            continue
        tau, weight = value - margin, 2 * (margin + abs(value))
        G = (weight**0.5 * start.Bx[:, None]).astype(dtype)
        B = None if products.B is None else products.B.matrix
        L = deflated_cholesky(products.A.matrix, B, tau, G, above=True)
        if L is not None:
            return DeflatedFactor(L, tau + rounding)
    return None


def in_single(products: Products) -> Products | None:
    """The pair in single precision with B factorised, or None where that leaves too few digits."""
    pencil = products.pencil
    sizes = [pencil.A.size] if pencil.B is None else [pencil.A.size, pencil.B.size]
    if any(size > 0 and abs(math.frexp(size)[1]) > MAX_EXPONENT for size in sizes):
        return None
    narrow = pencil.recast(narrowed(pencil.dtype))
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
