"""What rounding allows: attainable residuals, thresholds for pivots, and the scale that residuals are relative to."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..typing import Array

# The attainable residual never excuses more than this power of eps: 5e-7 in double, 2e-3 in single precision.
EXCUSE_EXPONENT = 0.4


class Scale(NamedTuple):
    """What the residual of (A + ηB, B) at an eigenvalue λ is relative to, and the level that rounding leaves.

    `shift` is η, `radius` an estimate Λ of the largest |λ| of (A + ηB, B), `n` and `eps` belong to the pencil, and
    `A_size`, `B_size` are the largest magnitudes of the entries. A residual is relative to max(|λ|, √eps Λ).
    """

    shift: float
    radius: float
    n: int
    eps: float
    A_size: float
    B_size: float

    def moved(self, shift: float, radius: float) -> Scale:
        """The scale of the same pencil with another shift and radius."""
        return Scale(shift, radius, self.n, self.eps, self.A_size, self.B_size)

    def magnitude(self, value: float) -> float:
        """max(|λ|, √eps Λ): an eigenvalue that is lost in the rounding of the largest one counts as zero."""
        return max(abs(value), math.sqrt(self.eps) * self.radius)

    @property
    def attainable(self) -> float:
        """4 √n eps, the relative residual that the rounding of one product leaves."""
        return attainable_residual(self.n, self.eps)

    def rounding_level(self, value: float, length: float, scale: float) -> float:
        """4 √n eps (|A| + Λ|B|) ‖x‖ relative to `scale`, the norm of λBx; |·| is the largest entry."""
        size = self.A_size + max(self.radius, abs(value)) * self.B_size
        return 4 * math.sqrt(self.n) * self.eps * relative(size * length, scale)

    def excusable(self, level: float) -> float:
        """The part of the rounding level that counts as converged."""
        return min(level, float(self.eps**EXCUSE_EXPONENT))

    def perturbation(self, values: Array, lengths: Array) -> Array:
        """How far rounding may move eigenvalues whose B-normalised vectors have these Euclidean norms.

        A perturbation E of A or λB moves λ by uᴴEu, and the rounding of their entries has the size 4 √n eps.
        """
        sizes = self.A_size + (np.abs(values) + self.shift) * self.B_size
        return np.asarray(4 * math.sqrt(self.n) * self.eps * sizes * lengths**2)


def attainable_residual(n: int, eps: float) -> float:
    """4 √n eps, the relative residual that the rounding of one product leaves."""
    return 4 * math.sqrt(n) * eps


def relative(error: float, size: float) -> float:
    """error / size, with 0/0 = 0."""
    if error == 0:
        return 0.0
    return error / size if size > 0 else math.inf


def pivot_threshold(n: int, dtype: np.dtype[Any]) -> float:
    """A pivot smaller than this fraction of its diagonal entry is not distinguishable from zero."""
    return 10 * math.sqrt(n) * float(np.finfo(dtype).eps)
