"""SuperLU without pivoting, in an order of METIS (pymetis) or of minimum degree: SciPy always has it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spilu, splu

from ..typing import Array
from .ordering import graph_of, nested_dissection
from .protocol import Triangular

# From this size on, nested dissection makes up for its own time by less fill.
DISSECTED = 3000


class SuperLU(Triangular):
    """SuperLU, after an order `first` of METIS if that is given."""

    def __init__(self, lu: Any, first: Array | None, diagonal: Array) -> None:
        self.lu, self.first, self.diagonal = lu, first, diagonal
        self.name = f"SuperLU in an order of {'minimum degree' if first is None else 'nested dissection'}"
        inner = np.argsort(lu.perm_c)
        self.order = inner if first is None else first[inner]

    @property
    def L(self) -> Any:
        """The lower factor."""
        return self.lu.L

    @cached_property
    def pivots(self) -> Array:
        """The diagonal of D."""
        return np.asarray(self.lu.U.diagonal().real)

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        if self.first is None:
            return np.asarray(self.lu.solve(b))
        w = np.empty_like(b)
        w[self.first] = self.lu.solve(b[self.first])
        return w


def symmetric_lu(B: Any, first: Array | None = None, **incomplete: float) -> SuperLU | None:
    """SuperLU with one order for rows and columns, or None when a zero pivot stops it or makes it leave that order.

    `first` is a good order that is known already, of a matrix with the same pattern. With `drop_tol` and
    `fill_factor` the factorisation is incomplete.
    """
    if first is None and not incomplete and B.shape[0] >= DISSECTED:
        first = nested_dissection(graph_of(B))
    matrix = sp.csc_matrix(B, copy=True) if first is None else sp.csc_matrix(sp.csr_array(B)[first][:, first])
    factor: Any = spilu if incomplete else splu
    try:
        lu = factor(
            matrix,
            permc_spec="MMD_AT_PLUS_A" if first is None else "NATURAL",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
            **incomplete,
        )
    except RuntimeError as error:
        if "singular" not in str(error):
            raise
        return None
    return SuperLU(lu, first, B.diagonal().real) if (lu.perm_r == lu.perm_c).all() else None
