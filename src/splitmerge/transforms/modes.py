"""Eigenvalues λ picked by a transformed value ν of them: 1/(λ − σ), (λ + σ)/(λ − σ) or λ/(λ − σ).

All three are linear in the eigenvalue θ of an inverse: ν = 1/(λ − σ) is θ itself, (λ + σ)/(λ − σ) is 1 + 2σθ, and
λ/(λ − σ) is −θ/σ for the θ of the pair (M, A) at 1/σ. So one search serves them all, and only what it keeps differs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, eigh
from scipy.sparse.linalg import LinearOperator, aslinearoperator, minres

from ..errors import NotPositiveDefinite
from ..planning.choose import DENSE_LIMIT
from ..planning.plan import Route
from ..preparation.shifted import inverse
from ..problem.b_policy import range_of
from ..problem.factorise import is_definite
from ..problem.operator import adapt, as_dense
from ..problem.pencil import Pencil, ShiftedSolver
from ..problem.target import Wanted
from ..typing import Array
from .shift_invert import Inverted

MODES = ("normal", "buckling", "cayley")


@dataclass(frozen=True)
class Reduced:
    """The pair (A, B) with the shift τ, in which large `sign` θ = ±1/(λ − τ) are large ν.

    `which` is "LM", "LA", "BE", or "SM" for the λ farthest from τ; with `skewed`, "LM" is by |1 + 2τθ|. `reciprocal`
    says that the eigenvalues of this pair are those asked for inverted, and `factor` is what the inverse of the
    caller's A − σM is to be multiplied by to be that of A − τB (None: it has nothing to do with it).
    """

    A: Any
    B: Any
    shift: float
    sign: int
    which: str
    skewed: bool = False
    reciprocal: bool = False
    factor: float | None = 1.0

    @property
    def far(self) -> bool:
        """Are the values farthest from the shift wanted? Those need no inverse."""
        return self.which == "SM"

    def moved(self) -> LinearOperator:
        """A − τB."""
        B = sp.eye_array(self.A.shape[0], dtype=self.A.dtype) if self.B is None else self.B
        return aslinearoperator(self.A) - self.shift * aslinearoperator(B)

    def values(self, values: Array) -> Array:
        """The eigenvalues asked for, from those of this pair."""
        with np.errstate(divide="ignore"):
            return 1 / values if self.reciprocal else values

    def route(self, k: int, given: Callable[[Array], Any] | None) -> Route | None:
        """The search on the inverse at τ, solving by `given` if possible; None where LAPACK should do it.

        That is where values far from τ are wanted beside the near ones: next to zero, nothing in the inverse converges.
        """
        pencil = Pencil(self.A, self.B, equilibrate=True)
        shift = self.shift / pencil.unit
        factor: ShiftedSolver
        singular = False
        if given is not None and self.factor is not None:
            factor = _Given(pencil, given, self.factor)
        elif not pencil.has_entries:
            factor = _Minres(pencil, shift)
        else:
            domain = inverse(pencil, shift, k).domain
            assert isinstance(domain, Inverted)
            shift, factor = domain.sigma, domain.factor
            negative = getattr(factor, "negative", None)
            singular = pencil.B is not None and not is_definite(pencil.B)
            if singular and self.reciprocal:
                raise NotPositiveDefinite("A is not positive definite, which buckling mode needs")
            small = pencil.n <= DENSE_LIMIT
            if small and negative is not None and not self._enough(pencil.n, negative, k):
                return None
        wanted = {"LM": Wanted.MAGNITUDE, "LA": Wanted.LARGEST, "BE": Wanted.ENDS}[self.which]
        if self.skewed and wanted is Wanted.MAGNITUDE:
            wanted = Wanted.farthest(-0.5 / abs(shift))
        domain_of = _Halved if singular else _Signed
        return Route(pencil, wanted, domain_of(pencil, shift, factor, self.sign))

    def _enough(self, n: int, below: int, k: int) -> bool:
        """Are there enough values on the side, or the sides, of τ that are wanted?"""
        high, low = (n - below, below) if self.sign > 0 else (below, n - below)
        if self.which == "BE":
            return high >= (k + 1) // 2 and low >= k // 2
        return high >= k or (self.which == "LM" and not self.skewed)


def reduce(A: Any, M: Any, sigma: float, mode: str, which: str) -> Reduced:
    """The pair, the shift and the selection that stand for `which` of the transformed values."""
    upwards = -1 if sigma < 0 else 1
    if mode == "buckling":
        M = sp.eye_array(A.shape[0], dtype=A.dtype, format="csr") if M is None else M
        reduced = Reduced(M, A, 1 / sigma, -upwards, which, reciprocal=True, factor=-sigma)
    elif mode == "cayley" and sigma != 0 and which == "SM":
        # 1/ν is the Cayley transform at −σ
        reduced = Reduced(A, M, -sigma, -upwards, "LM", skewed=True, factor=None)
    elif mode == "cayley" and sigma != 0:
        reduced = Reduced(A, M, sigma, upwards, which, skewed=True)
    else:
        reduced = Reduced(A, M, sigma, 1, which)
    if which == "SA":
        reduced = replace(reduced, which="LA", sign=-reduced.sign)
    return reduced


class _Signed(Inverted):
    """±(A − σB)⁻¹B."""

    def __init__(self, pencil: Pencil, sigma: float, factor: ShiftedSolver, sign: int) -> None:
        super().__init__(pencil, sigma, factor)
        self.sign = sign

    def apply(self, y: Array, z: Array) -> Array:
        """A solve with ±(A − σB)."""
        solved = super().apply(y, z)
        return solved if self.sign > 0 else -solved

    def value(self, theta: float) -> float:
        """λ = σ ± 1/θ."""
        return self.sigma + self.sign / theta if theta else math.inf


class _Halved(_Signed):
    """y = Lᴴx for a singular B = L Lᴴ: T = ±Lᴴ(A − σB)⁻¹L, and x = (A − σB)⁻¹L y up to its length.

    In the vectors x themselves, what B does not see would grow from rounding until it hides everything else.
    """

    def __init__(self, pencil: Pencil, sigma: float, factor: ShiftedSolver, sign: int) -> None:
        super().__init__(pencil, sigma, factor, sign)
        self.single = True
        B = pencil.B
        assert B is not None
        L = B.matrix @ range_of(B)
        error = abs(B.matrix - L @ L.conj().T).max()
        if not error <= math.sqrt(pencil.eps) * B.size:
            raise NotPositiveDefinite("M has negative eigenvalues; it must be positive semidefinite")
        # columns of zeros make it square: what belongs to them is never reached
        if B.kind == "sparse":
            L.resize((pencil.n, pencil.n))
        else:
            L = np.pad(L, ((0, 0), (0, pencil.n - L.shape[1])))
        self.L, self.adjoint = L.astype(pencil.dtype), L.conj().T.astype(pencil.dtype)

    def enter(self, X: Array) -> tuple[Array, Array]:
        """LᴴX."""
        Y = np.asfortranarray(self.adjoint @ X)
        return Y, Y

    def leave(self, Y: Array) -> Array:
        """(A − σB)⁻¹L Y, of length 1 in the norm of B."""
        X = np.column_stack([self.pencil.solve_K(self.factor, self.L @ y) for y in Y.T])
        return np.asarray(X / np.linalg.norm(self.adjoint @ X, axis=0))

    def dual(self, y: Array) -> Array:
        """The same."""
        return y

    def apply(self, y: Array, z: Array) -> Array:
        """A solve between two products."""
        return np.asarray(self.adjoint @ super().apply(y, self.L @ z))

    def complete(self, first: Array) -> tuple[Array, Array]:
        """One and the same."""
        return first, first


@dataclass(frozen=True)
class _Given:
    """The caller's inverse of A − σM, in the coordinates of the pencil."""

    pencil: Pencil
    function: Callable[[Array], Any]
    factor: float

    def solve(self, b: Array) -> Array:
        """(A − τB)⁻¹b, undoing the scaling: (αDKD)⁻¹ = D⁻¹K⁻¹D⁻¹/α."""
        pencil = self.pencil
        w = np.asarray(self.function(pencil.from_vectors(b))).reshape(-1)
        if w.shape != b.shape or not np.isfinite(w).all():
            raise ValueError(f"OPinv gave {w.shape} numbers, or infinite ones, for a vector of shape {b.shape}")
        return np.asarray(pencil.from_vectors(w * (self.factor / pencil.A.scale))).astype(pencil.dtype)


