"""Shrinkage of the covariances within classes towards their diagonals.

The covariance C of a class becomes (1 − s)C + diag(d). For a given s, all entries of d are s times the mean variance.
"auto" estimates s for the standardised class (Ledoit and Wolf 2004), so that d is s times the variances. As in
scikit-learn, the covariance between classes is the shrunk covariance of all rows minus that within classes, whose rank
is not low any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...typing import Array
from ..moments.grouped import Grouped

# The shrinkage s of one class and its diagonal d.
Estimate = tuple[float, Array]


@dataclass(frozen=True)
class Shrunk:
    """Within: Σ factorᵏ priorᵏ Cᵏ + diag(`diagonal`). All rows: `total_factor` T + diag(`total_diagonal`)."""

    factors: Array
    diagonal: Array
    total_factor: float
    total_diagonal: Array


def fixed(s: float, variances: Array, M: Array, classes: int) -> Shrunk:
    """Shrink by the given s; `variances` are those within classes, and MMᵀ is the covariance of the means."""
    p = variances.size
    within = np.full(p, s * variances.sum() / p)
    return Shrunk(np.full(classes, 1 - s), within, 1 - s, within + s * float((M**2).sum()) / p)


def automatic(rows: Grouped, priors: Array) -> Shrunk:
    """Shrink by the estimates of Ledoit and Wolf (2004), for each class and for all rows together."""
    found = [ledoit_wolf(rows.group(k)) for k in range(rows.groups)]
    return combined(found, ledoit_wolf(rows.together()), priors)


def combined(classes: Sequence[Estimate], total: Estimate, priors: Array) -> Shrunk:
    """Return the shrinkage with estimates for each class and for all rows together."""
    factors = np.array([1 - s for s, _ in classes])
    diagonal = priors @ np.array([target for _, target in classes])
    return Shrunk(factors, diagonal, 1 - total[0], total[1])


def ledoit_wolf(rows: Grouped, C: Array | None = None) -> Estimate:
    """Return s and the diagonal d for the rows of one group; an integer weight w acts like w equal rows.

    C is the upper triangle of their covariance. Without it, the smaller one of ZᵀZ and ZZᵀ is formed, as both have the
    same Frobenius norm.
    """
    n = float(rows.totals[0])
    variances = rows.variances() / n if C is None else C.diagonal()
    scale = column_scales(n, rows.means[0], variances)
    # the weight is in both factors of the square, and must be there once
    fourth = float((rows.norms(1 / scale) ** 2 / rows.weights).sum())
    if C is None and rows.rows < rows.columns:
        squares = _squares(rows.gram(1 / scale)) / n**2
    else:
        squares = scaled_squares(rows.scatter() / n if C is None else C, scale)
    return estimate(n, variances, scale, squares, fourth)


def column_scales(n: float, mean: Array, variances: Array) -> Array:
    """Return the standard deviations, and 1 for columns that are constant by the criterion of StandardScaler."""
    eps = float(np.finfo(float).eps)
    constant = variances <= n * eps * variances + (n * eps * mean) ** 2
    return np.where(constant, 1.0, np.sqrt(variances))


def estimate(n: float, variances: Array, scale: Array, squares: float, fourth: float) -> Estimate:
    """Return s and the diagonal d; `squares` is the squared Frobenius norm of the covariance of n standardised rows.

    `fourth` is the sum of the fourth powers of the norms of these rows.
    """
    p = variances.size
    if p == 1:
        return 0.0, np.zeros(1)
    # the number of columns that are not constant
    trace = float((variances / scale**2).sum())
    mu = trace / p
    delta = (squares - 2 * mu * trace + p * mu**2) / p
    beta = min((fourth / n - squares) / (p * n), delta)
    s = beta / delta if beta > 0 else 0.0
    return s, s * mu * scale**2


def scaled_squares(C: Array, scale: Array) -> float:
    """Return the squared Frobenius norm of D⁻¹CD⁻¹ for the upper triangle of C and D = diag(`scale`)."""
    R = C / scale[:, None]
    R /= scale
    return _squares(R)


def _squares(upper: Array) -> float:
    """Return the squared Frobenius norm of the symmetric matrix whose upper triangle is given, with zeros below it."""
    entries = upper.ravel(order="K")
    return 2 * float(np.einsum("i,i->", entries, entries)) - float((upper.diagonal() ** 2).sum())
