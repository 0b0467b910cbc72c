"""`Pencil(A, B)`: the pair, checked, brought to a safe scale and equilibrated. It is immutable."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from ..linalg.blas import Kernels, kernels
from ..linalg.reductions import largest
from ..typing import Array
from .adapt import adapt, as_pair
from .operator import Operator, as_dense, congruent, identity, with_dtype
from .products import Counts, Products

# Equilibrate when the square roots of diag(B) differ by more than this factor.
EQUILIBRATION_RATIO = 10
# The largest eigenvalues count as at most this multiple of the typical ones; beyond the second one they hide these.
MAX_SIZE_RATIO, GRADED_RATIO = 1e3, 1e6


class Pencil:
    """The pair (A, B), B = None for the identity.

    `unit` times an eigenvalue of this (scaled) pair is the user's; it is negative for a negated A. `scaling` is the
    diagonal D of an equilibrated pair (DAD, DBD), or None. B-orthonormal vectors times `length` are B-orthonormal for
    the user's B. `norms` are the 1-norms of A and B before they were equilibrated. `inverse` is (σ, sign) when this is
    the pair (B, ±(A − σB)) of another (A, B). `rows` of every vector are held by this process. `condensed` is Q, B Q
    and a function that applies A when this is the pair (QᴴAQ, QᴴBQ) of a singular B.

    >>> import numpy as np
    >>> pencil = Pencil(np.diag([1.0, 2.0]), np.diag([1.0, 4.0]))
    >>> x = np.array([1.0, 1.0])
    >>> pencil.apply_A(x, pencil.apply_B(x))
    array([1., 2.])
    >>> pencil.counts.A_products, pencil.counts.B_products
    (1, 1)
    """

    A: Operator
    B: Operator | None
    n: int
    rows: int
    dtype: np.dtype[Any]
    scaling: Array | None
    identity: bool
    unit: float
    length: float
    eps: float
    kernels: Kernels
    inverse: tuple[float, int] | None
    condensed: tuple[Any, Any, Callable[[Array], Array]] | None

    def __init__(self, A: Any, B: Any = None, *, negate: bool = False, equilibrate: bool = False) -> None:
        A, B = as_pair(A, B)
        op_A = adapt(A, "A", sign=-1 if negate else 1)
        op_B = None if B is None else adapt(B, "B")
        dtype = op_A.dtype
        if op_B is not None:
            if op_B.n != op_A.n:
                raise ValueError(f"A is {op_A.n}×{op_A.n} but B is {op_B.n}×{op_B.n}; give a pair of one size")
            dtype = np.result_type(op_A.dtype, op_B.dtype)
            op_B = with_dtype(op_B, dtype)
        op_A = with_dtype(op_A, dtype)
        self.__dict__.update(A=op_A, B=op_B, scaling=None)
        if equilibrate:
            self.__dict__.update(_equilibrated(op_A, op_B))
        op_A, op_B = self.A, self.B
        self.__dict__.update(
            n=op_A.n,
            rows=op_A.rows,
            dtype=dtype,
            identity=op_B is None,
            unit=_unit(op_A, op_B),
            length=1.0 if op_B is None else math.sqrt(op_B.scale),
            eps=float(np.finfo(dtype).eps),
            kernels=kernels(dtype),
            inverse=None,
            condensed=None,
        )

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to {name!r}: a Pencil is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete {name!r}: a Pencil is immutable")

    def _derived(self, **changes: Any) -> Pencil:
        """A pencil that differs in these attributes; it shares no counts with this one."""
        other = object.__new__(Pencil)
        other.__dict__.update(self.__dict__)
        for name in ("products", "typical"):
            other.__dict__.pop(name, None)
        if self.coordinates == 1:
            other.__dict__.pop("norms", None)
        other.__dict__.update(changes)
        return other

    @cached_property
    def products(self) -> Products:
        """Counted products with this pencil, for use outside of `solve`."""
        return Products(self)

    @property
    def counts(self) -> Counts:
        """How many products were made through this object (and by `splitmerge.iterates` with it)."""
        return self.products.counts

    def apply_A(self, x: Array, Bx: Array) -> Array:
        """A x, counted."""
        return self.products.apply_A(x, Bx)

    def apply_B(self, x: Array) -> Array:
        """B x, counted (x itself when B is the identity)."""
        return self.products.apply_B(x)

    @cached_property
    def norms(self) -> tuple[float, float]:
        """The 1-norms of A and B; of an equilibrated pair, before it was equilibrated."""
        return self.A.norm, 1.0 if self.B is None else self.B.norm

    @cached_property
    def typical(self) -> float:
        """The size of most eigenvalues, about, as the median of the diagonal of A relative to that of B tells it."""
        if self.B is None or not self.has_entries:
            return self.A.size if self.B is None else self.A.size / self.B.size
        return typical_ratio(self.A.diagonal().real, self.B.diagonal().real)

    @property
    def size(self) -> float:
        """The size of the largest eigenvalues, unless rows with nearly no mass make some far larger than most."""
        largest = self.A.size / (1.0 if self.B is None else self.B.size)
        return min(largest, MAX_SIZE_RATIO * self.typical) or largest

    @property
    def graded(self) -> bool:
        """Are some eigenvalues, of rows with nearly no mass, so large that their rounding hides the others?"""
        if self.scaling is None or self.B is None or not self.has_entries:
            return False
        return is_graded(self.A.size / self.B.size, self.typical)

    @property
    def dense(self) -> bool:
        """Are A and B arrays?"""
        return self.A.kind == "dense" and (self.B is None or self.B.kind == "dense")

    @property
    def has_entries(self) -> bool:
        """Are the entries of A and B known to this process?"""
        return self.A.matrix is not None and (self.B is None or self.B.matrix is not None)

    @property
    def known(self) -> bool:
        """Are the entries of A and B known, to this process or to all of them together?"""
        return self.A.known and (self.B is None or self.B.known)

    def vectors_of(self, X: Array) -> Array:
        """Vectors or columns of this pencil in the user's coordinates (up to normalisation)."""
        return X if self.scaling is None else np.asarray((self.scaling * X.T).T)

    def from_vectors(self, X: Array) -> Array:
        """The user's columns in the coordinates of this pencil."""
        return X if self.scaling is None else np.asarray((X.T / self.scaling).T)

    def user_figures(self, R: Array, X: Array, BX: Array, values: Array) -> tuple[Array, Array, Array]:
        """Residuals, vectors and their products with B in the user's coordinates; for a condensed pair from its A."""
        if self.condensed is None:
            return self.from_vectors(R), self.vectors_of(X), self.from_vectors(BX)
        Q, BQ, times = self.condensed
        Z = self.vectors_of(X)
        U, BU = np.asarray(Q @ Z), np.asarray(BQ @ Z) * self._B_scale
        return times(U) * self.A.scale - BU * values, U, BU

    @property
    def _B_scale(self) -> float:
        return 1.0 if self.B is None else self.B.scale

    @property
    def coordinates(self) -> int:
        """The number of coordinate systems to measure in, the user's and that of this pair if it is another one."""
        return 1 if self.scaling is None and self.condensed is None else 2

    def condensed_from(self, Q: Any, BQ: Any, times: Callable[[Array], Array], norms: tuple[float, float]) -> Pencil:
        """This pair as (QᴴAQ, QᴴBQ) of an (A, B) with these 1-norms, where `times` applies A."""
        scaled = norms[0] * abs(self.A.scale), norms[1] * self._B_scale
        return self._derived(condensed=(Q, BQ, times), norms=scaled)

    def negated(self) -> Pencil:
        """The pair (−A, B)."""
        return self._derived(A=self.A.negated(), unit=-self.unit)

    def formed(self, *, A: bool = False, B: bool = False) -> Pencil:
        """The same pair with the entries of A or B in a dense array: n products for an operator.

        A pair that could not be equilibrated without the entries of B is equilibrated now.
        """
        changes: dict[str, Any] = {"A": as_dense(self.A) if A else self.A}
        changes["B"] = as_dense(self.B) if B and self.B is not None else self.B
        if self.scaling is None:
            changes |= _equilibrated(changes["A"], changes["B"])
            changes["unit"] = _unit(changes["A"], changes["B"])
            changes["length"] = 1.0 if changes["B"] is None else math.sqrt(changes["B"].scale)
        return self._derived(**changes)

    def recast(self, dtype: np.dtype[Any]) -> Pencil:
        """The same pair with A in `dtype`; B and `eps`, which residuals are compared with, stay."""
        return self._derived(dtype=dtype, kernels=kernels(dtype), A=with_dtype(self.A, dtype))

    def swapped(self, K: Operator, sigma: float, sign: int) -> Pencil:
        """The pair (B, K) for a positive definite K = ±(A − σB); σ is in the units of the scaled pair.

        Its largest eigenvalues μ = ±1/(λ − σ) belong to the λ nearest to σ: above it for `sign` 1, below it for −1.
        """
        A = identity(self.n, self.dtype) if self.B is None else self.B
        return self._derived(A=A, B=K, identity=False, inverse=(sigma, sign))

    def original_value(self, value: float) -> float:
        """The eigenvalue of (A, B) for an eigenvalue of this pair, which may be (B, ±(A − σB))."""
        if self.inverse is None:
            return value
        sigma, sign = self.inverse
        return sigma + sign / value if value else math.inf

    def value_of(self, value: float) -> float:
        """The user's eigenvalue for an eigenvalue of this pair."""
        return self.original_value(value) * self.unit


