"""Whether covariances are formed or only multiplied with, decided by predicted cost and free memory."""

from __future__ import annotations

from dataclasses import dataclass

from ...planning.costs import GEMM_SECONDS, SPMM_SECONDS, SPMV_SECONDS
from ...problem.b_policy import check_policy
from ...system.memory import free_memory
from ..data.joint import Joint

SOLVERS = ("auto", "formed", "operators")
# Share of the free memory that matrices may take, and the number of joint covariance matrices held at a time.
MEMORY_SHARE = 0.5
MATRIX_COPIES = 4
# Views are reduced to as many coordinates as rows if these are at most this share of the columns, and if all views
# together have more columns than the limit.
MAX_ROWS_PER_COLUMN = 0.8
MIN_REDUCED_COLUMNS = 1000
# Estimated B-solves of an iterative solution, per run and per eigenpair, and products of each solve.
SOLVES_PER_RUN, SOLVES_PER_PAIR, PRODUCTS_PER_SOLVE = 60, 10, 20
# Estimated conjugate gradient steps per solve, and the time of one of their operations relative to BLAS 3.
CG_STEPS, CG_SLOWDOWN = 100, 20
# Operations of an eigenvalue decomposition and of a Cholesky factorisation of an n×n matrix, in n³.
EIGEN_CUBES, CHOLESKY_CUBES = 10.0, 1 / 3


def memory_budget() -> float:
    """Return the number of bytes that matrices may take."""
    return MEMORY_SHARE * free_memory()


@dataclass(frozen=True)
class Forming:
    """Whether the covariances of views are formed, and of `reduced` views; `reason` tells why in words."""

    formed: bool
    reason: str
    reduced: bool = False


