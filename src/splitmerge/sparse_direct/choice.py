"""The factorisation of a matrix by the fastest backend that is installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import cholmod, costs, mumps, pardiso
from .prediction import fill
from .protocol import Factors, Triangular
from .superlu import symmetric_lu


def definite_factors(B: Any) -> Factors | None:
    """The fastest factorisation for a B that should be positive definite; None when a zero pivot stops it.

    A B that is not positive definite, or nearly so, comes back `Triangular`, with pivots that show it.
    """
    makers = {"CHOLMOD": cholmod.definite, "PARDISO": pardiso.definite, "MUMPS": mumps.definite}
    make = makers.get(costs.usual(B, lambda: fill(B).flops))
    factors: Factors | None = None if make is None else make(B)
    return factors or symmetric_lu(B)


def triangular_factors(B: Any) -> Triangular | None:
    """The same for a B of which the factors themselves are wanted."""
    factors = cholmod.definite(B) if B.dtype.char in costs.COSTS["CHOLMOD"].kinds else None
    return factors or symmetric_lu(B)


def indefinite_factors(K: Any, like: Factors | None = None) -> Iterator[Factors]:
    """Factorisations of an indefinite K, best first: those that pivot, then SuperLU, which does not.

    `like` are factors of a matrix with about the same pattern, whose order will do.
    """
    for name, make in (("PARDISO", pardiso.indefinite), ("MUMPS", mumps.indefinite)):
        if K.shape[0] >= costs.LARGE and K.dtype.char in costs.COSTS[name].kinds:
            factors: Factors | None = make(K)
            if factors is not None:
                yield factors
    lu = symmetric_lu(K, like.order if isinstance(like, Triangular) else None)
    if lu is not None:
        yield lu
