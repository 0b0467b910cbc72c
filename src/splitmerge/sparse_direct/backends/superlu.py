"""SciPy's SuperLU without pivoting, with METIS (pymetis) or minimum degree ordering; always available."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import structural_rank
from scipy.sparse.linalg import spilu, splu

from ...linalg import csr
from ...typing import Array
from ..fill.ordering import graph_of, narrow_profile, nested_dissection
from ..protocol import Triangular

# Rows from which the lower fill of nested dissection outweighs the time of the ordering, and from which it pays to look
# for a narrow profile.
NESTED_DISSECTION_MIN_ROWS, NARROW_MIN_ROWS = 30_000, 3000
# Columns that SuperLU updates together. Its own choice of 20 takes a tenth longer, a third where factors are sparse.
PANEL_COLUMNS = 4


class SuperLU(Triangular):
    """SuperLU factors of K, permuted beforehand by the METIS ordering `first` if given."""

    def __init__(self, lu: Any, first: Array | None, diagonal: Array, *, natural: bool = False) -> None:
        self.lu, self.first, self.diagonal = lu, first, diagonal
        kind = "nested dissection" if first is not None else "natural order" if natural else "minimum degree"
        self.name = f"SuperLU ({kind})"

    @cached_property
    def order(self) -> Array:  # type: ignore[override]
        """The rows of K in elimination order."""
        inner = np.empty_like(self.lu.perm_c)
        inner[self.lu.perm_c] = np.arange(inner.size, dtype=inner.dtype)
        return np.asarray(inner if self.first is None else self.first[inner])

    @property
    def nonzeros(self) -> int:
        """The number of nonzeros of L."""
        return int(self.lu.nnz) // 2

    @property
    def L(self) -> Any:
        """The unit lower triangular factor."""
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
    """SuperLU of a Hermitian CSR array, symmetrically permuted; None if a zero pivot stops it or forces a row exchange.

    `first` is a known fill-reducing ordering of a matrix with the same pattern. With `drop_tol` and `fill_factor` the
    factorisation is incomplete.
    """
    if _is_structurally_singular(B):
        return None
    narrow = False
    if first is None and not incomplete:
        narrow, first = _ordering(B)
    matrix = csr.transposed(B) if first is None else csr.permuted(B, first)
    factor: Any = spilu if incomplete else splu
    try:
        lu = factor(
            matrix,
            permc_spec="MMD_AT_PLUS_A" if first is None and not narrow else "NATURAL",
            diag_pivot_thresh=0.0,
            panel_size=PANEL_COLUMNS,
            options={"SymmetricMode": True},
            **incomplete,
        )
    except RuntimeError as error:
        if not _broke_down(error):
            raise
        return None
    return SuperLU(lu, first, B.diagonal().real, natural=narrow) if (lu.perm_r == lu.perm_c).all() else None


def _ordering(B: Any) -> tuple[bool, Array | None]:
    """Is the order of B good as it is, and otherwise the nested dissection ordering, for large matrices."""
    rows = B.shape[0]
    if rows < min(NARROW_MIN_ROWS, NESTED_DISSECTION_MIN_ROWS):
        return False, None
    if narrow_profile(B) is not None:
        return True, None
    return False, nested_dissection(graph_of(B)) if rows >= NESTED_DISSECTION_MIN_ROWS else None


def _is_structurally_singular(K: Any) -> bool:
    """Is K singular whatever the values of its entries are? SuperLU would read beyond its arrays.

    With a diagonal without zeros it is not.
    """
    return not K.diagonal().all() and int(structural_rank(K)) < K.shape[0]


def _broke_down(error: RuntimeError) -> bool:
    """Did SuperLU meet a zero pivot? Within a supernode it calls that a failure to factorise."""
    return any(words in str(error) for words in ("singular", "failed to factorize"))


def pivoted_lu(K: Any) -> Any:
    """SuperLU with row exchanges; ZeroDivisionError where K is exactly singular."""
    if _is_structurally_singular(K):
        raise ZeroDivisionError
    try:
        return splu(sp.csc_matrix(K))
    except RuntimeError as error:
        if not _broke_down(error):
            raise
        raise ZeroDivisionError from None
