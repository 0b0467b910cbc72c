"""Shrinkage of the covariances within classes towards their diagonals.

The covariance C of a class becomes (1 − s)C + diag(d). For a given s, all entries of d are s times the mean variance.
"auto" estimates s for the standardised class (Ledoit and Wolf 2004), so that d is s times the variances. As in
scikit-learn, the covariance between classes is the shrunk covariance of all rows minus that within classes, whose rank
is not low any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...typing import Array
from ..moments.grouped import Grouped


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


def automatic(rows: Grouped, priors: Array, T: Array | None = None) -> Shrunk:
    """Shrink by the estimates of Ledoit and Wolf (2004), for each class and for all rows together.

    T is the upper triangle of the covariance of all rows, if it has been formed already.
    """
    factors, diagonal = np.ones(rows.groups), np.zeros(rows.columns)
    for k in range(rows.groups):
        s, target = ledoit_wolf(_one_group(rows, np.flatnonzero(rows.members == k)))
        factors[k] = 1 - s
        diagonal += priors[k] * target
    s, target = ledoit_wolf(_one_group(rows, slice(None)), T)
    return Shrunk(factors, diagonal, 1 - s, target)


def _one_group(rows: Grouped, chosen: Any) -> Grouped:
    weights = rows.weights[chosen]
    return Grouped(rows.X[chosen], np.zeros(weights.size, np.intp), 1, weights)


def ledoit_wolf(rows: Grouped, C: Array | None = None) -> tuple[float, Array]:
    """Return s and the diagonal d for the rows of one group; an integer weight w acts like w equal rows.

    C is the upper triangle of their covariance. Without it, the smaller one of ZᵀZ and ZZᵀ is formed, as both have the
    same Frobenius norm.
    """
    n, p = float(rows.totals[0]), rows.columns
    if p == 1:
        return 0.0, np.zeros(1)
    variances = rows.variances() / n if C is None else C.diagonal()
    # the criterion of scikit-learn's StandardScaler for constant columns
    eps = float(np.finfo(float).eps)
    constant = variances <= n * eps * variances + (n * eps * rows.means[0]) ** 2
    scale = np.where(constant, 1.0, np.sqrt(variances))
    of_rows = np.zeros(rows.rows)
    for some, Z in rows.blocks():
        Z /= scale
        of_rows[some] = np.einsum("ij,ij->i", Z, Z)
    fourth = float((of_rows**2 / rows.weights).sum())
    if C is None and rows.rows < p:
        squares = _squares(rows.gram(1 / scale)) / n**2
    else:
        squares = _squares((rows.scatter() / n if C is None else C) / scale[:, None] / scale)
    # the number of columns that are not constant
    trace = float((variances / scale**2).sum())
    mu = trace / p
    delta = (squares - 2 * mu * trace + p * mu**2) / p
    beta = min((fourth / n - squares) / (p * n), delta)
    s = beta / delta if beta > 0 else 0.0
    return s, s * mu * scale**2


def _squares(upper: Array) -> float:
    """Return the squared Frobenius norm of the symmetric matrix whose upper triangle is given, with zeros below it."""
    entries = upper.ravel(order="K")
    return 2 * float(entries @ entries) - float((upper.diagonal() ** 2).sum())
