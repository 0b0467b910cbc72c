"""Is B positive definite, semidefinite or neither? For solves that do not factorise it."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from ..errors import NotPositiveDefinite
from ..linalg import csr
from ..linalg.blas import kernels
from ..linalg.cholesky import INDEFINITE_FRACTION, indefinite
from ..linalg.lanczos import PlainLanczos, Tridiagonal, largest_eigenvalue, log_of_failure
from ..planning.costs import PREDICTED_N, SPMV_SECONDS, check_fits
from ..problem.factorise import factorise, is_definite
from ..problem.operator import Operator, dense_operator, scaled_rows_and_columns, sparse_operator
from ..typing import Array
from .workspace import Workspace

# Lanczos steps that may show that a mass matrix is positive definite: the first, how many more than they say it takes,
# and at most.
FIRST_STEPS, STEPS_RATIOS, MAX_STEPS = 8, (1.1, 1.5), 160
# Seconds per stored entry of the factorisation of a sparse matrix with little fill, and of a step beside its product.
FACTOR_SECONDS, STEP_SECONDS = 4e-7, 1.2e-5
# The least eigenvalue, relative to the largest, that it must be clear of.
CLEARANCE = 1e-3
# Units of rounding by which the diagonal of a semidefinite matrix is increased before it is factorised.
RIDGE_UNITS = 100


def check_B(workspace: Workspace) -> None:
    """Refuse a B that is not positive semidefinite, once per solve; `workspace.semidefinite` says if it is singular.

    Next to a finite shift, a singular B has infinite eigenvalues that do no harm.
    """
    if workspace.semidefinite is not None:
        return
    B = workspace.pencil.B
    workspace.semidefinite = B is not None and not _is_definite(B)
    if not workspace.semidefinite:
        return
    assert B is not None
    rank = B.n - massless(B).size
    if rank == 0:
        raise NotPositiveDefinite("B is not positive definite: it is zero, so that no eigenvalue is finite; check B")
    if rank < workspace.problem.k:
        raise ValueError(
            f"k is {workspace.problem.k}, but B has {B.n - rank} zero rows: only {rank} eigenvalues are finite; ask "
            f"for no more"
        )


def _is_definite(B: Operator) -> bool:
    """Is B positive definite? False if it is semidefinite; `NotPositiveDefinite` if it is neither."""
    if B.matrix is None:
        factorise(B)
    rows = np.flatnonzero(B.diagonal().real > 0)
    if rows.size < B.n:
        if massless(B).size < B.n - rows.size:
            # a diagonal entry that is negative, or zero with other entries in its row
            factorise(B)
        if rows.size == 0:
            return False
        _check_semidefinite(_rest(B, rows, 0.0))
        return False
    return _check_semidefinite(B)


def _check_semidefinite(B: Operator) -> bool:
    """Is B, whose diagonal is positive, positive definite? `NotPositiveDefinite` if it is not even semidefinite."""
    if B.kind == "sparse" and surely_definite(B):
        return True
    check_fits(B, "B")
    try:
        factorise(B)
    except NotPositiveDefinite as error:
        ridge = RIDGE_UNITS * B.n**0.5 * float(np.finfo(B.dtype).eps)
        if not error.indefinite and is_definite(_rest(B, np.arange(B.n), ridge)):
            return False
        if error.indefinite:
            raise
        raise NotPositiveDefinite("B is indefinite, and its eigenvalues must not be negative; check B") from None
    return True


def massless(B: Operator) -> Array:
    """The rows of B without any entry but zeros."""
    sums = csr.row_sums(B.matrix) if B.kind == "sparse" else np.abs(B.matrix).sum(axis=1)
    return np.flatnonzero(sums == 0)


def has_definite_rest(B: Operator, rows: Array) -> bool:
    """Is B positive definite without these rows and columns?"""
    return is_definite(_rest(B, np.setdiff1d(np.arange(B.n), rows), 0.0))


def has_rank(B: Operator | None, k: int) -> bool:
    """Is the rank of B at least k, as far as its zero rows tell?"""
    if B is None or B.matrix is None:
        return False
    rows = massless(B)
    return B.n - rows.size >= k and has_definite_rest(B, rows)


def _rest(B: Operator, rows: Array, ridge: float) -> Operator:
    """These rows and columns of B with its diagonal scaled to 1 + `ridge`."""
    d = 1 / np.sqrt(B.diagonal().real[rows])
    if B.kind == "dense":
        block = d[:, None] * B.matrix[np.ix_(rows, rows)] * d
        block.flat[:: rows.size + 1] += ridge
        return dense_operator(np.asfortranarray(block), 1.0, 1.0)
    part = B.matrix if rows.size == B.n else sp.csr_array(B.matrix[rows][:, rows])
    block = scaled_rows_and_columns(part, d)
    block = block + ridge * sp.eye_array(rows.size, format="csr") if ridge else block
    return sparse_operator(sp.csr_array(block.astype(B.dtype)), 1.0, 1.0)


def surely_definite(B: Operator) -> bool:
    """Is B with its diagonal scaled to 1 clear of singular, as a mass matrix is? Otherwise a factorisation must tell.

    Its eigenvalues are below the largest row sum c, and a few Lanczos steps bound those of cI − B, with an error
    probability of 1e-6. `NotPositiveDefinite` if they show a negative one.
    """
    diagonal = B.diagonal().real
    if not (diagonal > 0).all():
        return False
    scaled = scaled_rows_and_columns(B.matrix, 1 / np.sqrt(diagonal))
    times, sums, axpy = csr.matvec(scaled), csr.row_sums(scaled), kernels(scaled.dtype).axpy
    if (sums < 2 - 100 * float(np.finfo(B.dtype).eps)).all():
        # strictly diagonally dominant (Gershgorin)
        return True
    c = float(sums.max())
    x = np.random.default_rng(0).standard_normal(B.n).astype(B.dtype)
    process = PlainLanczos(lambda v: axpy(v, -times(v), a=c), x)
    # as ‖cI − B‖ is overestimated by 1/(1 − ε) after log(…)/(2√ε) steps, a few of them tell how many it takes
    top = _top(process, FIRST_STEPS)
    share = 1 - top / c
    if share < -max(INDEFINITE_FRACTION, RIDGE_UNITS * B.n**0.5 * float(np.finfo(B.dtype).eps)):
        # Ritz values are bounds from inside
        raise indefinite(f"with its diagonal scaled to 1 it has an eigenvalue below {share * c:.3g}")
    steps = math.inf if share <= CLEARANCE else log_of_failure(B.n) / (2 * math.sqrt(share - CLEARANCE))
    # a factorisation may take less time
    price = B.matrix.nnz * FACTOR_SECONDS / (STEP_SECONDS + B.matrix.nnz * SPMV_SECONDS)
    if steps > min(price if B.n < PREDICTED_N else math.inf, MAX_STEPS):
        return False
    return any(largest_eigenvalue(process, math.ceil(r * steps)) < (1 - CLEARANCE) * c for r in STEPS_RATIOS)


def _top(process: Tridiagonal, steps: int) -> float:
    """The largest Ritz value after this many steps."""
    while process.steps < steps and not process.exhausted:
        process.extend()
    return float(process.ritz(process.steps - 1, process.steps - 1)[0][0])
