"""Policies for a B that is singular or indefinite to working precision: raise an error, add a ridge, or restrict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from ..errors import NotPositiveDefinite
from ..typing import Array
from .adapt import adapt
from .factorise import is_definite
from .operator import Operator, plus

T = TypeVar("T")

POLICIES = ("error", "ridge", "restrict")
# Rows of the largest connected component of B for which a dense eigendecomposition is computed.
MAX_COMPONENT_ROWS = 6000


@dataclass(frozen=True)
class BReport:
    """How B was modified: `ridge` is ε in B + εI, `dropped` the number of dimensions removed by restriction."""

    policy: str
    ridge: float = 0.0
    rank: int = 0
    dropped: int = 0

    def __str__(self) -> str:
        if self.ridge:
            return f"B is not positive definite: {self.ridge:.3g} times the identity was added to it."
        if self.dropped:
            return (
                f"B is not positive definite: the pair was restricted to the range of B, of dimension {self.rank}; "
                f"{self.dropped} dimensions in which B is zero or negative were dropped."
            )
        return f"B is positive definite, so b_policy={self.policy!r} changed nothing."


def check_policy(policy: Any) -> str:
    """Return `policy` if it is one of POLICIES, and raise otherwise."""
    if policy not in POLICIES:
        raise ValueError(f"b_policy is {policy!r}; give one of {', '.join(map(repr, POLICIES))}")
    return str(policy)


@dataclass(frozen=True)
class PositivePart:
    """The eigenpairs of a Hermitian matrix whose eigenvalues exceed a threshold."""

    values: Array
    vectors: Array

    @property
    def rank(self) -> int:
        """The number of eigenpairs kept."""
        return int(self.values.size)

    @property
    def whitening(self) -> Array:
        """Q with QᴴBQ = I."""
        return np.asarray(self.vectors / np.sqrt(self.values))


def positive_part(values: Array, vectors: Array, threshold: float) -> PositivePart:
    """Select the eigenpairs with eigenvalues above the threshold: "restrict" drops the others.

    >>> part = positive_part(np.array([0.0, 4.0]), np.eye(2), threshold=1e-12)
    >>> part.rank, part.whitening
    (1, array([[0. ],
           [0.5]]))
    """
    keep = values > threshold
    return PositivePart(values[keep], vectors[:, keep])


def smallest_ridge(attempt: Callable[[float], T | None], n: int, eps: float, size: float) -> tuple[float, T]:
    """Return the first ε = 10^j √n eps `size`, j = 2, 3, …, for which `attempt(ε)` is not None, and its result.

    `size` is the largest magnitude of an entry of the n×n matrix; 0 counts as 1.
    """
    ridge = 100 * n**0.5 * eps * (size if size > 0 else 1.0)
    while (found := attempt(ridge)) is None:
        ridge *= 10
    return ridge, found


@dataclass(frozen=True)
class Mended:
    """The modified pair and the change of basis: u = Q z and z = `dual`ᴴu, where Q = None is the identity."""

    A: Any
    B: Any
    report: BReport | None = None
    Q: Any = None
    dual: Any = None


def mend(A: Any, B: Any, policy: str) -> Mended:
    """Apply the policy; with "error" the pair is unchanged, and the factorisation of B raises the error later."""
    check_policy(policy)
    if policy == "error" or B is None:
        return Mended(A, B)
    op = adapt(B, "B")
    if op.matrix is None:
        raise ValueError(f"b_policy={policy!r} needs the entries of B; give a matrix instead of a matrix-free operator")
    if is_definite(op):
        return Mended(A, B, BReport(policy, rank=op.n))
    return _ridge(A, op) if policy == "ridge" else _restrict(A, op)


def _ridge(A: Any, op: Operator) -> Mended:
    """Replace B by B + εI with the smallest ridge ε that makes it positive definite."""

    def attempt(ridge: float) -> Operator | None:
        ridged = plus(op, ridge, None)
        return ridged if is_definite(ridged) else None

    ridge, ridged = smallest_ridge(attempt, op.n, float(np.finfo(op.dtype).eps), op.size)
    return Mended(A, ridged.matrix / op.scale, BReport("ridge", ridge / op.scale, op.n))


def _restrict(A: Any, op: Operator) -> Mended:
    """The standard problem QᴴAQ z = λ z, where the columns of Q span the range of B and QᴴBQ = I."""
    Q = range_of(op)
    rank, dropped = Q.shape[1], op.n - Q.shape[1]
    if rank == 0:
        raise NotPositiveDefinite(
            "B has no positive eigenvalue, so its positive part is empty and the pair cannot be restricted; check B"
        )
    Q = Q * float(op.scale) ** 0.5
    report = BReport("restrict", 0.0, rank, dropped)
    M = adapt(A, "A")
    if M.n != op.n:
        raise ValueError(f"A is {M.n}×{M.n} but B is {op.n}×{op.n}; give matrices of the same size")
    if M.matrix is None:
        inner, outer = aslinearoperator(A), aslinearoperator(Q)
        reduced: Any = outer.H @ inner @ outer
        assert isinstance(reduced, LinearOperator)
    else:
        reduced = Q.conj().T @ (M.matrix @ Q) / M.scale
        reduced = (reduced + reduced.conj().T) / 2
    return Mended(reduced, None, report, Q, op.matrix @ Q / op.scale)


def range_of(op: Operator) -> Any:
    """Q with QᴴBQ = I whose columns span the eigenspaces of B with positive eigenvalues.

    For a sparse B, Q is sparse and is computed for each connected component of B separately.
    """
    threshold = op.n * float(np.finfo(op.dtype).eps) * op.size
    if op.kind == "dense":
        return _positive_part(op.matrix, threshold)
    # by magnitude: an imaginary entry connects, too
    graph = abs(op.matrix) if op.dtype.kind == "c" else op.matrix
    count, labels = connected_components(graph, directed=False)
    members = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels, minlength=count)
    if sizes.max() > MAX_COMPONENT_ROWS:
        raise ValueError(
            f"b_policy='restrict' needs a dense eigendecomposition of a connected component of B with {sizes.max()} "
            f"rows, more than {MAX_COMPONENT_ROWS}; use b_policy='ridge', or remove the null space of B from the pair"
        )
    if count == op.n:
        diagonal = op.matrix.diagonal().real
        rows = np.flatnonzero(diagonal > threshold)
        data = (1 / np.sqrt(diagonal[rows])).astype(op.dtype)
        return sp.csr_array((data, (rows, np.arange(rows.size))), shape=(op.n, rows.size))
    blocks, start = [], 0
    for size in sizes:
        part = members[start : start + size]
        start += size
        block = op.matrix[part][:, part].toarray()
        blocks.append(_positive_part(block, threshold))
    stacked = sp.csr_array(sp.block_diag(blocks, format="csr"))
    order = np.empty(op.n, int)
    order[members] = np.arange(op.n)
    return sp.csr_array(stacked[order])


def _positive_part(B: Array, threshold: float) -> Array:
    values, vectors = np.linalg.eigh(B)
    return positive_part(values, vectors, threshold).whitening
