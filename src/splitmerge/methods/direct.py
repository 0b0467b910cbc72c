"""LAPACK: every pair of a small or densely wanted problem from one decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from ..linalg.cholesky import DenseFactor
from ..linalg.reductions import column_norms
from ..problem.operator import as_dense
from ..problem.products import Products
from ..problem.target import Target
from ..run.iteration import Iteration, Retry, RitzBlock
from ..run.reason import Reason
from ..typing import Array
from .setup import Setup

# An interval is widened by this multiple of the rounding error of its values, so that none at an end is lost.
WINDOW_ROUNDING_ERRORS = 10
# Rounding errors of a decomposition, in units of that of the largest value, and the relative distance of values that
# they must not exceed.
HIDING_UNITS, DISTINCT_FRACTION = 10, 1e-6
# The rounding errors of a decomposition grow with n: by one unit more than A and B allow for this many rows, up to
MAX_SLACK, SLACK_ROWS = 10.0, 16


def hides_others(thetas: Array | list[float]) -> bool:
    """Is rounding of the largest of these values too large beside the smallest one to tell that from others?"""
    sizes = np.abs(thetas)
    return bool(sizes.max() * HIDING_UNITS * np.finfo(float).eps > DISTINCT_FRACTION * sizes.min())


class Direct(Iteration):
    """LAPACK has every pair at the start, so there is nothing to iterate."""

    def __init__(self, setup: Setup) -> None:
        pencil = setup.products.pencil
        # the condensation to another basis is allowed as much already
        condensed = pencil.condensed is not None and pencil.B is None
        slack = 1.0 if condensed else min(max(setup.products.n / SLACK_ROWS, 1.0), MAX_SLACK)
        self.retry = Retry(attempts=0, slack=slack)
        self.products, self.k, self.target, self.window = setup.products, setup.k, setup.target, setup.window
        self.found: tuple[Array, Array, Array] | None = None

    def start(self, X: Array) -> Reason:
        """Decompose; failed where rounding of the largest value may hide others of an inverse."""
        self.found = direct(self) if self.window is None else within(self.products, *self.window)
        inverse = self.window is None and self.products.pencil.inverse is not None
        return Reason.UNCONFIRMED if inverse and hides_others(self.found[0]) else Reason.RESIDUAL

    def checkpoint(self) -> Array | None:
        """The vectors, once the decomposition is done."""
        return None if self.found is None else self.found[1]

    def interrupted(self, reason: Reason) -> Reason:
        """There are no pairs before the decomposition is done."""
        if self.found is None:
            raise KeyboardInterrupt
        return reason

    def block(self) -> RitzBlock:
        """The k wanted pairs."""
        assert self.found is not None
        values, vectors, gaps = self.found
        order = self.target.order if self.window is None else _ascending
        return RitzBlock(values, vectors, order, gaps, projected=True)


def _ascending(values: Array) -> Array:
    return np.arange(values.size)


def direct(wanted: Direct) -> tuple[Array, Array, Array]:
    """The k wanted values and vectors in double precision, and their distances to the nearest of the others."""
    k, target = wanted.k, wanted.target
    n = wanted.products.n
    values, Y, factor = _decomposed(wanted.products, min(k + 1, n) if target is Target.LARGEST else n)
    ordered = target.order(values)
    chosen, others = ordered[:k], values[ordered[k:]]
    gaps = np.abs(values[chosen][:, None] - others).min(axis=1, initial=np.inf)
    values, Y = values[chosen], np.asfortranarray(Y[:, chosen])
    return values, Y if factor is None else factor.unwhiten(Y), gaps


def _decomposed(products: Products, count: int) -> tuple[Array, Array, DenseFactor | None]:
    """The `count` largest eigenvalues of U⁻ᴴAU⁻¹, ascending, their vectors, and the factor of B = UᴴU."""
    C, factor = _whitened(products)
    # only the upper triangle of C is defined
    options: dict[str, Any] = {"lower": False, "overwrite_a": True, "check_finite": False}
    n = C.shape[0]
    if count < n:
        try:
            values, Y = eigh(C, **options, subset_by_index=[n - count, n - 1], driver="evr")
        except np.linalg.LinAlgError:
            values = np.zeros(0)
        if values.size == count:
            return values, Y, factor
        # of eigenvalues that are equal up to rounding, LAPACK may return fewer than it was asked for, or fail
        C, factor = _whitened(products)
    return *eigh(C, **options, driver="evd"), factor


def within(products: Products, low: float, high: float) -> tuple[Array, Array, Array]:
    """The ascending values from `low` to `high`, and those that rounding may have moved out, with their vectors.

    The third array has the distances to all others.
    """
    values, Y, factor = _decomposed(products, products.n)
    X = Y if factor is None else factor.unwhiten(np.asfortranarray(Y))
    rounding, size = WINDOW_ROUNDING_ERRORS * products.n * products.eps, float(np.abs(values).max())
    # A = 0 has no rounding errors, but LAPACK needs an interval
    low, high = low - rounding * (size + abs(low) or 1.0), high + rounding * (size + abs(high) or 1.0)
    noise = products.scale.perturbation(values, column_norms(X))
    inside = (values >= low - noise) & (values <= high + noise)
    gaps = np.abs(values[inside][:, None] - values[~inside]).min(axis=1, initial=np.inf)
    return values[inside], X[:, inside], gaps


def _whitened(products: Products) -> tuple[Array, DenseFactor | None]:
    """U⁻ᴴAU⁻¹ in double precision and the factor of B = UᴴU; A and None for the identity."""
    double = np.result_type(products.dtype, np.float64)
    C = np.array(as_dense(products.A).matrix, dtype=double, order="F")
    factor = products.solver
    if products.B is None:
        return C, None
    if not isinstance(factor, DenseFactor) or factor.dtype != double:
        factor = DenseFactor(as_dense(products.B).matrix.astype(double))
    return factor.transformed(C), factor