def _unit(A: Operator, B: Operator | None) -> float:
    """What an eigenvalue of the scaled pair is multiplied by to become the user's."""
    return (1.0 if B is None else B.scale) / A.scale


def _equilibrated(A: Operator, B: Operator | None) -> dict[str, Any]:
    """A, B and `scaling` for (DAD, DBD), where D = diag(B)^-½ rounded to powers of two spans more than a factor of
    `EQUILIBRATION_RATIO`, with the `norms` of A and B in the same units; nothing where it does not.

    Norms and random vectors are Euclidean: components in which B is small would be invisible to the former and
    nearly missing from the latter.
    """
    if B is None or not B.known:
        return {}
    diagonal = B.diagonal().real.astype(np.float64)
    least = -largest(-diagonal)
    if not least > 0 or largest(diagonal) <= EQUILIBRATION_RATIO**2 * least:
        return {}
    d = equilibration(diagonal)
    with np.errstate(over="ignore", invalid="ignore"):
        DAD, DBD = congruent(A, d), congruent(B, d)
    if not (math.isfinite(DAD.size) and math.isfinite(DBD.size)):
        return {}
    norms = A.norm * abs(DAD.scale / A.scale), B.norm * abs(DBD.scale / B.scale)
    return {"A": DAD, "B": DBD, "scaling": d.astype(np.empty(0, A.dtype).real.dtype), "norms": norms}


def is_graded(largest: float, typical: float) -> bool:
    """Does rounding of the largest eigenvalues hide those below the typical ones?"""
    return 0 < GRADED_RATIO * typical < largest


def typical_ratio(of_A: Array, of_B: Array) -> float:
    """The median of |a|/b where neither is zero; 0 where one always is."""
    both = (of_A != 0) & (of_B > 0)
    return float(np.median(np.abs(of_A[both]) / of_B[both])) if both.any() else 0.0


def equilibration(diagonal: Array) -> Array:
    """diag(B)^-½ rounded to powers of two, so that scaling by it is exact."""
    return np.asarray(np.exp2(np.round(-0.5 * np.log2(diagonal))))


def counted(pencil: Pencil | Products) -> Products:
    """The counted products of a pencil, or the products themselves."""
    return pencil if isinstance(pencil, Products) else pencil.products
