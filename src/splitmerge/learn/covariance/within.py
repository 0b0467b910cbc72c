"""The one place that chooses how the covariance within classes is solved with, and why."""

from __future__ import annotations

from dataclasses import dataclass

from ...system.memory import free_memory

# Steps of conjugate gradients expected, and how many times longer an operation of theirs takes than one of BLAS 3.
STEPS, SLOWER = 100, 20
# An eigenvalue decomposition takes as many times n³ operations.
DECOMPOSED, FACTORISED = 10.0, 1 / 3
# The share of the free memory that matrices may take.
SHARE = 0.5


@dataclass(frozen=True)
class Route:
    """ "columns": B is formed and factorised; "rows": its counterpart of the rows; "products": conjugate gradients."""

    name: str
    why: str

    def __str__(self) -> str:
        return self.why


def choose(
    rows: int, columns: int, entries: int, classes: int, *, shrunk: bool, automatic: bool, sparse: bool, keep: bool
) -> Route:
    """The cheapest way that fits the memory.

    `shrunk`: B has a positive diagonal besides ZᵀZ. `automatic`: its size is to be found. `keep`: B itself is wanted.

    >>> choose(5000, 2000, 10**7, 10, shrunk=True, automatic=False, sparse=False, keep=False).name
    'columns'
    >>> choose(100, 20000, 2 * 10**6, 10, shrunk=True, automatic=False, sparse=False, keep=False).name
    'rows'
    >>> choose(50000, 20000, 10**6, 10, shrunk=True, automatic=False, sparse=True, keep=False).name
    'products'
    """
    n, p = float(rows), float(columns)
    if keep:
        return Route("columns", "The covariance within the classes was asked for, so it was formed and factorised.")
    singular = not shrunk and p > n - classes
    cost = {
        "columns": n * p**2 + (DECOMPOSED if singular else FACTORISED) * p**3,
        "rows": n**2 * p + (FACTORISED if shrunk else DECOMPOSED) * n**3,
    }
    if not (shrunk or singular):
        # without a diagonal the rows can only stand for a covariance that is singular
        del cost["rows"]
    room = SHARE * free_memory()
    formed = (3 if automatic else 2) * 8.0
    fits = {name: cost[name] for name in cost if formed * (p if name == "columns" else n) ** 2 <= room}
    if shrunk and not automatic and (sparse or not fits):
        fits["products"] = SLOWER * STEPS * 4.0 * entries * classes
    if not fits:
        raise ValueError(
            f"X has {rows} rows and {columns} columns: neither covariance nor products of the rows fit the memory; "
            f"give a number as shrinkage, which needs neither"
        )
    name = min(fits, key=lambda each: fits[each])
    size = f"{rows} rows, {columns} columns, {entries} numbers and {classes} classes"
    return Route(
        name,
        {
            "columns": f"For {size} it is cheapest to form the covariance within classes and factorise it.",
            "rows": f"For {size} it is cheapest to form and factorise the products of rows with rows.",
            "products": f"For {size} it is cheapest to solve by conjugate gradients, with products with X alone.",
        }[name],
    )
