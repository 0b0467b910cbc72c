"""Estimators to which rows can be added: the co-moments of all columns are kept, the solution is computed on access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ...checks import instance, real, whole
from ...typing import Array
from ..data.inputs import check_finite
from ..data.joint import Joint
from ..moments.moments import Comoments
from .analysis import analyse, analyse_moments
from .request import Analysis, Request

# `fit` keeps the co-moments for a later `partial_fit` up to this number of columns (8 MB).
MAX_KEPT_COLUMNS = 1000


class Accumulated:
    """Base of an estimator that is fitted to all rows at once, or batch by batch.

    `LEARNED` has the attributes of the solution. After partial_fit, they are computed when one of them is accessed.
    """

    LEARNED: ClassVar[frozenset[str]] = frozenset()

    ridge: Any
    c: Any
    scale: bool
    ddof: int
    tol: float
    b_policy: str
    solver: str
    random_state: Any
    _moments: Comoments | None
    _sizes: list[int]

    def _count(self, sizes: list[int]) -> int:
        """Return the number of components to compute."""
        raise NotImplementedError

    def _names(self) -> list[str]:
        """Return the names of the views for messages."""
        raise NotImplementedError

    def _take(self, found: Analysis, spread: Array) -> None:
        """Set the attributes in LEARNED."""
        raise NotImplementedError

    def _check_flags(self) -> None:
        """Raise for words and numbers in place of True or False."""
        for name in ("scale", "center", "warm_start"):
            instance(getattr(self, name), name, (bool, np.bool_), "True or False")

    def _analyse(self, joint: Joint, start: Array | None) -> None:
        """Fit to all rows."""
        self._sizes, self._moments = joint.sizes, None
        found = analyse(joint, self._request(start, joint.total))
        self._take(*self._inflated(found, joint.spread, joint.total))
        if found.covariance is not None and joint.columns <= MAX_KEPT_COLUMNS:
            squares = joint.total * found.covariance * np.multiply.outer(joint.spread, joint.spread)
            self._moments = Comoments(joint.total, joint.mean, squares, joint.samples)

    def _is_begun(self) -> bool:
        """Return whether there are rows to add to; raise after a fit that cannot be added to."""
        if vars(self).get("_moments") is not None:
            return True
        if "correlations_" in vars(self):
            raise ValueError("the last fit did not keep its co-moments (see route_); begin with partial_fit on a clone")
        return False

    def _accumulate(self, joint: Joint, names: Sequence[str]) -> Comoments:
        """Add the rows of views that are not scaled."""
        moments: Comoments | None = vars(self).get("_moments")
        with np.errstate(over="ignore", invalid="ignore"):
            more = Comoments.of(joint)
        for part, name in zip(joint.parts, names, strict=True):
            check_finite(more.mean[part], more.squares.diagonal()[part], name)
        added = self._moments = more if moments is None else moments + more
        self._sizes = joint.sizes
        for name in self.LEARNED & vars(self).keys():
            delattr(self, name)
        return added

    def _inflation(self, total: float) -> float:
        """Return the ratio of the covariances with the divisor Σw − ddof to those with Σw."""
        ddof = whole(self.ddof, "ddof", 0)
        if ddof >= total:
            raise ValueError(
                f"n_samples = {total:g}, or sample_weight has this sum: it must sum to more than {ddof}, which is ddof"
            )
        return total / (total - ddof)

    def _inflated(self, found: Analysis, spread: Array, total: float) -> tuple[Analysis, Array]:
        """Return vectors and divisors of the columns in the units of covariances with the divisor Σw − ddof."""
        root = self._inflation(total) ** 0.5
        if root == 1:
            return found, spread
        if self.scale:
            return found, root * spread
        vectors, own, others = ([V / root for V in each] for each in (found.vectors, found.own, found.others))
        return replace(found, vectors=vectors, own=own, others=others), spread

    def _request(self, start: Array | None, total: float) -> Request:
        return Request(
            k=self._count(self._sizes),
            ridge=self.ridge,
            c=self.c,
            tol=real(self.tol, "tol", below=1),
            policy=self.b_policy,
            solver=self.solver,
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            names=self._names(),
            start=start,
            inflation=1.0 if self.scale else self._inflation(total),
        )

    def __getattr__(self, name: str) -> Any:
        moments = vars(self).get("_moments")
        if name not in type(self).LEARNED or moments is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        request = self._request(None, moments.total)
        found, spread = analyse_moments(moments, self._sizes, request, scale=self.scale)
        self._take(*self._inflated(found, spread, moments.total))
        return vars(self)[name]


def loadings_of(vectors: list[Array], own: list[Array]) -> tuple[list[Array], list[Array]]:
    """Return the regressions of the scaled columns of each view on its scores, and the inverses of VᵀCV."""
    inverses = [np.linalg.pinv(V.T @ CV, hermitian=True) for V, CV in zip(vectors, own, strict=True)]
    return [CV @ M for CV, M in zip(own, inverses, strict=True)], inverses
