"""Matrices of one process distributed over all of them by rows, and gathered again."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from petsc4py import PETSc

from ..problem.adapt import adapt, as_pair
from ..typing import Array


def scattered(A: Any, B: Any, comm: Any) -> tuple[Any, Any]:
    """The matrices of process 0 as PETSc matrices in PETSc's usual layout; B may be None."""
    comm = comm if hasattr(comm, "bcast") else comm.tompi4py()
    matrices: tuple[Any, Any] = (None, None)
    error = None
    if comm.rank == 0:
        try:
            matrices = _pair(A, B)
        except ValueError as failure:
            error = failure
    error = comm.bcast(error)
    if error is not None:
        raise error
    return _sent(matrices[0], comm), _sent(matrices[1], comm)


def _pair(A: Any, B: Any) -> tuple[Any, Any]:
    """A and B as CSR arrays, checked as on one process."""
    A, B = as_pair(A, B)
    A, B = _checked(A, "A"), None if B is None else _checked(B, "B")
    if B is not None and A.shape != B.shape:
        raise ValueError(f"A has shape {A.shape} but B {B.shape}; give a pair of one size")
    return A, B


def _checked(M: Any, name: str) -> Any:
    """M as a CSR array."""
    matrix = adapt(M, name).matrix
    if matrix is None:
        raise ValueError(f"{name} is an operator of process 0; give a PETSc shell matrix, or a matrix with entries")
    given: Any = M if sp.issparse(M) else np.asarray(M)
    return sp.csr_array(given)


def _sent(M: Any, comm: Any) -> Any:
    """A PETSc matrix from the CSR array M of process 0, whose rows are sent to where they belong."""
    n = comm.bcast(None if M is None else M.shape[0])
    if n is None:
        return None
    own_range = ownership(n, comm)
    ends = comm.gather(own_range)
    if comm.rank == 0:
        for rank, (first, last) in enumerate(ends[1:], start=1):
            comm.send(_rows(M, first, last), dest=rank)
        own = _rows(M, *ends[0])
    else:
        own = comm.recv(source=0)
    return from_rows(own, own_range[1] - own_range[0], n, comm)


def ownership(n: int, comm: Any) -> tuple[int, int]:
    """The first row of this process and the one after its last, in PETSc's usual layout of n rows."""
    share, more = divmod(n, comm.size)
    first = share * comm.rank + min(comm.rank, more)
    return first, first + share + (comm.rank < more)


def _rows(M: Any, first: int, last: int) -> tuple[Array, Array, Array]:
    part = M[first:last]
    return part.indptr, part.indices, part.data


def from_rows(rows: tuple[Array, Array, Array], count: int, n: int, comm: Any) -> Any:
    """The PETSc matrix of which this process has these rows (indptr, indices, data)."""
    indptr, indices, data = rows
    if data.dtype.kind == "c" and np.dtype(PETSc.ScalarType).kind != "c":
        raise ValueError("the matrix is complex, but this PETSc was built for real numbers; use a complex build")
    parts = indptr.astype(PETSc.IntType), indices.astype(PETSc.IntType), data.astype(PETSc.ScalarType)
    return PETSc.Mat().createAIJ(((count, n), (count, n)), csr=parts, comm=comm)


def gathered(mat: Any) -> Any:
    """A small PETSc matrix as a CSR array on every process."""
    usual = mat if mat.getType().endswith("aij") and "b" not in mat.getType() else mat.convert("aij")
    indptr, indices, data = usual.getValuesCSR()
    parts = mat.getComm().tompi4py().allgather((indptr, indices, data))
    n = mat.getSize()[0]
    blocks = [sp.csr_array((data, indices, indptr), shape=(indptr.size - 1, n)) for indptr, indices, data in parts]
    return sp.csr_array(sp.vstack(blocks, format="csr"))
