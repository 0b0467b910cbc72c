"""A distributed LDLᴴ factorisation with pivoting by MUMPS, and its inertia count."""

from __future__ import annotations

from typing import Any

import numpy as np
from petsc4py import PETSc

from ..linalg.reductions import norm, random_vector
from ..system.memory import free_memory
from ..system.processes import current
from ..typing import Array

# Percentages by which MUMPS's estimate of its workspace is increased, one attempt after the other.
WORKSPACE_PERCENTAGES = (35, 100, 300)
# INFOG(1) of MUMPS: the workspace was too small; the allowed or the available memory does not suffice.
WORKSPACE_TOO_SMALL, TOO_LITTLE_MEMORY = (-8, -9, -11, -12, -14, -15, -20), (-13, -19)
SINGULAR = (-6, -10)
# The factors may take this fraction of the free memory of a machine.
MEMORY_FRACTION = 0.8
# Units of rounding by which a solve with a random right-hand side may miss it before it is refined.
ACCURATE_UNITS = 100


class MumpsFactor:
    """K = L D Lᴴ; `negative` is the number of negative eigenvalues of K. K belongs to the factor from now on."""

    takes_blocks = False
    name = "MUMPS"
    # with pivoting it is rounding
    backward_error = 1.0

    def __init__(self, K: Any) -> None:
        self.K = K
        K.setOption(PETSc.Mat.Option.SYMMETRIC, True)
        for percentage in WORKSPACE_PERCENTAGES:
            self.pc, factor = _factorised(K, percentage)
            status = factor.getMumpsInfog(1)
            if status not in WORKSPACE_TOO_SMALL:
                break
        if status < 0:
            _refuse(status, factor)
        self.negative, zero, _ = factor.getInertia()
        if zero:
            raise ZeroDivisionError
        self.right, self.left = K.createVecs()
        self.refined = False
        self.refined = not self._is_accurate()

    def _is_accurate(self) -> bool:
        """Does a solve reach its right-hand side without refinement?"""
        x = random_vector(self.K.getSize()[0], np.dtype(PETSc.ScalarType), np.random.default_rng(0))
        b = self._times(x)
        return norm(b - self._times(self.solve(b))) <= ACCURATE_UNITS * float(np.finfo(b.dtype).eps) * norm(b)

    def _applied(self, function: Any, b: Array) -> Array:
        w = np.empty_like(b)
        self.right.placeArray(b)
        self.left.placeArray(w)
        try:
            function(self.right, self.left)
        finally:
            self.right.resetArray()
            self.left.resetArray()
        return w

    def _times(self, x: Array) -> Array:
        return self._applied(self.K.mult, x)

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        b = np.ascontiguousarray(b)
        w = self._applied(self.pc.apply, b)
        return w + self._applied(self.pc.apply, b - self._times(w)) if self.refined else w


def _factorised(K: Any, percentage: int) -> tuple[Any, Any]:
    """The factorisation as a PETSc preconditioner, and the factor itself."""
    pc = PETSc.PC().create(K.getComm())
    pc.setOperators(K)
    pc.setType("cholesky")
    pc.setFactorSolverType("mumps")
    pc.setFactorSetUpSolverType()
    factor = pc.getFactorMatrix()
    # the whole inertia (not without that of a root that ScaLAPACK factorises), zero pivots, workspace, memory
    for option, value in ((13, 1), (24, 1), (14, percentage), (23, _megabytes(K.getComm()))):
        factor.setMumpsIcntl(option, value)
    pc.setUp()
    return pc, factor


def _megabytes(comm: Any) -> int:
    """What each process may use: its share of the free memory of the machine; 0 if that is not known."""
    free = free_memory()
    if not np.isfinite(free):
        return 0
    machine = comm.tompi4py().Split_type(_shared_memory())
    share = max(int(MEMORY_FRACTION * free / machine.size / 2**20), 1)
    machine.Free()
    return share


def _shared_memory() -> int:
    from mpi4py import MPI

    return int(MPI.COMM_TYPE_SHARED)


def _refuse(status: int, factor: Any) -> None:
    """Raise what the status of MUMPS means."""
    if status in SINGULAR:
        raise ZeroDivisionError
    if status in TOO_LITTLE_MEMORY or status in WORKSPACE_TOO_SMALL:
        processes = current()
        count = 1 if processes is None else getattr(processes, "size", 1)
        raise MemoryError(
            f"the factorisation of A − σB takes {factor.getMumpsInfog(17) / 1024:.2g} GiB in all and up to "
            f"{factor.getMumpsInfog(16) / 1024:.2g} GiB on one of {count} processes, and "
            f"{free_memory() / 2**30:.2g} GiB are free; use more machines, or which='smallest' with MultiGrid()"
        )
    raise RuntimeError(f"MUMPS failed with INFOG(1) = {status} and INFOG(2) = {factor.getMumpsInfog(2)}")
