"""LAPACK: every pair of a small or densely wanted problem from one decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from ..linalg.cholesky import DenseFactor
from ..problem.operator import as_dense
from ..problem.target import Target
from ..run.iteration import Iteration, Retry, RitzBlock
from ..run.reason import Reason
from ..typing import Array
from .setup import Setup


class Direct(Iteration):
    """LAPACK has every pair at the start, so there is nothing to iterate."""

    retry = Retry(attempts=0)

    def __init__(self, setup: Setup) -> None:
        self.products, self.k, self.target = setup.products, setup.k, setup.target

    def start(self, X: Array) -> Reason:
        """Decompose."""
        self.found = direct(self)
        return Reason.RESIDUAL

    def block(self) -> RitzBlock:
        """The k wanted pairs."""
        values, vectors, gaps = self.found
        return RitzBlock(values, vectors, self.target.order, gaps, projected=True)


def direct(wanted: Direct) -> tuple[Array, Array, Array]:
    """The k wanted values and vectors in double precision, and their distances to the nearest of the others."""
    products, k, target = wanted.products, wanted.k, wanted.target
    double = np.result_type(products.dtype, np.float64)
    C = np.array(as_dense(products.A).matrix, dtype=double, order="F")
    factor = products.solver
    if products.B is not None:
        if not isinstance(factor, DenseFactor) or factor.dtype != double:
            factor = DenseFactor(as_dense(products.B).matrix.astype(double))
        C = factor.transformed(C)
    n, largest = C.shape[0], target is Target.LARGEST
    subset: dict[str, Any] = (
        {"subset_by_index": [n - k - 1, n - 1], "driver": "evr"} if largest and k < n else {"driver": "evd"}
    )
    # only the upper triangle of C is defined
    values, Y = eigh(C, lower=False, overwrite_a=True, check_finite=False, **subset)
    ordered = target.order(values)
    chosen, others = ordered[:k], values[ordered[k:]]
    gaps = np.abs(values[chosen][:, None] - others).min(axis=1, initial=np.inf)
    values, Y = values[chosen], np.asfortranarray(Y[:, chosen])
    return values, Y if products.B is None else factor.unwhiten(Y), gaps
