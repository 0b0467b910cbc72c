"""`Pencil(A, B)`: the pair, checked, scaled, shifted, deflated, and every product with it counted.

The methods see the pair (Pᴴ(A + ηB)P, B), where P = I − U UᴴB takes out the eigenvectors found so far. Neither the
shifted nor the deflated matrix is ever formed. Products are counted here and nowhere else.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..errors import NotPositiveDefinite, OutOfTime
from ..linalg.blas import kernels
from ..typing import Array
from .operator import Operator, adapt, congruent, identity, with_dtype


@dataclass(slots=True)
class Tally:
    """How often A, B, B⁻¹, (A − σB)⁻¹ and the preconditioner were applied to a vector."""

    A_products: int = 0
    B_products: int = 0
    B_solves: int = 0
    K_solves: int = 0
    P_solves: int = 0

    def add(self, other: Tally) -> None:
        """Take the numbers of another tally over."""
        for name in Tally.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def swapped(self) -> Tally:
        """The tally of the pair (B, A − σB) in terms of (A, B)."""
        return Tally(self.B_products, self.A_products, self.K_solves, self.B_solves, self.P_solves)


@dataclass(slots=True)
class Counts(Tally):
    """The iteration's own products; those of the set-up and of the monitoring stand apart."""

    setup: Tally = field(default_factory=Tally)
    monitoring: Tally = field(default_factory=Tally)


class BSolver(Protocol):
    """Solves B w = b, exactly or nearly so."""

    def solve(self, b: Array, guess: Array | None, B_guess: Array | None) -> tuple[Array, Array]:
        """Return w ≈ B⁻¹b and the product B w (b itself for an exact solver)."""

    def solve_block(self, R: Array) -> tuple[Array, Array]:
        """The same for columns R, from no guess."""


class PSolver(Protocol):
    """Solves with the Gram matrix of a preconditioner."""

    def gram_solve(self, b: Array) -> Array:
        """Return (PᴴP)⁻¹ b."""

    def gram_block(self, R: Array) -> Array:
        """Return (PᴴP)⁻¹ R for columns R."""

    def coarser(self, pencil: Pencil) -> tuple[Pencil, PSolver, Any] | None:
        """A smaller pair with its preconditioner, and the matrix that takes its vectors back."""


class ShiftedSolver(Protocol):
    """Solves with A − σB."""

    def solve(self, b: Array) -> Array:
        """Return (A − σB)⁻¹ b."""


