"""Selection of the sparse direct backend for a matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from . import costs
from .backends import cholmod, mumps, pardiso, qdldl
from .backends.superlu import symmetric_lu
from .fill.prediction import predicted_fill
from .protocol import Factors, Triangular


def definite_factors(B: Any, like: Factors | None = None) -> Factors | None:
    """Factorise an expectedly positive definite B by the fastest installed backend; None if a pivot is zero.

    If B is not clearly positive definite, the result is `Triangular`, so that the caller can check its pivots. `like`
    may be factors of a matrix with the same pattern.
    """
    makers: dict[str, Callable[[Any], Factors | None]] = {
        "CHOLMOD": cholmod.definite,
        "PARDISO": pardiso.definite,
        "MUMPS": mumps.definite,
        "QDLDL": partial(qdldl.unpivoted, like=like),
    }
    make = makers.get(costs.usual(B, lambda: predicted_fill(B).flops))
    factors = None if make is None else make(B)
    return factors or symmetric_lu(B)


def triangular_factors(B: Any) -> Triangular | None:
    """Factorise B by a backend that gives access to L and D."""
    factors = cholmod.definite(B) if B.dtype.char in costs.COSTS["CHOLMOD"].kinds else None
    return factors or symmetric_lu(B)


def one_for_all(K: Any) -> bool:
    """Are definite and indefinite matrices of this kind factorised by the same backend, which shows the inertia?"""
    return costs.usual(K, lambda: math.inf) in costs.UNPIVOTED


def indefinite_factors(K: Any, like: Factors | None = None, *, reorder: bool = False) -> Iterator[Factors]:
    """Factorisations of an indefinite K, best first: backends with pivoting, then those without.

    `like` are factors of a matrix with about the same sparsity pattern, whose ordering is reused unless `reorder`.
    """
    for name, make in (("PARDISO", pardiso.indefinite), ("MUMPS", mumps.indefinite)):
        if K.shape[0] >= costs.EXTERNAL_BACKEND_MIN_ROWS and K.dtype.char in costs.COSTS[name].kinds:
            factors: Factors | None = make(K)
            if factors is not None:
                yield factors
    if isinstance(like, qdldl.QDLDL) or costs.unpivoted(K) == "QDLDL":
        # it reuses the ordering if the pattern is the same
        sparse = qdldl.unpivoted(K, like)
        if sparse is not None:
            yield sparse
    lu = symmetric_lu(K, like.order if isinstance(like, Triangular) and not reorder else None)
    if lu is not None:
        yield lu
