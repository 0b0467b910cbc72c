"""The direct route: every pair of a small or densely wanted problem by LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh, get_blas_funcs, get_lapack_funcs

from .accelerated import Wanted
from .adapt import as_dense
from .factor import DenseFactor
from .kernels import Array
from .pencil import Pencil


def direct(pencil: Pencil, k: int, wanted: Wanted) -> tuple[Array, Array]:
    """The k most wanted values and vectors of a dense pencil, best first, computed in double precision."""
    C, U = _transformed(pencil)
    n = C.shape[0]
    if wanted is Wanted.LARGEST and k < n:
        values, Y = eigh(C, subset_by_index=[n - k, n - 1], driver="evr", overwrite_a=True, check_finite=False)
    else:
        values, Y = eigh(C, driver="evd", overwrite_a=True, check_finite=False)
    chosen = wanted.order(values)[:k]
    Y = np.asfortranarray(Y[:, chosen])
    if U is not None:
        (trsm,) = get_blas_funcs(("trsm",), dtype=Y.dtype)
        Y = trsm(1.0, U, Y, overwrite_b=1)
    return values[chosen], np.asarray(Y)


def _transformed(pencil: Pencil) -> tuple[Array, Array | None]:
    """C = U⁻ᴴAU⁻¹ for B = UᴴU (its lower triangle, in an array of our own), and U."""
    double = np.result_type(pencil.dtype, np.float64)
    A = np.array(as_dense(pencil.A).matrix, dtype=double, order="F")
    if pencil.B is None:
        return A, None
    solver = pencil.solver
    assert isinstance(solver, DenseFactor)
    U = solver.U if solver.U.dtype == double else DenseFactor(pencil.B.matrix.astype(double)).U
    reduce_: Any = get_lapack_funcs("hegst" if double.kind == "c" else "sygst", dtype=double)
    C, _ = reduce_(A, U, lower=0, overwrite_a=1)
    # eigh reads the lower triangle
    return np.asarray(C.conj().T), U
