"""The direct route: every pair of a small or densely wanted problem by LAPACK."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from ..linalg.cholesky import DenseFactor
from ..problem.operator import as_dense
from ..problem.pencil import Pencil
from ..typing import Array


def direct(pencil: Pencil, k: int, order: Callable[[Array], Array] | None) -> tuple[Array, Array, Array]:
    """k values and vectors of a dense pencil, in double precision: the first by `order`, the largest without one.

    Beside them the distances of the values to the nearest of the others.
    """
    double = np.result_type(pencil.dtype, np.float64)
    C = np.array(as_dense(pencil.A).matrix, dtype=double, order="F")
    solver = pencil.solver
    if isinstance(solver, DenseFactor):
        assert pencil.B is not None
        if solver.U.dtype != double:
            solver = DenseFactor(pencil.B.matrix.astype(double))
        C = solver.transformed(C)
    n = C.shape[0]
    wanted = {"subset_by_index": [n - k - 1, n - 1], "driver": "evr"} if order is None and k < n else {"driver": "evd"}
    # only the upper triangle of C is there
    values, Y = eigh(C, lower=False, overwrite_a=True, check_finite=False, **wanted)
    ordered = np.arange(values.size)[::-1] if order is None else order(values)
    chosen, others = ordered[:k], values[ordered[k:]]
    gaps = np.abs(values[chosen][:, None] - others).min(axis=1, initial=np.inf)
    values, Y = values[chosen], np.asfortranarray(Y[:, chosen])
    return values, solver.unwhiten(Y) if isinstance(solver, DenseFactor) else Y, gaps
