"""Sliced average variance estimation (SAVE)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np

from ...checks import whole
from ...solve import solve
from ...typing import Array
from ..covariance.choice import memory_budget
from ..covariance.definite import Rooted
from ..dask.blocks import Blocks
from ..moments.grouped import Grouped
from ..moments.moments import Moments
from .base import RESIDUAL_TOL, canonical_basis, size_of
from .route import choose
from .slices import Sliced, sum_rows
from .total import by_columns, by_rows, varies

ONE_ROW = "a slice of y has one row only (or a weight of at most 1), which has no variance; give a smaller n_slices"


class SlicedAverageVariance(Sliced):
    """Sliced average variance estimation (Cook and Weisberg 1991): Σ wˢ(I − Vˢ)² for whitened covariances of slices.

    It detects a response that is symmetric about the mean, which sliced inverse regression cannot detect. I − Vˢ does
    not have low rank: its matrix is formed in whitened coordinates (p×p, or n×n for fewer rows than columns, where
    directions are combinations of rows), and `splitmerge.solve` computes its largest eigenpairs. Vˢ is the unbiased
    covariance (a slice of weight w divides by w − 1), as in statsmodels.

    The parameters and attributes are those of `SlicedInverseRegression`, for up to `features` directions, and

    bias_correction
        Correct the mean of Vˢ² for the bias of small slices (Li and Zhu 2007) by fourth moments of the rows, which need
        a second pass; slices count equally, then. As `bc` in statsmodels; not for `partial_fit` and Dask arrays.

    Slices are summed separately, one p×p matrix each, so that `partial_fit` can add rows; if these do not fit into the
    memory, `fit` reads the rows twice instead. With a shrinkage or a ridge, a direction in which no row varies has the
    eigenvalue 1.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 4))
    >>> y = (X @ [1.0, -1.0, 0.0, 0.0]) ** 2
    >>> model = SlicedAverageVariance(1).fit(X, y)
    >>> abs(model.directions_ / model.directions_.max()).round(1)
    array([[1., 1., 0., 0.]])
    """

    _separate = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_slices: Any = 10,
        shrinkage: float | None = None,
        b_policy: str = "restrict",
        tol: float = 1e-4,
        ties: str = "together",
        bias_correction: bool = False,
    ) -> None:
        super().__init__(n_components, n_slices=n_slices, shrinkage=shrinkage, b_policy=b_policy, tol=tol, ties=ties)
        self.bias_correction = bias_correction

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows to those of earlier calls, or of a `fit` that kept its sums.

        The slices are given by `n_slices` as values of y, or determined by the first call or `fit`. The model is
        fitted as soon as each slice has two rows.
        """
        self._refuse_correction("partial_fit")
        return super().partial_fit(X, y, sample_weight)

    def _fit(self, X: Any, members: Array, weights: Array) -> Self:
        slices, p = self._slicing.count, X.shape[1]
        if not (np.bincount(members, weights, slices) > 1).all():
            raise ValueError(ONE_ROW)
        route = choose(size_of(X, slices), iterative=False)[0]
        if route.name == "rows":
            return self._by_rows(X, members, weights, route.why)
        distributed = isinstance(X, Blocks)
        if distributed:
            self._refuse_correction("a Dask array")
        together = not distributed and 8.0 * slices * p**2 > memory_budget()
        sums = sum_rows(Moments(slices, p, separate=not together), X, members, weights)
        if self.bias_correction or together:
            B = by_columns(sums, self._options())
            rows = Grouped(X, members, slices, weights)
            fourth = _fourth_moments(B, rows) if self.bias_correction else None
            covariances = _covariances(B, sums.weights, _scatters(rows) if together else sums.scatter)
            return self._solved(B, combined(covariances, sums.weights, fourth), sums, route.why)
        self._moments = sums
        return self._of_sums(route.why)

    def _by_rows(self, X: Any, members: Array, weights: Array, why: str) -> Self:
        """Fit to fewer rows than columns: in whitened coordinates they are dense rows of a smaller size."""
        shares = weights / weights.sum()
        Z = Grouped(X, np.zeros(weights.size, np.intp), 1, shares)
        B = by_rows(Z, self._options())
        rows = Grouped(B.whitened / np.sqrt(shares)[:, None], members, self._slicing.count, weights)
        fourth = _fourth_moments(None, rows) if self.bias_correction else None
        A = combined(_covariances(None, rows.totals, _scatters(rows)), rows.totals, fourth)
        sums = Moments.of(weights.sum(keepdims=True), Z.means, np.array([weights.size]), np.zeros((0, 0)))
        return self._solved(B, A, sums, why)

    def _of_sums(self, why: str) -> Self:
        sums = self._moments
        B = by_columns(sums, self._options())
        return self._solved(B, combined(_covariances(B, sums.weights, sums.scatter), sums.weights), sums, why)

    def _solved(self, B: Rooted, A: Array, sums: Moments, why: str) -> Self:
        k = self._check_components(self._slicing.count, B.rank)
        self._report(B, B.rank, int(sums.rows.sum()))
        solution = solve(A, k=k, tol=RESIDUAL_TOL, rng=0)
        values = solution.eigenvalues
        return self._keep(values, canonical_basis(values, B.unwhiten(solution.eigenvectors)), sums.mean, why)

    def _suffices(self, sums: Moments) -> bool:
        return bool((sums.weights > 1).all()) and varies(sums)

    def _check_components(self, slices: int, columns: int) -> int:
        return columns if self.n_components is None else whole(self.n_components, "n_components", 1, columns)

    def _refuse_correction(self, what: str) -> None:
        if self.bias_correction:
            raise ValueError(f"bias_correction=True needs the rows twice, which {what} does not give; use False")


def combined(covariances: Iterable[Array], weights: Array, fourth: Array | None = None) -> Array:
    """Return Σ wˢ(I − Vˢ)² / Σwˢ; with fourth moments, the bias-corrected I − 2V̄ + k₁Λ − k₂F of Li and Zhu (2007)."""
    total, slices = float(weights.sum()), weights.size
    shares = weights / total if fourth is None else np.full(slices, 1 / slices)
    c = total / slices - 1
    factor = 1.0 if fourth is None else (c + 1) * c / (c**2 + 1)
    A: Any = 0.0 if fourth is None else -c / (c**2 + 1) * fourth
    for V, share in zip(covariances, shares, strict=True):
        A = A + share * (factor * (V @ V) - 2 * V)
    A[np.diag_indices_from(A)] += 1
    return np.asarray((A + A.T) / 2)


def _covariances(B: Rooted | None, weights: Array, scatters: Iterable[Array]) -> Iterator[Array]:
    """Return the covariances Vˢ of the slices, whitened by B; only the upper triangles of the scatters are valid."""
    for weight, scatter in zip(weights, scatters, strict=True):
        upper = np.triu(scatter)
        V = upper + np.triu(upper, 1).T
        V = V if B is None else B.whiten(B.whiten(V).T)
        yield (V + V.T) / (2 * (weight - 1))


def _scatters(rows: Grouped) -> Iterator[Array]:
    """Compute the scatter matrices of one slice after another."""
    return (rows.group(s).scatter() for s in range(rows.groups))


def _fourth_moments(B: Rooted | None, rows: Grouped) -> Array:
    """Return Σ w ‖r‖² rrᵀ / Σw for the rows r about the means of their slices, whitened by B."""
    found = 0.0
    for some, Z in rows.blocks():
        R = Z.T if B is None else B.whiten(Z.T)
        found = found + (R * (np.einsum("ij,ij->j", R, R) / rows.weights[some])) @ R.T
    return np.asarray(found / rows.totals.sum())