@dataclass(frozen=True)
class _Minres:
    """Solves with A − σB by products alone; a complex vector is a real one of twice the length to it."""

    pencil: Pencil
    sigma: float

    def solve(self, b: Array) -> Array:
        """(A − σB)⁻¹b, or ValueError if that takes too long."""
        n, pencil = self.pencil.n, self.pencil
        kind = pencil.dtype.kind

        def times(x: Array) -> Array:
            y = np.ascontiguousarray(x.ravel().view(np.complex128) if kind == "c" else x.ravel()).astype(pencil.dtype)
            product = pencil.apply_plain_A(y) - self.sigma * pencil.apply_B(y)
            return product.astype(np.complex128).view(np.float64) if kind == "c" else product.astype(np.float64)

        right = b.astype(np.complex128).view(np.float64) if kind == "c" else b.astype(np.float64)
        K = LinearOperator((right.size, right.size), matvec=times, dtype=np.float64)
        w, _ = minres(K, right, rtol=0.1 * pencil.eps, maxiter=20 * n)
        error = float(np.linalg.norm(times(w) - right) / np.linalg.norm(right))
        if not error <= 1e3 * math.sqrt(n) * pencil.eps:
            raise ValueError(
                f"Error in inverting [A-sigma*M]: function minres did not converge (relative residual {error:.1g}); "
                f"give matrices, or OPinv"
            )
        return (w.view(np.complex128) if kind == "c" else w).astype(pencil.dtype)


