"""A distributed LDLᴴ factorisation with pivoting by MUMPS, and its inertia count."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from petsc4py import PETSc

from ..errors import NotFactorised
from ..linalg.reductions import norm, random_vector
from ..system.memory import free_memory
from ..typing import Array

COMPLEX_BUILD = np.dtype(PETSc.ScalarType).kind == "c"
NO_COUNTS = "this PETSc was built for complex numbers, for which MUMPS has no LDLᴴ factorisation with an inertia count"
# Percentages by which MUMPS's estimate of its workspace is increased, one attempt after the other.
WORKSPACE_PERCENTAGES = (35, 100, 300)
# INFOG(1) of MUMPS: the workspace was too small; the allowed or the available memory does not suffice.
WORKSPACE_TOO_SMALL, TOO_LITTLE_MEMORY = (-8, -9, -11, -12, -14, -15, -20), (-13, -19)
SINGULAR = (-6, -10)
# The factors may take this fraction of the free memory of a machine.
MEMORY_FRACTION = 0.8
# Bytes in which MUMPS counts.
MEGABYTE = 10**6
# The largest number of right-hand sides in one solve, and the number of block widths whose work matrices are kept.
MAX_COLUMNS, KEPT_WIDTHS = 8, 2
# Units of rounding by which a solve with a random right-hand side may miss it before it is refined.
ACCURATE_UNITS = 100


class Share(NamedTuple):
    """The free bytes of a machine, and how many of all processes share them."""

    free: float
    sharing: int
    processes: int

    @property
    def allowed(self) -> float:
        """The bytes that each process may use."""
        return MEMORY_FRACTION * self.free / self.sharing

    @property
    def megabytes(self) -> int:
        """The same for MUMPS; 0, which is no limit, if it is not known how much is free."""
        return max(int(self.allowed / MEGABYTE), 1) if math.isfinite(self.free) else 0


class Estimate(NamedTuple):
    """The bytes that a factorisation takes on all processes and on the one with most, and what each may use."""

    total: float
    most: float
    share: Share

    def text(self) -> str:
        """What is needed, and what is allowed."""
        share, several = self.share, self.share.processes > 1
        takes = "takes" if self.most > share.allowed else "takes more than"
        needed = f"a factorisation by MUMPS {takes} {_gib(self.total)}"
        if several:
            needed += f" in all and {_gib(self.most)} on one of {share.processes} processes"
        if not math.isfinite(share.free):
            return f"{needed}, which could not be allocated"
        user, divided = " by each" if several else "", f", divided by {share.sharing}" if share.sharing > 1 else ""
        return (
            f"{needed}, and {_gib(share.allowed)} may be used{user}: {100 * MEMORY_FRACTION:.0f} % of the "
            f"{_gib(share.free)} that are free{divided}"
        )


def _gib(count: float) -> str:
    return f"{count / 2**30:.3g} GiB"


class MumpsFactor:
    """K = L D Lᴴ; `negative` is the number of negative eigenvalues of K. K belongs to the factor from now on."""

    takes_blocks = True
    name = "MUMPS"
    # with pivoting it is rounding
    backward_error = 1.0

    def __init__(self, K: Any) -> None:
        if COMPLEX_BUILD:
            raise NotFactorised(
                f"{NO_COUNTS}; use a build for real numbers, or which='largest', or which='smallest' with LOBPCG"
            )
        self.K = K
        K.setOption(PETSc.Mat.Option.SYMMETRIC, True)
        self.pc, self.estimate = _factorised(K, _share(K.getComm()))
        self.negative, zero, _ = self.pc.getFactorMatrix().getInertia()
        if zero:
            raise ZeroDivisionError
        self.right, self.left = K.createVecs()
        # right-hand sides and solutions, by their number
        self.blocks: dict[int, tuple[Any, Any]] = {}
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
        return _by_columns(lambda column: self._applied(self.K.mult, column), x)

    def _block(self, count: int) -> tuple[Any, Any]:
        """Work matrices for this number of columns."""
        if count not in self.blocks:
            if len(self.blocks) == KEPT_WIDTHS:
                for mat in self.blocks.pop(next(iter(self.blocks))):
                    mat.destroy()
            (rows, n), comm = self.K.getSizes()[0], self.K.getComm()
            mats = [PETSc.Mat().createDense(((rows, n), (None, count)), comm=comm) for _ in range(2)]
            for mat in mats:
                mat.setUp()
                mat.assemble()
            self.blocks[count] = mats[0], mats[1]
        return self.blocks[count]

    def _solved_block(self, b: Array) -> Array:
        """The columns of a block together, which takes less communication and reads the factors fewer times."""
        w = np.empty(b.shape, b.dtype, order="F")
        for first in range(0, b.shape[1], MAX_COLUMNS):
            some = slice(first, first + MAX_COLUMNS)
            right, left = self._block(b[:, some].shape[1])
            right.getDenseArray()[:] = b[:, some]
            self.pc.getFactorMatrix().matSolve(right, left)
            w[:, some] = left.getDenseArray()
        return w

    def _solved(self, b: Array) -> Array:
        try:
            return self._solved_block(b) if b.ndim == 2 else self._applied(self.pc.apply, b)
        except PETSc.Error:
            # the workspace of a solve is allocated by each of them
            factor = self.pc.getFactorMatrix()
            if factor.getMumpsInfog(1) in TOO_LITTLE_MEMORY:
                raise _failure(factor, self.estimate) from None
            raise

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        b = np.ascontiguousarray(b) if b.ndim == 1 else b
        w = self._solved(b)
        return w + self._solved(b - self._times(w)) if self.refined else w


def _by_columns(function: Callable[[Array], Array], x: Array) -> Array:
    """The function of a vector, or of each column of a block."""
    if x.ndim == 1:
        return function(x)
    return np.asfortranarray(np.column_stack([function(np.ascontiguousarray(column)) for column in x.T]))


def _factorised(K: Any, share: Share) -> tuple[Any, Estimate]:
    """The factorisation as a PETSc preconditioner, and what MUMPS has estimated at first."""
    estimate = pc = None
    for percentage in WORKSPACE_PERCENTAGES:
        if pc is not None:
            # its memory is needed now
            pc.destroy()
        pc = _attempt(K, percentage, share)
        factor = pc.getFactorMatrix()
        if estimate is None:
            # further ones have the larger workspace in them
            estimate = Estimate(factor.getMumpsInfog(17) * MEGABYTE, factor.getMumpsInfog(16) * MEGABYTE, share)
        status = factor.getMumpsInfog(1)
        if status >= 0:
            return pc, estimate
        if status not in WORKSPACE_TOO_SMALL:
            break
    assert estimate is not None
    raise _failure(factor, estimate)


def _attempt(K: Any, percentage: int, share: Share) -> Any:
    """A factorisation, which may have failed."""
    pc = PETSc.PC().create(K.getComm())
    pc.setOperators(K)
    pc.setType("cholesky")
    pc.setFactorSolverType("mumps")
    pc.setFactorSetUpSolverType()
    factor = pc.getFactorMatrix()
    # the whole inertia (not without that of a root that ScaLAPACK factorises), zero pivots, workspace, memory
    for option, value in ((13, 1), (24, 1), (14, percentage), (23, share.megabytes)):
        factor.setMumpsIcntl(option, value)
    pc.setUp()
    return pc


def _share(comm: Any) -> Share:
    """The smallest share of a process, so that all of them are given the same."""
    from mpi4py import MPI

    everyone = comm.tompi4py()
    machine = everyone.Split_type(MPI.COMM_TYPE_SHARED)
    shares = everyone.allgather((free_memory(), machine.size))
    machine.Free()
    return min((Share(free, sharing, everyone.size) for free, sharing in shares), key=lambda share: share.allowed)


def _failure(factor: Any, estimate: Estimate) -> Exception:
    """What the status of MUMPS means."""
    status = factor.getMumpsInfog(1)
    if status in SINGULAR:
        return ZeroDivisionError()
    if status in TOO_LITTLE_MEMORY or status in WORKSPACE_TOO_SMALL:
        return MemoryError(f"{estimate.text()}; use more machines, or which='smallest' with MultiGrid()")
    return RuntimeError(f"MUMPS failed with INFOG(1) = {status} and INFOG(2) = {factor.getMumpsInfog(2)}")
