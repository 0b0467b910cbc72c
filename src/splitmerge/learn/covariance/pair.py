"""The pair of several views: A their covariances with each other, B those within each; formed where that is cheaper.

For views X̃₁, X̃₂, … of the same rows, A has the blocks Cᵢⱼ = X̃ᵢᵀWX̃ⱼ off the diagonal and zeros on it, and B has
Cᵢᵢ + ridgeᵢ I on the diagonal. The largest eigenvalues for two views are the canonical correlations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ...checks import real
from ...planning.costs import GEMM_SECONDS, SPMM_SECONDS, SPMV_SECONDS
from ...system.memory import free_memory
from ...typing import Array
from ..cca.coordinates import wide
from ..data.joint import Joint, parts_of
from ..data.view import rounded_off
from .whiten import Sample, check_policy, singular

SOLVERS = ("auto", "formed", "operators")
# Of the memory that is free, the matrices may take this part; so many of their size are needed at a time.
PART, COPIES = 0.5, 4
# A search takes so many solves with B, a solve so many products: guesses, as the spectrum is not known beforehand.
SOLVES, SOLVES_A_PAIR, STEPS = 60, 10, 20
TURNED = ", of as many coordinates as there are rows"


@dataclass(frozen=True)
class Choice:
    """Are the matrices to be formed, of the views or of narrower ones in their stead? `reason` says why in words."""

    formed: bool
    reason: str
    narrow: bool = False


def choose(joint: Joint, k: int, *, solver: str = "auto", policy: str = "error", may_turn: bool = True) -> Choice:
    """The one place that decides between matrices and products with the data.

    A view with fewer rows than columns is made narrower for the matrices, where its data are in this memory and the
    caller can do with coordinates instead of columns.
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver is {solver!r}; give one of {', '.join(map(repr, SOLVERS))}")
    check_policy(policy)
    turn = wide(joint) if may_turn else [False] * len(joint.views)
    columns = sum(joint.samples if w else size for size, w in zip(joint.sizes, turn, strict=True))
    turned = joint.samples * sum(size for size, w in zip(joint.sizes, turn, strict=True) if w)
    narrow, need, free = any(turn), 8.0 * (COPIES * columns**2 + 3 * turned), PART * free_memory()
    if solver == "formed":
        return Choice(True, "The covariances were formed, as solver='formed' asks for.", narrow)
    if policy != "error":
        # only the entries show what is to be mended
        if solver == "operators" or need > free:
            raise ValueError(
                f"b_policy={policy!r} needs the covariances as matrices ({_size(need)}); "
                f"leave it at 'error' and give a ridge instead"
            )
        return Choice(True, f"The covariances were formed, as b_policy={policy!r} needs their entries.", narrow)
    if solver == "operators":
        return Choice(False, "Nothing was formed, as solver='operators' asks for.")
    forming = _seconds_formed(joint, columns) + 2 * joint.samples * turned * GEMM_SECONDS
    searching = _seconds_of_products(joint, k)
    costs = (
        f"to form and decompose the covariances of {columns} columns takes {_size(need)} and some "
        f"{forming:.2g} s of arithmetic, a search by products with the data some {searching:.2g} s"
    )
    if need > free:
        return Choice(False, f"Nothing was formed: {costs}, and only {_size(free)} of memory may be taken.")
    if forming > searching:
        return Choice(False, f"Nothing was formed: {costs}.")
    return Choice(True, f"The covariances were formed{TURNED * narrow}: {costs}.", narrow)


def _size(count: float) -> str:
    return f"{count / 2**30:.2g} GiB" if count >= 2**29 else f"{count / 2**20:.2g} MiB"


def _seconds_formed(joint: Joint, columns: int) -> float:
    p = float(columns)
    gram = joint.rows * p**2 / 2 * GEMM_SECONDS
    if joint.sparse:
        # a row with c entries has c² products
        gram = min(gram, float(joint.entries) ** 2 / joint.rows * SPMM_SECONDS)
    # two views of p/2 columns are whitened and decomposed apart, more views together
    cubes = 0.5 if len(joint.views) == 2 else 1.2
    return float(gram + cubes * p**3 * GEMM_SECONDS + 2 * joint.overhead)


def _seconds_of_products(joint: Joint, k: int) -> float:
    products = (SOLVES + SOLVES_A_PAIR * k) * STEPS
    each = 2 * joint.entries * (SPMV_SECONDS if joint.sparse else SPMM_SECONDS)
    return float(products * (each + joint.overhead))


@dataclass(frozen=True, eq=False)
class ViewPair:
    """A and B for `splitmerge.solve`, as matrices or as operators, and the diagonal of B to precondition with.

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
        """The pieces of the views in vectors of the pair."""
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
    """The pair of m ≥ 2 views of the same rows (arrays, sparse, memory-mapped or Dask), centred, with weighted rows.

    `ridge` is one number, or one for each view; `scale` divides the columns by their deviations. `solver` is "formed",
    "operators" (products with the views, no matrix) or "auto", which takes what is cheaper for k pairs and says why.
    """
    from ..data.inputs import joint_of

    joint = joint_of(views, weights, scale=scale)
    ridges = ridges_of(ridge, len(views))
    choice = choose(joint, k, solver=solver, may_turn=False)
    return operators(joint, ridges, choice) if not choice.formed else _matrices(joint, ridges, choice)


def ridges_of(ridge: Any, count: int) -> list[float]:
    """A ridge for each view."""
    given = list(ridge) if isinstance(ridge, (list, tuple, np.ndarray)) else [ridge] * count
    if len(given) != count:
        raise ValueError(f"ridge has {len(given)} numbers for {count} views; give one for all, or one for each")
    return [real(number, "ridge", least=0.0) for number in given]


def _matrices(joint: Joint, ridges: Sequence[float], choice: Choice) -> ViewPair:
    C = joint.gram()
    B = np.zeros_like(C)
    for part, ridge in zip(joint.parts, ridges, strict=True):
        B[part, part] = C[part, part]
        C[part, part] = 0
        B[part, part].flat[:: B[part, part].shape[0] + 1] += ridge
    return ViewPair(C, B, B.diagonal().copy(), tuple(joint.sizes), True, choice.reason)


def operators(joint: Joint, ridges: Sequence[float], choice: Choice) -> ViewPair:
    """The pair as products with the views."""
    n, ridge = joint.columns, np.repeat(np.asarray(ridges, np.float64), joint.sizes)

    def others(V: Array) -> Array:
        return joint.others(V.reshape(n, -1)).reshape(V.shape)

    def own(V: Array) -> Array:
        columns = V.reshape(n, -1)
        return (joint.own(columns) + ridge[:, None] * columns).reshape(V.shape)

    A = LinearOperator((n, n), matvec=others, matmat=others, rmatvec=others, dtype=np.float64)
    B = LinearOperator((n, n), matvec=own, matmat=own, rmatvec=own, dtype=np.float64)
    return ViewPair(A, B, joint.variances() + ridge, tuple(joint.sizes), False, choice.reason)


def refuse_singular(joint: Joint, diagonal: Array, ridges: Sequence[float], samples: Sequence[Sample]) -> None:
    """What can be seen without entries: constant columns, and more columns than rows."""
    means = joint.mean / joint.spread
    for part, ridge, sample in zip(joint.parts, ridges, samples, strict=True):
        if ridge:
            continue
        variances = diagonal[part]
        varying = np.sqrt(variances) > rounded_off(sample.rows) * np.abs(means[part])
        if not varying.all() or len(variances) >= sample.rows:
            raise singular(np.where(varying, variances, 0.0), sample)
