"""The pair (A, B) of several views: A has the covariances between views, B those within each view.

For views X̃₁, X̃₂, … of the same rows, A has the blocks Cᵢⱼ = X̃ᵢᵀWX̃ⱼ off the diagonal and zeros on it, and B has the
blocks Cᵢᵢ + ridgeᵢ I on the diagonal. For two views the largest eigenvalues are the canonical correlations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ...checks import real
from ...typing import Array
from ..dask.dispatch import joint_of
from ..data.inputs import check_finite
from ..data.joint import Joint, parts_of
from .choice import Forming, choose_forming
from .definite import Sample, singular, varying


@dataclass(frozen=True, eq=False)
class ViewPair:
    """A and B for `splitmerge.solve`, as matrices or operators, and the diagonal of B for preconditioning.

    >>> import splitmerge as sm
    >>> X, Y = sm.gallery.two_views(500, 4, 3, [0.9, 0.5], exact=True, rng=0)
    >>> pair = view_pair([X, Y], solver="operators")
    >>> sol = sm.solve(pair.A, pair.B, k=2, diagonal=pair.diagonal, rng=0)
    >>> sol.eigenvalues.round(8)
    array([0.9, 0.5])
    """

    A: Any
    B: Any
    diagonal: Array
    sizes: tuple[int, ...]
    formed: bool
    reason: str

    def split(self, V: Array) -> list[Array]:
        """Split vectors of the pair by view."""
        return [V[part] for part in parts_of(self.sizes)]


def view_pair(
    views: Sequence[Any],
    *,
    weights: Any = None,
    ridge: float | Sequence[float] = 0.0,
    scale: bool = False,
    k: int = 1,
    solver: str = "auto",
) -> ViewPair:
    """Return the pair of two or more views of the same rows: dense, sparse, memory-mapped or Dask arrays.

    The views are centred. `weights` are the weights of the rows; `ridge` is one number, or one per view; `scale`
    divides the columns by their standard deviations. `solver` is "formed" (matrices), "operators" (products with the
    views) or "auto": the cheaper one for k eigenpairs, whose reason the pair tells.
    """
    joint = joint_of(views, weights, scale=scale)
    ridges = ridges_of(ridge, len(views))
    choice = choose_forming(joint, k, solver=solver, may_reduce=False)
    return operators(joint, ridges, choice) if not choice.formed else _matrices(joint, ridges, choice)


def ridges_of(ridge: Any, count: int) -> list[float]:
    """Return one ridge per view."""
    given = list(ridge) if isinstance(ridge, (list, tuple, np.ndarray)) else [ridge] * count
    if len(given) != count:
        raise ValueError(f"ridge has {len(given)} numbers for {count} views; give one number, or one per view")
    return [real(number, "ridge", least=0.0) for number in given]


def _matrices(joint: Joint, ridges: Sequence[float], choice: Forming) -> ViewPair:
    with np.errstate(over="ignore", invalid="ignore"):
        C = joint.gram()
    for i, part in enumerate(joint.parts):
        check_finite(joint.mean[part], C.diagonal()[part], f"views[{i}]")
    B = np.zeros_like(C)
    for part, ridge in zip(joint.parts, ridges, strict=True):
        B[part, part] = C[part, part]
        C[part, part] = 0
        B[part, part].flat[:: B[part, part].shape[0] + 1] += ridge
    return ViewPair(C, B, B.diagonal().copy(), tuple(joint.sizes), True, choice.reason)


def operators(
    joint: Joint, ridges: Sequence[float], choice: Forming, *, shares: Sequence[float] = (), mend: bool = False
) -> ViewPair:
    """Return the pair as products with the views; constant columns, whose products are rounding errors, are zero.

    `shares` multiply the covariances within the views. With `mend`, B has ones for constant columns without a ridge.
    """
    n, ridge = joint.columns, np.repeat(np.asarray(ridges, np.float64), joint.sizes)
    share = np.repeat(shares or [1.0] * len(ridges), joint.sizes)
    variances = joint.variances()
    varies = varying(variances, joint.mean / joint.spread, joint.samples)[:, None]
    if mend:
        ridge = np.where(varies[:, 0] | (ridge > 0), ridge, 1.0)

    def others(V: Array) -> Array:
        return (varies * joint.others(varies * V.reshape(n, -1))).reshape(V.shape)

    def own(V: Array) -> Array:
        columns = V.reshape(n, -1)
        products = share[:, None] * varies * joint.own(varies * columns)
        return (products + ridge[:, None] * columns).reshape(V.shape)

    A = LinearOperator((n, n), matvec=others, matmat=others, rmatvec=others, dtype=np.float64)
    B = LinearOperator((n, n), matvec=own, matmat=own, rmatvec=own, dtype=np.float64)
    return ViewPair(A, B, share * variances * varies[:, 0] + ridge, tuple(joint.sizes), False, choice.reason)


def refuse_singular(joint: Joint, diagonal: Array, ridges: Sequence[float], samples: Sequence[Sample]) -> None:
    """Raise for covariances that are singular without looking at entries: constant columns, or too few rows."""
    means = joint.mean / joint.spread
    for part, ridge, sample in zip(joint.parts, ridges, samples, strict=True):
        if ridge:
            continue
        variances = diagonal[part]
        varies = varying(variances, means[part], sample.rows)
        if not varies.all() or len(variances) >= sample.rows:
            raise singular(np.where(varies, variances, 0.0), sample)
