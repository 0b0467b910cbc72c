"""PETSc matrices as operators on the rows of this process."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from petsc4py import PETSc

from ..linalg.reductions import largest, norm, random_vector, vdot
from ..problem.adapt import check_values
from ..problem.operator import Operator, safe_scaling
from ..problem.symmetry import tolerable
from ..system.processes import current, everywhere
from ..typing import Array
from .factor import COMPLEX_BUILD, MumpsFactor
from .multigrid import gamg

DTYPE = np.dtype(PETSc.ScalarType)
# The formats of which one triangle is stored, and those that are converted to the usual one.
SYMMETRIC_FORMATS, BLOCK_FORMATS = ("seqsbaij", "mpisbaij"), ("seqbaij", "mpibaij")
FORMATS = ("seqaij", "mpiaij", *BLOCK_FORMATS, *SYMMETRIC_FORMATS)
ANOTHER_PATTERN = PETSc.Mat.Structure.DIFFERENT_NONZERO_PATTERN


class PetscEntries:
    """`factor` times an assembled PETSc matrix, which is never written to."""

    def __init__(self, mat: Any, factor: float = 1.0) -> None:
        self.mat, self.factor = mat, factor

    @cached_property
    def norm(self) -> float:
        """The 1-norm."""
        return abs(self.factor) * float(self.mat.norm(PETSc.NormType.NORM_INFINITY))

    @cached_property
    def longest(self) -> int:
        """The largest number of entries in a row."""
        return int(max(largest(np.diff(self.mat.getValuesCSR()[0])), 0))

    def negated(self) -> PetscEntries:
        """The entries of −M."""
        return PetscEntries(self.mat, -self.factor)

    def diagonal(self) -> Array:
        """The rows of the diagonal that this process holds."""
        return np.asarray(self.factor * self.mat.getDiagonal().getArray())

    def own(self) -> Any:
        """A matrix of its own with the factor applied."""
        copy = self.mat.copy()
        if self.factor != 1:
            copy.scale(self.factor)
        near_null = self.mat.getNearNullSpace()
        if near_null.handle:
            copy.setNearNullSpace(near_null)
        return copy

    def congruent(self, d: Array) -> Operator:
        """D M D for the diagonal d of D by row, rescaled if it is near overflow."""
        scaled, weights = self.own(), self.mat.createVecLeft()
        weights.setArray(d)
        scaled.diagonalScale(weights, weights)
        size = largest_entry(scaled)
        scale = safe_scaling(size, DTYPE, 1)
        if scale != 1:
            scaled.scale(scale)
        return operator_of(PetscEntries(scaled), size * scale, scale)

    def plus(self, c: float, other: Operator | None, size: float) -> Operator:
        """M + c B, where B = None is the identity; its largest entry counts as `size`."""
        total = self.own()
        if other is None:
            total.shift(c)
        else:
            entries: Any = other.entries
            total.axpy(c * entries.factor, entries.mat, structure=ANOTHER_PATTERN)
        return operator_of(PetscEntries(total), size, 1.0)

    def factorised(self) -> MumpsFactor:
        """The factors of an indefinite M, with their inertia; ZeroDivisionError where it is singular."""
        # earlier factors take memory until then
        free_garbage(self.mat.getComm())
        return MumpsFactor(self.own())

    def multigrid(self, near_null: Array | None) -> Callable[[Array], Array]:
        """A cycle of GAMG."""
        return gamg(self.own(), near_null)


def free_garbage(comm: Any) -> None:
    """Free PETSc objects that Python has dropped, which all processes must do together: petsc4py only lists them."""
    if hasattr(PETSc, "garbage_cleanup"):
        PETSc.garbage_cleanup(comm)


def largest_entry(mat: Any) -> float:
    """max |Mᵢⱼ|; NaN or infinity if M has such an entry."""
    values = mat.getValuesCSR()[2]
    # the largest over processes is not defined for NaN
    return largest(np.abs(values)) if everywhere(bool(np.isfinite(values).all())) else math.nan


def products_of(mat: Any, factor: float = 1.0) -> Callable[[Array], Array]:
    """x ↦ `factor` M x on the rows of this process, without a copy."""
    right, left = mat.createVecs()
    rows = mat.getLocalSize()[0]

    def times(x: Array) -> Array:
        y = np.empty(rows, DTYPE)
        right.placeArray(np.ascontiguousarray(x, DTYPE))
        left.placeArray(y)
        try:
            mat.mult(right, left)
        finally:
            right.resetArray()
            left.resetArray()
        return np.multiply(y, factor, out=y) if factor != 1 else y

    return times


def operator_of(entries: PetscEntries, size: float, scale: float) -> Operator:
    """The operator with these entries, the largest of which is `size`."""
    mat = entries.mat
    times = products_of(mat, entries.factor)
    n, rows = mat.getSize()[0], mat.getLocalSize()[0]
    return Operator("distributed", n, DTYPE, times, _columns(times), None, size, scale, _no_recast, rows, entries)


def _no_recast(dtype: np.dtype[Any]) -> Operator:
    raise ValueError(f"PETSc's matrices are of dtype {DTYPE}, not {dtype}; give A and B of the same kind")


def _columns(times: Callable[[Array], Array]) -> Callable[[Array], Array]:
    def times_block(X: Array) -> Array:
        product = np.empty(X.shape, DTYPE, order="F")
        for column, x in zip(product.T, X.T, strict=True):
            column[:] = times(x)
        return product

    return times_block


def adapt(mat: Any, name: str) -> Operator:
    """Validate a PETSc matrix and return it as an `Operator`; messages refer to the argument as `name`."""
    rows, columns = mat.getSize()
    if rows != columns or rows <= 0:
        raise ValueError(f"{name} has shape {(rows, columns)}; a square matrix is needed")
    if mat.getLocalSize()[0] != mat.getLocalSize()[1]:
        raise ValueError(f"the rows and columns of {name} are distributed in different ways; use one layout for both")
    if not mat.isAssembled():
        raise ValueError(f"{name} is not assembled; call assemble() first")
    kind = mat.getType()
    if kind not in FORMATS:
        return _adapt_shell(mat, name)
    mat = mat if kind.endswith("qaij") or kind == "mpiaij" else mat.convert("aij")
    size = largest_entry(mat)
    # one triangle of a complex matrix may stand for Mᵀ = M
    checks = math.isfinite(size) and (COMPLEX_BUILD or kind not in SYMMETRIC_FORMATS)
    asymmetry = _asymmetry(mat) if checks and not _is_symmetric(mat, tolerable(size, DTYPE)) else 0.0
    check_values(size, asymmetry, DTYPE, name)
    scale = safe_scaling(size, DTYPE, 1)
    return operator_of(PetscEntries(mat, scale), size * scale, scale)


def _is_symmetric(mat: Any, tol: float) -> bool:
    """Is a real M symmetric? PETSc does not know whether a complex one is Hermitian in every format."""
    # of several processes, each knows about its own rows
    return not COMPLEX_BUILD and everywhere(bool(mat.isSymmetric(tol)))


def _asymmetry(mat: Any) -> float:
    """max |M − Mᴴ|."""
    mirror = mat.transpose(PETSc.Mat())
    if COMPLEX_BUILD:
        mirror.conjugate()
    mirror.axpy(-1.0, mat, structure=ANOTHER_PATTERN)
    return largest_entry(mirror)


def _adapt_shell(mat: Any, name: str) -> Operator:
    """A matrix that is known by its products alone, tried on two random vectors."""
    processes = current()
    assert processes is not None
    n, times = mat.getSize()[0], products_of(mat)
    u, v = (random_vector(n, DTYPE, np.random.default_rng(seed)) for seed in (0, 1))
    Mu, Mv = times(u), times(v)
    size = max(largest(np.abs(Mu)), largest(np.abs(Mv)))
    asymmetry = 0.0
    if size > 0 and np.isfinite(size):
        difference = vdot(v, Mu / size) - np.conj(vdot(u, Mv / size))
        asymmetry = float(abs(difference)) / (norm(u) * norm(v)) * size
    check_values(size, asymmetry, DTYPE, name, entries=False)
    rest = None, size, 1.0, _no_recast, processes.count
    return Operator("operator", n, DTYPE, times, _columns(times), *rest)
