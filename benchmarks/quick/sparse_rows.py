"""Sections `sparse` and `p2`: the ends of sparse pairs and values inside, against plain and well-tuned `eigsh`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

import splitmerge as sm

from ..sparse.solvers import by_cholmod, by_degree
from .contest import TOLERANCE, Contest, Row, Side, Wanted
from .data import BUILDERS, Pair, largest_values, pair, shift, smallest_values

END_COUNT, NEAR_COUNT = 10, 5
# A diagonal entry this many times smaller than the largest one of its column still serves as a pivot.
PIVOT_THRESHOLD = 0.01
# Cells along a side of the large P2 pairs: n = 39,601 and 100,489.
P2_CELLS, P2_CELLS_LONG = 100, 159
SINGULAR_MASS = ("bcsst01", "bcsst03", "bcsst04")


def ours(A: Any, B: Any, wanted: Wanted) -> Side:
    def run(_: float) -> sm.Solution:
        return sm.solve(A, B, wanted.k, tol=TOLERANCE, rng=0, **wanted.options())

    return Side("ours", run, by_tol=False)


def start(n: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal(n)


def inverted(name: str, A: Any, B: Any, k: int, sigma: float, factor: Callable[[Any], LinearOperator]) -> Side:
    """Shift-invert `eigsh` with a factorisation of A − σB."""
    v0 = start(A.shape[0])

    def run(tol: float) -> Any:
        shifted = A if sigma == 0 else A - sigma * (sp.eye_array(A.shape[0]) if B is None else B)
        return eigsh(A, k, M=B, sigma=sigma, which="LM", OPinv=factor(shifted), v0=v0, tol=tol)

    return Side(name, run)


def plain_inverted(A: Any, B: Any, k: int, sigma: float) -> Side:
    v0 = start(A.shape[0])
    return Side("eigsh", lambda tol: eigsh(sp.csc_array(A), k, M=B, sigma=sigma, which="LM", v0=v0, tol=tol))


def at_end(name: str, A: Any, B: Any, k: int, which: Any) -> Side:
    """`eigsh` without inversion of A."""
    v0 = start(A.shape[0])
    return Side(name, lambda tol: eigsh(A, k, M=B, which=which, v0=v0, tol=tol))


def smallest(name: str) -> Contest:
    found, wanted = pair(name), Wanted(END_COUNT, "smallest")
    A, B, k, known = found.A, found.B, END_COUNT, smallest_values(name)
    sides = [ours(A, B, wanted)]
    if found.definite:
        sides += [plain_inverted(A, B, k, 0.0), inverted("tuned", A, B, k, 0.0, by_degree)]
        if B is None:
            sides.append(at_end("eigsh SA", A, B, k, "SA"))
    else:
        # a user who knows a lower bound of the spectrum inverts there
        below = float(known[0] - 0.1 * abs(known[0]))
        sides += [at_end("eigsh", A, B, k, "SA"), inverted("tuned", A, B, k, below, by_degree)]
    return Contest(wanted, sides, A, B, known=known)


def largest(name: str) -> Contest:
    found, wanted = pair(name), Wanted(END_COUNT, "largest")
    A, B, k = found.A, found.B, END_COUNT
    v0 = start(A.shape[0])
    sides = [ours(A, B, wanted), at_end("eigsh", A, B, k, "LA")]
    if B is not None:
        sides.append(Side("tuned", lambda tol: eigsh(A, k, M=B, Minv=by_degree(B), which="LA", v0=v0, tol=tol)))
    return Contest(wanted, sides, A, B, known=largest_values(name, k))


def near(name: str) -> Contest:
    found, sigma = pair(name), shift(name)
    A, B, wanted = found.A, found.B, Wanted(NEAR_COUNT, sigma)
    factor = partial(by_degree, pivot=PIVOT_THRESHOLD)
    sides = [
        ours(A, B, wanted),
        plain_inverted(A, B, NEAR_COUNT, sigma),
        inverted("tuned", A, B, NEAR_COUNT, sigma, factor),
    ]
    return Contest(wanted, sides, A, B, known=smallest_values(name))


def rows(long: bool) -> Iterator[Row]:
    """The ten smallest, the ten largest unless B is singular, and the five nearest to a shift."""
    for name in BUILDERS:
        yield Row("sparse", name, "smallest 10", partial(smallest, name))
        if name not in SINGULAR_MASS:
            yield Row("sparse", name, "largest 10", partial(largest, name))
        yield Row("sparse", name, "nearest 5", partial(near, name))


def large_p2(cells: int) -> Contest:
    found = Pair(*sm.gallery.fem_laplacian(2, 2, cells))
    A, B, k, wanted = found.A, found.B, END_COUNT, Wanted(END_COUNT, "smallest")
    sides = [
        ours(A, B, wanted),
        plain_inverted(A, B, k, 0.0),
        inverted("tuned", A, B, k, 0.0, by_degree),
        inverted("CHOLMOD", A, B, k, 0.0, by_cholmod),
    ]
    return Contest(wanted, sides, A, B)


def p2_rows(long: bool) -> Iterator[Row]:
    cells = P2_CELLS_LONG if long else P2_CELLS
    yield Row("p2", f"P2 square n={(2 * cells - 1) ** 2}", "smallest 10", partial(large_p2, cells))
