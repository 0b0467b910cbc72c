"""The modes of `eigsh`: eigenvalues λ selected by 1/(λ − σ), (λ + σ)/(λ − σ) (Cayley) or λ/(λ − σ) (buckling).

All three are linear in the eigenvalue θ of an inverse: 1/(λ − σ) is θ itself, (λ + σ)/(λ − σ) is 1 + 2σθ, and
λ/(λ − σ) is −θ/σ for the θ of the pair (M, A) at 1/σ. So one iteration serves them all, with different targets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from ..problem.target import Target
from ..typing import Array

MODES = ("normal", "buckling", "cayley")


@dataclass(frozen=True)
class Reduced:
    """The pair (A, B) with the shift τ, in which large `sign` θ = ±1/(λ − τ) are large transformed values.

    `which` is "LM", "LA", "BE", or "SM" for the λ farthest from τ; with `skewed`, "LM" is by |1 + 2τθ|. `reciprocal`
    says that the eigenvalues of this pair are the reciprocals of those asked for, and `factor` times the inverse of the
    caller's A − σM is that of A − τB (None: the two are not related). `weight` is the caller's name of B.
    """

    A: Any
    B: Any
    shift: float
    sign: int
    which: str
    skewed: bool = False
    reciprocal: bool = False
    factor: float | None = 1.0
    weight: str = "M"

    @property
    def far(self) -> bool:
        """Are the values farthest from the shift wanted? Those need no inverse."""
        return self.which == "SM"

    def moved(self) -> LinearOperator:
        """A − τB."""
        B = sp.eye_array(self.A.shape[0]) if self.B is None else self.B
        return _linear(self.A) - self.shift * _linear(B)

    def values(self, values: Array) -> Array:
        """The eigenvalues asked for, from those of this pair."""
        with np.errstate(divide="ignore"):
            return 1 / values if self.reciprocal else values

    def target(self, shift: float) -> Target:
        """The eigenvalues θ that are wanted, for the shift of the scaled pair."""
        if self.skewed and self.which == "LM":
            return Target.farthest(-0.5 / abs(shift))
        return {"LM": Target.MAGNITUDE, "LA": Target.LARGEST, "BE": Target.ENDS}[self.which]

    def enough(self, n: int, below: int, k: int, infinite: int = 0) -> bool:
        """Are there enough eigenvalues on the wanted sides of τ, when `below` are below it?

        Eigenvalues far from τ belong to θ next to zero, where nothing converges in the inverse. `infinite` of them may
        be on either side.
        """
        high, low = (n - below, below) if self.sign > 0 else (below, n - below)
        high, low = high - infinite, low - infinite
        if self.which == "BE":
            return high >= (k + 1) // 2 and low >= k // 2
        return high >= k or (self.which == "LM" and not self.skewed)


def _linear(M: Any) -> LinearOperator:
    """M as a LinearOperator, also if it has nothing but `shape` and `@`."""
    # some sparse formats are converted at every product
    N: Any = M.tocsr() if hasattr(M, "tocsr") else M
    known = sp.issparse(N) or isinstance(N, np.ndarray) or hasattr(N, "matvec")
    return aslinearoperator(N) if known else LinearOperator(M.shape, matvec=lambda x: np.asarray(M @ x))


def reduce(A: Any, M: Any, sigma: float, mode: str, which: str) -> Reduced:
    """The pair, the shift and the selection that stand for `which` of the transformed values."""
    upwards = -1 if sigma < 0 else 1
    if mode == "buckling":
        M = sp.eye_array(A.shape[0], dtype=A.dtype, format="csr") if M is None else M
        reduced = Reduced(M, A, 1 / sigma, -upwards, which, reciprocal=True, factor=-sigma, weight="A")
    elif mode == "cayley" and sigma != 0 and which == "SM":
        # the reciprocal of the transformed value is the Cayley transform at −σ
        reduced = Reduced(A, M, -sigma, -upwards, "LM", skewed=True, factor=None)
    elif mode == "cayley" and sigma != 0:
        reduced = Reduced(A, M, sigma, upwards, which, skewed=True)
    else:
        reduced = Reduced(A, M, sigma, 1, which)
    if which == "SA":
        reduced = replace(reduced, which="LA", sign=-reduced.sign)
    return reduced


def transformed(values: Array, sigma: float | None, mode: str) -> Array:
    """The transformed value of each λ (which may be infinite)."""
    if sigma is None:
        return values
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        nearness = 1 / (values - sigma)
    if mode == "normal":
        return nearness
    return 1 + (2 if mode == "cayley" else 1) * sigma * nearness


def most_wanted(values: Array, which: str) -> Array:
    """Indices of the transformed values, the most wanted first."""
    if which in ("LM", "SM"):
        return np.argsort(np.abs(values) * (-1 if which == "LM" else 1), kind="stable")
    ascending = np.argsort(values, kind="stable")
    if which == "BE":
        return ascending[Target.ENDS.order(values[ascending])]
    return ascending[::-1] if which == "LA" else ascending
