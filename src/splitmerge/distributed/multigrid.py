"""PETSc's algebraic multigrid (GAMG) as a preconditioner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from petsc4py import PETSc

from ..system.processes import everywhere
from ..typing import Array
from .factor import COMPLEX_BUILD


def gamg(mat: Any, near_null: Array | None) -> Callable[[Array], Array]:
    """One cycle for this matrix; `near_null` are rows of near-nullspace vectors as columns."""
    if near_null is not None:
        mat.setNearNullSpace(_space(mat, np.asarray(near_null)))
    real = not COMPLEX_BUILD or everywhere(not np.iscomplex(mat.getValuesCSR()[2]).any())
    mat.setOption(PETSc.Mat.Option.SYMMETRIC if real else PETSc.Mat.Option.HERMITIAN, True)
    pc = PETSc.PC().create(mat.getComm())
    pc.setOperators(mat)
    pc.setType("gamg")
    if not real:
        # GAMG restricts with Pᵀ, which is Pᴴ for plain aggregates only: smoothed ones have complex entries
        pc.setGAMGSmooths(0)
    pc.setUp()
    right, left = mat.createVecs()

    def cycle(b: Array) -> Array:
        w = np.empty(b.shape, np.dtype(PETSc.ScalarType))
        right.placeArray(np.ascontiguousarray(b, w.dtype))
        left.placeArray(w)
        try:
            pc.apply(right, left)
        finally:
            right.resetArray()
            left.resetArray()
        return w

    return cycle


def _space(mat: Any, columns: Array) -> Any:
    """The span of these columns, which belong to the rows of this process."""
    rows = mat.getLocalSize()[0]
    if columns.ndim != 2 or columns.shape[0] != rows:
        raise ValueError(f"near_null has shape {columns.shape}; give an array with the {rows} rows of this process")
    if not everywhere(not np.iscomplex(columns).any()):
        raise ValueError("near_null has complex entries, of which PETSc's GAMG takes the real parts; give real vectors")
    vectors = []
    for column in columns.T:
        vector = mat.createVecRight()
        vector.setArray(column)
        vectors.append(vector)
    for i, vector in enumerate(vectors):
        for other in vectors[:i]:
            vector.axpy(-vector.dot(other), other)
        vector.normalize()
    return PETSc.NullSpace().create(constant=False, vectors=vectors, comm=mat.getComm())
