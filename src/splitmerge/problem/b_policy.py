"""Policies for a B that is singular to working precision: raise an error, add a ridge, or leave infinity out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from ..errors import NotPositiveDefinite
from ..linalg.cholesky import INDEFINITE_FRACTION, indefinite, pivoted_root
from ..typing import Array
from .adapt import adapt
from .factorise import factorise, is_definite
from .operator import Operator, plus, with_dtype

T = TypeVar("T")

POLICIES = ("error", "ridge", "restrict")
# Rows of the largest connected component of B for which a dense eigendecomposition is computed.
MAX_COMPONENT_ROWS = 6000
# Eigenvalues of an n×n block of B with a unit diagonal below this many times n units of rounding are zero.
RANK_ROUNDING_ERRORS = 4
# Eigenvalues of A on the null space of B below this many units of rounding of A are zero.
NULL_UNITS = 8
# A singular matrix needs a ridge of no more than this many times n units of rounding.
MAX_RIDGE_UNITS = 1000


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
                f"B is not positive definite: {self.dropped} infinite eigenvalues were left out and {self.rank} are "
                f"finite; the unknowns in the null space of B were condensed."
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
        if not math.isfinite(ridge):
            raise indefinite("no multiple of the identity makes it positive definite")
    return ridge, found


@dataclass(frozen=True)
class Mended:
    """The modified pair and the change of basis: u = Q z and z = `dual`ᴴu, where Q = None is the identity.

    Beside a Q, `images` is B Q, `times` applies the given A to columns, and `norms` are the 1-norms of the given A
    and B.
    """

    A: Any
    B: Any
    report: BReport | None = None
    Q: Any = None
    dual: Any = None
    images: Any = None
    times: Callable[[Array], Array] | None = None
    norms: tuple[float, float] = (0.0, 0.0)


def mend(A: Any, B: Any, policy: str) -> Mended:
    """Apply the policy; with "error" the pair is unchanged, and the factorisation of B raises the error later."""
    check_policy(policy)
    if policy == "error" or B is None:
        return Mended(A, B)
    op = adapt(B, "B")
    if op.matrix is None:
        raise ValueError(f"b_policy={policy!r} needs the entries of B; give a matrix instead of a matrix-free operator")
    _check_range(op, policy)
    try:
        factorise(op)
        return Mended(A, B, BReport(policy, rank=op.n))
    except NotPositiveDefinite as error:
        if error.indefinite:
            raise
    return _ridge(A, op) if policy == "ridge" else _restrict(A, op)


def _check_range(op: Operator, policy: str) -> None:
    """Refuse a B whose ridge, or what is left of it, would underflow."""
    precision, largest = np.finfo(op.dtype), op.size / abs(op.scale)
    if 0 < largest < precision.tiny / precision.eps:
        raise ValueError(
            f"B has no entry above {largest:.3g}, which is too near to the least number of {op.dtype} for "
            f"b_policy={policy!r}; multiply B by a large number"
        )


def _ridge(A: Any, op: Operator) -> Mended:
    """Replace B by B + εI with the smallest ridge ε that makes it positive definite."""

    def attempt(ridge: float) -> Operator | None:
        ridged = plus(op, ridge, None)
        return ridged if is_definite(ridged) else None

    eps = float(np.finfo(op.dtype).eps)
    ridge, ridged = smallest_ridge(attempt, op.n, eps, op.size)
    if ridge > max(INDEFINITE_FRACTION, MAX_RIDGE_UNITS * op.n * eps) * op.norm:
        # more than rounding leaves of a singular matrix
        raise indefinite(f"a ridge of {ridge / op.scale:.3g} would be needed to make it positive definite")
    return Mended(A, ridged.matrix / op.scale, BReport("ridge", ridge / op.scale, op.n))


def _restrict(A: Any, op: Operator) -> Mended:
    """The finite eigenvalues as those of QᴴAQ z = λ QᴴBQ z with a definite QᴴBQ.

    The columns of Q complete the null space N of B, each with the component −N(NᴴAN)⁺NᴴA of it in N that makes QᴴAN
    vanish (static condensation): that is the component of the eigenvectors. Where N belongs to zero rows of B, Q has
    unit vectors beside N, and QᴴBQ are the other rows; otherwise QᴴBQ = I. Q is computed in double precision, as its
    rounding does not show in the residuals of QᴴAQ.
    """
    M = adapt(A, "A")
    if M.n != op.n:
        raise ValueError(f"A is {M.n}×{M.n} but B is {op.n}×{op.n}; give matrices of the same size")
    dtype, eps = np.result_type(M.dtype, op.dtype), [float(np.finfo(each.dtype).eps) for each in (M, op)]
    M, op = (with_dtype(each, np.result_type(each.dtype, np.float64)) for each in (M, op))
    Q, N = _spaces(op, eps[1])
    rank, dropped = Q.shape[1], op.n - Q.shape[1]
    kept = _nonzero_rows(op)
    massless = kept.size == rank
    if massless:
        # rounding of small eigenvalues would not survive another basis, where masses span many decades
        Q, N = _selected(op, kept), _selected(op, np.setdiff1d(np.arange(op.n), kept))
    if rank == 0:
        raise NotPositiveDefinite(
            "B has no positive eigenvalue, so the pair has no finite eigenvalue and cannot be restricted; check B"
        )
    dual, Q = Q, _condensed(M, Q, N, eps[0])
    images = op.matrix @ Q / op.scale
    if massless:
        B = op.matrix[kept][:, kept] / op.scale
    else:
        B, Q, images = None, Q * float(op.scale) ** 0.5, images * float(op.scale) ** 0.5
        dual = images
    report = BReport("restrict", 0.0, rank, dropped)
    if M.matrix is None:
        inner = LinearOperator((M.n, M.n), matvec=lambda x: M.times(x) / M.scale, dtype=M.dtype)
        outer = aslinearoperator(Q)
        product = outer.H @ inner @ outer
        reduced: Any = LinearOperator(product.shape, matvec=lambda x: product.matvec(x).astype(dtype), dtype=dtype)
    else:
        reduced = Q.conj().T @ (M.matrix @ Q) / M.scale
        reduced = ((reduced + reduced.conj().T) / 2).astype(dtype)
    norms = M.norm / abs(M.scale), op.norm / op.scale
    return Mended(reduced, B, report, Q, dual, images, lambda U: M.in_double(U) / M.scale, norms)


def _condensed(A: Operator, Q: Any, N: Any, eps: float) -> Any:
    """Q − N(NᴴAN)⁺NᴴAQ, or an error where A has no such component: then eigenvalues of the pair are not defined."""
    sparse = sp.issparse(Q)
    AN = A.times_block(N.toarray() if sparse else N)
    coupling = np.asarray((Q.conj().T @ AN).conj().T)
    # what rounding of A leaves of a zero
    size = NULL_UNITS * eps * A.norm
    if np.abs(coupling).max(initial=0.0) <= size * float(abs(Q).max()):
        return Q
    block = np.asarray(N.conj().T @ AN)
    values, vectors = np.linalg.eigh((block + block.conj().T) / 2)
    kept = np.abs(values) > size
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].conj().T
    left = vectors[:, ~kept].conj().T @ coupling
    if np.abs(left).max(initial=0.0) > 10 * size * float(abs(Q).max()):
        raise NotPositiveDefinite(
            "b_policy='restrict' needs an A that is nonsingular on the part of the null space of B that it couples to "
            "the rest; here eigenvalues at infinity cannot be separated from finite ones"
        )
    return (Q.toarray() if sparse else Q) - N @ (inverse @ coupling)


def semidefinite_root(op: Operator) -> Any:
    """L with B = LLᴴ and as many columns as B has rank; sparse for a sparse B, and computed by connected component."""
    if op.kind == "dense":
        return pivoted_root(op.matrix, RANK_ROUNDING_ERRORS)
    parts = _components(op)
    blocks = [pivoted_root(op.matrix[part][:, part].toarray(), RANK_ROUNDING_ERRORS) for part in parts]
    order = np.empty(op.n, int)
    order[np.concatenate(parts)] = np.arange(op.n)
    return sp.csr_array(sp.csr_array(sp.block_diag(blocks, format="csr"))[order])


def _components(op: Operator) -> list[Array]:
    """The rows of each connected component of a sparse B."""
    # by magnitude: an imaginary entry connects, too
    graph = abs(op.matrix) if op.dtype.kind == "c" else op.matrix
    count, labels = connected_components(graph, directed=False)
    sizes = np.bincount(labels, minlength=count)
    if sizes.max() > MAX_COMPONENT_ROWS:
        raise ValueError(
            f"b_policy='restrict' needs a dense eigendecomposition of a connected component of B with {sizes.max()} "
            f"rows, more than {MAX_COMPONENT_ROWS}; use b_policy='ridge', or remove the null space of B from the pair"
        )
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])


def _spaces(op: Operator, eps: float) -> tuple[Any, Any]:
    """Q with QᴴBQ = I whose span completes the null space of B, and a basis N of that with columns of norm 1.

    Its entries have been rounded to `eps`.
    """
    threshold = op.n * eps * op.size
    if op.kind == "dense":
        return _split(op.matrix, eps)
    parts = _components(op)
    if len(parts) == op.n:
        diagonal = op.matrix.diagonal().real
        rows, rest = np.flatnonzero(diagonal > 0), np.flatnonzero(diagonal <= 0)
        if (diagonal < -10 * threshold).any():
            raise indefinite(f"it has the eigenvalue {diagonal.min() / op.scale:.3g}")
        return _selection(op, rows, 1 / np.sqrt(diagonal[rows])), _selection(op, rest, np.ones(rest.size))
    blocks = [_split(op.matrix[part][:, part].toarray(), eps) for part in parts]
    order = np.empty(op.n, int)
    order[np.concatenate(parts)] = np.arange(op.n)
    spaces = (sp.csr_array(sp.block_diag(parts, format="csr")) for parts in zip(*blocks, strict=True))
    range_, null = (sp.csr_array(space[order]) for space in spaces)
    return range_, null


def _nonzero_rows(op: Operator) -> Array:
    """The rows of B that are not zero."""
    sizes = abs(op.matrix).sum(axis=0) if op.kind == "sparse" else np.abs(op.matrix).max(axis=0)
    return np.flatnonzero(np.asarray(sizes).ravel())


def _selected(op: Operator, rows: Array) -> Any:
    """The unit vectors of these rows; dense for a dense B."""
    chosen = _selection(op, rows, np.ones(rows.size))
    return chosen.toarray() if op.kind == "dense" else chosen


def _selection(op: Operator, rows: Array, weights: Array) -> Any:
    """Columns that are multiples of unit vectors."""
    return sp.csr_array((weights.astype(op.dtype), (rows, np.arange(rows.size))), shape=(op.n, rows.size))


def _split(B: Array, eps: float) -> tuple[Array, Array]:
    """Q and N of a block, from the eigenvalues of DBD, which has a unit diagonal: they show its rank best."""
    diagonal = B.diagonal().real
    d = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(d[:, None] * B * d)
    threshold = RANK_ROUNDING_ERRORS * len(B) * eps * float(np.abs(values).max())
    if values[0] < -threshold:
        raise NotPositiveDefinite(
            f"B is indefinite: with a unit diagonal it has the eigenvalue {values[0]:.3g}; check B"
        )
    vectors *= d[:, None]
    null = vectors[:, values <= threshold]
    return positive_part(values, vectors, threshold).whitening, null / np.linalg.norm(null, axis=0)
