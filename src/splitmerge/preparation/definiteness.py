"""Refuse a B that is not positive definite where the solve itself does not factorise it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..linalg.lanczos import LanczosProcess, largest_eigenvalue
from ..planning.costs import check_fits
from ..problem.factorise import factorise
from ..problem.operator import Operator
from .workspace import Workspace

# Lanczos steps that may show that a mass matrix is positive definite, with the condition it must be clear of.
LANCZOS_STEPS, CLEARANCE = (40, 80, 160), 1e-3


def check_B(workspace: Workspace) -> None:
    """Refuse a B that is not positive definite, once per solve."""
    B = workspace.pencil.B
    if workspace.checked_B:
        return
    workspace.checked_B = True
    if B is None or (B.kind == "sparse" and _surely_definite(B)):
        return
    check_fits(B, "B")
    factorise(B)


def _surely_definite(B: Operator) -> bool:
    """Is B with its diagonal scaled to 1 clear of singular, as a mass matrix is? Otherwise a factorisation must tell.

    Its eigenvalues are below the largest row sum c, and a few Lanczos steps bound those of cI − B, with an error
    probability of 1e-6.
    """
    diagonal = B.diagonal().real
    if not (diagonal > 0).all():
        return False
    D = sp.diags_array(1 / np.sqrt(diagonal))
    scaled = D @ B.matrix @ D
    sums = np.asarray(abs(scaled).sum(axis=1))
    if (sums < 2 - 100 * float(np.finfo(B.dtype).eps)).all():
        # strictly diagonally dominant (Gershgorin)
        return True
    c = float(sums.max())
    x = np.random.default_rng(0).standard_normal(B.n).astype(B.dtype)
    process = LanczosProcess(
        lambda v, _: c * v - scaled @ v, lambda y: (y, y), x, x, reorthogonalise=False, store=False
    )
    return any(largest_eigenvalue(process, steps) < (1 - CLEARANCE) * c for steps in LANCZOS_STEPS)
