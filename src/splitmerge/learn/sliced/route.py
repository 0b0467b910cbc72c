"""How the covariance T of all rows is factorised: the cheapest way that fits into the memory."""

from __future__ import annotations

from dataclasses import dataclass

from ..covariance.choice import CG_SLOWDOWN, CG_STEPS, CHOLESKY_CUBES, EIGEN_CUBES, Route, memory_budget

# Bytes of T and of its factor per squared dimension.
BYTES_PER_SQUARE = 16.0
# Largest number of columns for which the blocks of a Dask array form T (200 MB per block) if that can be avoided.
MAX_DASK_COLUMNS = 5000

_ROUTES = {
    "columns": "forming and factorising the covariance is cheapest",
    "rows": "the Gram matrix of the rows is smaller than the covariance, which was not formed",
    "products": "conjugate gradients with products with X are cheapest; the covariance was not formed",
}


@dataclass(frozen=True)
class Size:
    """The data: rows with positive weight, columns, stored entries, and the slices; where and how they are stored."""

    rows: int
    columns: int
    entries: int
    slices: int
    sparse: bool = False
    dask: bool = False


def choose(size: Size, *, iterative: bool) -> list[Route]:
    """Return the routes that fit into the memory, in the order in which they are tried.

    `iterative`: products with T suffice.

    >>> [route.name for route in choose(Size(5000, 200, 10**6, 10), iterative=True)]
    ['columns']
    >>> [route.name for route in choose(Size(100, 20000, 2 * 10**6, 10), iterative=True)][0]
    'rows'
    >>> [route.name for route in choose(Size(50000, 20000, 10**6, 10, sparse=True), iterative=True)][0]
    'products'
    """
    n, p, room = float(size.rows), float(size.columns), memory_budget()
    fits = {}
    if n <= p and not size.dask:
        if BYTES_PER_SQUARE * n**2 <= room:
            fits["rows"] = n**2 * p + EIGEN_CUBES * n**3
    elif BYTES_PER_SQUARE * p**2 <= room:
        fits["columns"] = n * p**2 + CHOLESKY_CUBES * p**3
    if iterative and (size.sparse or not fits or (size.dask and p > MAX_DASK_COLUMNS)):
        # on a cluster a matrix of p² numbers per block costs more than its arithmetic
        fits["products"] = 0.0 if size.dask else CG_SLOWDOWN * CG_STEPS * 4.0 * size.entries * size.slices
    if not fits:
        raise ValueError(
            f"X has {size.rows} rows and {size.columns} columns: a matrix of "
            f"{8 * min(n, p) ** 2 / 2**30:.2g} GiB does not fit into the memory; select columns, or use "
            f"SlicedInverseRegression with a shrinkage, which does not form it"
        )
    return [
        Route(name, f"For {size.rows}×{size.columns} data with {size.entries} entries, {_ROUTES[name]}.")
        for name in sorted(fits, key=lambda each: fits[each])
    ]