class Pencil:
    """The pair (A, B), B = None for the identity.

    >>> import numpy as np
    >>> pencil = Pencil(np.diag([1.0, 2.0]), np.diag([1.0, 4.0]))
    >>> x = np.array([1.0, 1.0])
    >>> pencil.apply_A(x, pencil.apply_B(x))
    array([1., 2.])
    >>> pencil.counts.A_products, pencil.counts.B_products
    (1, 1)
    """

    def __init__(self, A: Any, B: Any = None, *, negate: bool = False, equilibrate: bool = False) -> None:
        self.A: Operator = adapt(A, "A", sign=-1 if negate else 1)
        self.B: Operator | None = None if B is None else adapt(B, "B")
        self.n = self.A.n
        if self.B is None:
            self.dtype = self.A.dtype
        else:
            if self.B.n != self.n:
                raise ValueError(f"A is {self.n}×{self.n} but B is {self.B.n}×{self.B.n}; give a pair of one size")
            self.dtype = np.result_type(self.A.dtype, self.B.dtype)
            self.B = with_dtype(self.B, self.dtype)
        self.A = with_dtype(self.A, self.dtype)
        self.scaling: Array | None = None
        if equilibrate and self.B is not None:
            self._equilibrate(self.B)
        # what an eigenvalue of the scaled pair is multiplied by to be the user's; negative for a negated A
        self.unit = (1.0 if self.B is None else self.B.scale) / self.A.scale
        self.eps = float(np.finfo(self.dtype).eps)
        self.kernels = kernels(self.dtype)
        self.counts = Counts()
        self.clock = time.perf_counter()
        # how many seconds the iteration may take, and when it has to be over
        self.limit = self.deadline = math.inf
        self.shift = 0.0
        self.radius = 0.0
        self.found: Array = np.zeros((self.n, 0), self.dtype)
        self.B_found: Array = self.found
        self.solver: BSolver | None = None
        self._tally: Tally = self.counts
        self._plain = True
        # U⁻ᴴAU⁻¹ for B = UᴴU, where it was worth its price
        self.explicit: Array | None = None
        # (σ, sign) when this pair is (B, ±(A − σB)) of another (A, B)
        self.inverse: tuple[float, int] | None = None
        # B-orthonormal vectors of the scaled pair become so for the user's B when they are multiplied by this
        self.length = 1.0 if self.B is None else math.sqrt(self.B.scale)

    def _equilibrate(self, B: Operator) -> None:
        """Go over to (DAD, DBD), D the powers of two next to diag(B)^-½, when those differ by more than tenfold.

        Norms and random vectors are Euclidean: what lives where B is small would be invisible to the one and
        missing from the other.
        """
        diagonal = B.diagonal().real.astype(np.float64) if B.matrix is not None else np.ones(1)
        if not diagonal.min() > 0 or diagonal.max() <= 100 * diagonal.min():
            return
        d = np.exp2(np.round(-0.5 * np.log2(diagonal)))
        with np.errstate(over="ignore", invalid="ignore"):
            A, B = congruent(self.A, d), congruent(B, d)
        if math.isfinite(A.size) and math.isfinite(B.size):
            self.A, self.B, self.scaling = A, B, d.astype(np.empty(0, self.dtype).real.dtype)

    def vectors_of(self, X: Array) -> Array:
        """Vectors or columns of this pencil in the user's coordinates (up to their length)."""
        return X if self.scaling is None else np.asarray((self.scaling * X.T).T)

    def from_vectors(self, X: Array) -> Array:
        """The user's columns in the coordinates of this pencil."""
        return X if self.scaling is None else np.asarray((X.T / self.scaling).T)

    @property
    def identity(self) -> bool:
        """Is B the identity? Then no work is done for it."""
        return self.B is None

    @property
    def dense(self) -> bool:
        """Are A and B arrays?"""
        return self.A.kind == "dense" and (self.B is None or self.B.kind == "dense")

    @property
    def has_entries(self) -> bool:
        """Can the entries of A and B be looked at?"""
        return self.A.matrix is not None and (self.B is None or self.B.matrix is not None)

    def begin(self) -> float:
        """Start the clock of the iteration, now that all is set up."""
        self.clock = time.perf_counter()
        self.deadline = self.clock + self.limit
        return self.clock

    def mind_the_time(self) -> None:
        """Raise `OutOfTime` when the time that was allowed is over: for what may take long between two states."""
        if time.perf_counter() >= self.deadline:
            raise OutOfTime

    @contextmanager
    def counting(self, phase: Tally) -> Iterator[None]:
        """Book the products made inside the block under `phase` (`counts.setup` or `counts.monitoring`)."""
        before, self._tally = self._tally, phase
        try:
            yield
        finally:
            self._tally = before

    def negated(self) -> Pencil:
        """The pair (−A, B)."""
        other: Pencil = copy.copy(self)
        other.A = self.A.negated()
        other.unit, other._tally = -self.unit, self.counts
        return other

    def recast(self, dtype: np.dtype[Any]) -> Pencil:
        """The same pair with A in `dtype`, without a solver; B and `eps`, by which residuals are judged, stay."""
        other: Pencil = copy.copy(self)
        other.dtype, other.kernels, other.A = dtype, kernels(dtype), with_dtype(self.A, dtype)
        other.found = other.B_found = np.zeros((self.n, 0), dtype)
        other.solver, other._tally = None, self.counts
        return other

    def swapped(self, K: Operator, sigma: float, sign: int) -> Pencil:
        """The pair (B, K) for K = ±(A − σB), which is to be positive definite; σ is of the scaled pair.

        Its largest values μ = ±1/(λ − σ) belong to the λ next to σ, above it for `sign` 1 and below it for −1.
        """
        other: Pencil = copy.copy(self)
        other.A = identity(self.n, self.dtype) if self.B is None else self.B
        other.B, other.solver, other.inverse = K, None, (sigma, sign)
        other.counts = Counts()
        other._tally = other.counts
        other.transform(shift=0.0, found=self.found, B_found=self.B_found, radius=0.0)
        return other

    def shift_by(self, shift: float) -> None:
        """From now on A stands for A + ηB with η = `shift`."""
        self.transform(shift=shift, found=self.found, B_found=self.B_found, radius=self.radius)

    def transform(self, *, shift: float, found: Array, B_found: Array, radius: float) -> None:
        """From now on A stands for Pᴴ(A + ηB)P with η = `shift` and P = I − U UᴴB, U = `found`.

        `radius` estimates the largest |λ| of (A + ηB, B): what is lost beside it counts as zero.
        """
        self.shift, self.found, self.B_found, self.radius = shift, found, B_found, radius
        self._plain = shift == 0 and found.shape[1] == 0

    def apply_A(self, x: Array, Bx: Array) -> Array:
        """A x for the shifted and deflated A; `Bx` is what makes the shift free of further products."""
        self._tally.A_products += 1
        if self._plain:
            return self.A.times(x)
        x, Bx = self.project(x, Bx)
        y = self.A.times(x)
        if self.shift:
            y = y + self.shift * Bx
        return self.project_dual(y)

    def apply_whitened(self, y: Array) -> Array:
        """U⁻ᴴAU⁻¹y for B = UᴴU, or A y for the identity; neither shifted nor deflated."""
        self._tally.A_products += 1
        if self.explicit is not None:
            return self.kernels.hemv(1.0, self.explicit, y)
        if self.B is None:
            return self.A.times(y)
        self._tally.B_solves += 1
        return self.solver.whitened(self.A.times, y)  # type: ignore[union-attr, no-any-return]

    def apply_plain_A(self, x: Array) -> Array:
        """A x, neither shifted nor deflated."""
        self._tally.A_products += 1
        return self.A.times(x)

    def products_A(self, X: Array) -> Array:
        """A X for columns, neither shifted nor deflated."""
        self._tally.A_products += X.shape[1]
        return self.A.times_block(X)

    def products_B(self, X: Array) -> Array:
        """B X for columns (X itself when B is the identity)."""
        if self.B is None:
            return X
        self._tally.B_products += X.shape[1]
        return self.B.times_block(X)

    def project(self, x: Array, Bx: Array) -> tuple[Array, Array]:
        """P x and B P x: the part of x that is B-orthogonal to what was found."""
        if self.found.shape[1] == 0:
            return x, Bx
        c = self.found.conj().T @ Bx
        x = x - self.found @ c
        return x, x if self.identity else Bx - self.B_found @ c

    def project_dual(self, y: Array) -> Array:
        """Pᴴ y, for y in the space of B x."""
        return y - self.B_found @ (self.found.conj().T @ y) if self.found.shape[1] else y

    def apply_B(self, x: Array) -> Array:
        """B x (x itself when B is the identity)."""
        if self.B is None:
            return x
        self._tally.B_products += 1
        return self.B.times(x)

    def solve_B(self, b: Array, guess: Array | None = None, B_guess: Array | None = None) -> tuple[Array, Array]:
        """Return w ≈ B⁻¹b and B w; an iterative solver starts from `guess`, whose product with B is `B_guess`."""
        if self.B is None:
            return b, b
        if self.solver is None:
            raise RuntimeError("this pencil has no solver for B yet")
        self._tally.B_solves += 1
        return self.solver.solve(b, guess, B_guess)

    def solves_B(self, R: Array) -> tuple[Array, Array]:
        """`solve_B` for columns R."""
        if self.B is None:
            return R, R
        if self.solver is None:
            raise RuntimeError("this pencil has no solver for B yet")
        self._tally.B_solves += R.shape[1]
        return self.solver.solve_block(R)

    def solve_K(self, factor: ShiftedSolver, b: Array) -> Array:
        """(A − σB)⁻¹b, counted."""
        self._tally.K_solves += 1
        return factor.solve(b)

    def solve_P(self, P: PSolver, b: Array) -> Array:
        """(PᴴP)⁻¹ b, counted."""
        self._tally.P_solves += 1
        return P.gram_solve(b)

    def solves_P(self, P: PSolver, R: Array) -> Array:
        """(PᴴP)⁻¹ R for columns, counted."""
        self._tally.P_solves += R.shape[1]
        return P.gram_block(R)

    def products_in_double(self, X: Array) -> tuple[Array, Array]:
        """A X and B X of the scaled pair, neither shifted nor deflated, in double precision; booked as monitoring."""
        tally, k = self.counts.monitoring, X.shape[1]
        tally.A_products += k
        AX = _in_double(self.A, X)
        if self.B is None:
            return AX, X
        tally.B_products += k
        return AX, _in_double(self.B, X)

    def B_norm(self, x: Array, Bx: Array) -> float:
        """√(xᴴBx); a B that shows negative curvature is refused here, however it was given."""
        square = self.kernels.dot(x, Bx)
        if not square > 0:
            raise NotPositiveDefinite(
                f"B is not positive definite: xᴴBx = {square:.3g} for a vector met in the iteration; "
                f"B must have only positive eigenvalues"
            )
        return math.sqrt(square)

    def rounding_of(self, values: Array, lengths: Array) -> Array:
        """How far rounding may move eigenvalues whose B-normalised vectors have these Euclidean lengths.

        A perturbation E of A or λB moves λ by uᴴEu, and that of rounding has the size 4 √n eps of their entries.
        """
        B_size = 1.0 if self.B is None else self.B.size
        sizes = self.A.size + (np.abs(values) + self.shift) * B_size
        return np.asarray(4 * math.sqrt(self.n) * self.eps * sizes * lengths**2)

    def original(self, value: float) -> float:
        """The user's eigenvalue for an eigenvalue of the scaled and shifted pair."""
        value -= self.shift
        if self.inverse is not None:
            sigma, sign = self.inverse
            value = sigma + sign / value if value else math.inf
        return value * self.unit

    def original_bound(self, value: float, error: float, noise: float) -> float:
        """How far the user's eigenvalue may be off when the (not shifted) value may be off by `error`.

        `noise` is the part of it that is due to rounding: that perturbs A − σB, so it is not magnified further.
        """
        if self.inverse is not None:
            size, rest = abs(value), error - noise
            error = rest / (size * (size - rest)) + noise / size**2 if rest < size else math.inf
            error += self.eps * abs(self.inverse[0])
        return error * abs(self.unit)


def _in_double(M: Operator, X: Array) -> Array:
    if X.shape[1] == 1 and M.dtype == X.dtype:
        return M.times(np.ascontiguousarray(X[:, 0]))[:, None]
    if M.matrix is None:
        return M.times_block(X)
    matrix = M.matrix.astype(X.dtype, copy=False)
    # the same product the other way round: with few columns BLAS is faster at it
    return np.asarray((X.T @ matrix.T).T if M.kind == "dense" else matrix @ X)