def transform(values: Array, sigma: float | None, mode: str) -> Array:
    """ν for each λ (which may be infinite)."""
    if sigma is None:
        return values
    with np.errstate(divide="ignore", invalid="ignore"):
        nearness = 1 / (values - sigma)
    if mode == "normal":
        return nearness
    return 1 + (2 if mode == "cayley" else 1) * sigma * nearness


def all_pairs(A: Any, M: Any, sigma: float | None, mode: str) -> tuple[Array, Array]:
    """Every λ and vector by LAPACK, in double precision."""
    A, M = _dense(A, "A"), None if M is None else _dense(M, "M")
    if mode == "buckling":
        try:
            values, vectors = eigh(np.eye(A.shape[0]) if M is None else M, A)
        except LinAlgError as error:
            raise NotPositiveDefinite("A is not positive definite, which buckling mode needs") from error
        with np.errstate(divide="ignore"):
            return 1 / values, vectors
    try:
        return eigh(A, M)
    except LinAlgError as error:
        if sigma is None or M is None:
            raise NotPositiveDefinite("M is not positive definite; it must be, unless sigma is given") from error
    return _semidefinite(A, M, sigma)


def _semidefinite(A: Array, M: Array, sigma: float) -> tuple[Array, Array]:
    """The finite pairs for a singular M = L Lᴴ: Lᴴ(A − σM)⁻¹L has the values 1/(λ − σ)."""
    sizes, Q = eigh(M)
    level = M.shape[0] * np.finfo(float).eps * np.abs(sizes).max()
    if sizes[0] < -level:
        raise NotPositiveDefinite(f"M has the eigenvalue {sizes[0]:.3g}; it must be positive semidefinite")
    L = Q[:, sizes > level] * np.sqrt(sizes[sizes > level])
    X = np.linalg.solve(A - sigma * M, L)
    C = L.conj().T @ X
    thetas, Y = eigh((C + C.conj().T) / 2)
    return sigma + 1 / thetas, X @ Y / thetas


def is_operator(matrix: Any) -> bool:
    """Has it no entries to look at?"""
    return matrix is not None and not sp.issparse(matrix) and not hasattr(matrix, "__array__")


def with_entries(matrix: Any) -> Any:
    """The same as an array, if it is an operator."""
    if not is_operator(matrix):
        return matrix
    op = as_dense(adapt(matrix, "the operator"))
    return np.asarray(op.matrix / op.scale, dtype=op.dtype)


def _dense(matrix: Any, name: str) -> Array:
    op = as_dense(adapt(matrix, name))
    return np.asarray(op.matrix.astype(np.result_type(op.dtype, np.float64)) / op.scale)