def choose_forming(
    joint: Joint, k: int, *, solver: str = "auto", policy: str = "error", may_reduce: bool = True
) -> Forming:
    """Choose between covariance matrices and products with the data, for k eigenpairs of several views.

    With `may_reduce`, the covariances of a view with fewer rows than columns are formed in the coordinates of its row
    space, if the data are in this process.
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver is {solver!r}; give one of {', '.join(map(repr, SOLVERS))}")
    check_policy(policy)
    wide = wide_views(joint) if may_reduce else [False] * len(joint.views)
    columns = sum(joint.samples if w else size for size, w in zip(joint.sizes, wide, strict=True))
    wide_entries = joint.samples * sum(size for size, w in zip(joint.sizes, wide, strict=True) if w)
    reduced, need = any(wide), 8.0 * (MATRIX_COPIES * columns**2 + 3 * wide_entries)
    free = memory_budget()
    if solver == "formed":
        return Forming(True, "The covariances were formed, as solver='formed' requires.", reduced)
    if policy != "error":
        # a singular covariance can only be mended as a matrix
        if solver == "operators" or need > free:
            raise ValueError(
                f"b_policy={policy!r} needs the covariances as matrices ({_size(need)}); "
                f"use b_policy='error' and give a ridge instead"
            )
        return Forming(True, f"The covariances were formed, as b_policy={policy!r} needs their entries.", reduced)
    if solver == "operators":
        return Forming(False, "The covariances were not formed, as solver='operators' requires.")
    forming = _forming_seconds(joint, columns) + 2 * joint.samples * wide_entries * GEMM_SECONDS
    iterating = _iterating_seconds(joint, k)
    costs = (
        f"forming and decomposing {columns}×{columns} covariances needs {_size(need)} and about {forming:.2g} s, "
        f"an iteration with products about {iterating:.2g} s"
    )
    if need > free:
        return Forming(False, f"The covariances were not formed: {costs}; {_size(free)} of memory are available.")
    if forming > iterating:
        return Forming(False, f"The covariances were not formed: {costs}.")
    where = " in the coordinates of the row space" * reduced
    return Forming(True, f"The covariances were formed{where}: {costs}.", reduced)


def wide_views(joint: Joint) -> list[bool]:
    """Return which views are in this process and have so few rows that reducing them is worth its cost."""
    here = not joint.pass_seconds and joint.columns > MIN_REDUCED_COLUMNS
    return [here and joint.samples <= MAX_ROWS_PER_COLUMN * view.columns for view in joint.views]


def _size(count: float) -> str:
    return f"{count / 2**30:.2g} GiB" if count >= 2**29 else f"{count / 2**20:.2g} MiB"


def _forming_seconds(joint: Joint, columns: int) -> float:
    p = float(columns)
    gram = joint.rows * p**2 / 2 * GEMM_SECONDS
    if joint.sparse:
        # a row with c stored entries takes c² multiplications
        gram = min(gram, float(joint.entries) ** 2 / joint.rows * SPMM_SECONDS)
    # two views of p/2 columns are whitened and decomposed separately, more views jointly
    cubes = 0.5 if len(joint.views) == 2 else 1.2
    return float(gram + cubes * p**3 * GEMM_SECONDS + 2 * joint.pass_seconds)


def _iterating_seconds(joint: Joint, k: int) -> float:
    products = (SOLVES_PER_RUN + SOLVES_PER_PAIR * k) * PRODUCTS_PER_SOLVE
    each = 2 * joint.entries * (SPMV_SECONDS if joint.sparse else SPMM_SECONDS)
    return float(products * (each + joint.pass_seconds))


@dataclass(frozen=True)
class Route:
    """How to solve with a covariance B; `why` tells the reason in words.

    "columns": B is formed and factorised. "rows": the Gram matrix of the rows is. "products": conjugate gradients.
    """

    name: str
    why: str


def choose_route(
    rows: int,
    columns: int,
    entries: int,
    classes: int,
    *,
    shrunk: bool,
    automatic: bool,
    sparse: bool,
    keep: bool,
    distributed: bool = False,
) -> Route:
    """Choose the cheapest route that fits into the memory.

    `shrunk`: B is ZᵀZ plus a positive diagonal. `automatic`: the shrinkage is estimated. `keep`: B is an output.
    `distributed`: the workers that hold the rows would send large matrices, which only shrinkage and few rows avoid
    as long as they fit.

    >>> choose_route(5000, 2000, 10**7, 10, shrunk=True, automatic=False, sparse=False, keep=False).name
    'columns'
    >>> choose_route(100, 20000, 2 * 10**6, 10, shrunk=True, automatic=False, sparse=False, keep=False).name
    'rows'
    >>> choose_route(50000, 20000, 10**6, 10, shrunk=True, automatic=False, sparse=True, keep=False).name
    'products'
    """
    if keep:
        return Route("columns", "The covariance within classes was formed and factorised, as it is to be stored.")
    cost = _factorisation_costs(float(rows), float(columns), classes, shrunk=shrunk)
    room = memory_budget()
    bytes_per_entry = (4 if automatic else 3) * 8.0
    sizes = {"columns": float(columns), "rows": float(rows)}
    fits = {name: cost[name] for name in cost if bytes_per_entry * sizes[name] ** 2 <= room}
    by_products = CG_SLOWDOWN * CG_STEPS * 4.0 * entries * classes
    # without a diagonal, conjugate gradients need a covariance that is not singular
    iterable = shrunk or "rows" not in cost
    if distributed:
        fits = _sent(fits, by_products, shrunk=shrunk, iterable=iterable, wide=rows < columns)
    elif iterable and not automatic:
        fits |= {"products": by_products} if (sparse and shrunk) or not fits else {}
    if not fits:
        raise ValueError(
            f"X has {rows} rows and {columns} columns: neither the covariance nor the Gram matrix of the rows fits "
            f"into the memory; give a number as shrinkage, which needs neither"
        )
    name = min(fits, key=lambda each: fits[each])
    return Route(name, f"For {rows}×{columns} data with {entries} entries in {classes} classes, {_ROUTES[name]}.")


def _sent(fits: dict[str, float], by_products: float, *, shrunk: bool, iterable: bool, wide: bool) -> dict[str, float]:
    """Return the routes without the covariance; a Gram matrix is one if it is smaller. The covariance if none is."""
    found = {name: fits[name] for name in fits if name == "rows" and wide}
    if shrunk or (iterable and not fits):
        found["products"] = by_products
    return found or fits


def _factorisation_costs(n: float, p: float, classes: int, *, shrunk: bool) -> dict[str, float]:
    """Operations of forming and factorising the p×p covariance, or the n×n Gram matrix of the rows."""
    singular = not shrunk and p > n - classes
    cost = {
        "columns": n * p**2 + (EIGEN_CUBES if singular else CHOLESKY_CUBES) * p**3,
        "rows": n**2 * p + (CHOLESKY_CUBES if shrunk else EIGEN_CUBES) * n**3,
    }
    if not (shrunk or singular):
        # without a diagonal, the Gram matrix of the rows only represents a singular covariance
        del cost["rows"]
    return cost


_ROUTES = {
    "columns": "forming and factorising the covariance within classes is cheapest",
    "rows": "forming and factorising the Gram matrix of the rows is cheapest",
    "products": "conjugate gradients with products with X are cheapest",
}
