"""Low rank plus diagonal: leading eigenpairs of the scaled B, and a multiple of I on their complement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import whole
from ..linalg.lanczos import LanczosProcess
from ..problem.products import Products
from ..problem.start import random_vector
from ..typing import Array
from .base import Factored, Preconditioner, Prepared
from .diagonal import root_of_diagonal


@dataclass(frozen=True)
class LowRank(Preconditioner):
    """PᴴP = D^½ (μI + V(Θ − μI)Vᴴ) D^½ with D = diag(B) and the `rank` leading Ritz pairs (Θ, V) of D^-½BD^-½.

    μ is the mean of the other eigenvalues, computed from the trace. Suited to a B that is a diagonal plus a low-rank
    matrix (factor models, kernels). The Ritz pairs are computed by 2·rank + 10 Lanczos steps.
    """

    rank: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        whole(self.rank, "rank", 1)

    def _prepare(self, pencil: Products) -> Prepared:
        root = root_of_diagonal(pencil)
        x = random_vector(pencil, np.random.default_rng(self.seed))
        process = LanczosProcess(lambda v, _: pencil.apply_B(v / root) / root, lambda y: (y, y), x, x)
        while process.steps < min(pencil.n, 2 * self.rank + 10) and not process.exhausted:
            process.extend()
        count = min(self.rank, process.steps)
        values, vectors = process.ritz(process.steps - count, process.steps - 1)
        V = np.column_stack([process.vector(s) for s in vectors.T.astype(pencil.dtype)])
        # trace(D^-½ B D^-½) = n
        rest = pencil.n - count
        mean = (pencil.n - float(values.sum())) / rest if rest else 1.0
        # for an ill-conditioned B rounding may leave neither the small ones nor the mean positive
        least = float(values.max()) * pencil.eps
        return _LowRank(root, V, np.maximum(values, least), max(mean, least))


class _LowRank(Factored):
    """P = M^½ D^½ with M = μI + V(Θ − μI)Vᴴ; Mᵃ has the same form, with μᵃ and Θᵃ."""

    def __init__(self, root: Array, V: Array, values: Array, mean: float) -> None:
        self.root, self.V, self.values, self.mean = root, V, values.astype(root.dtype), mean

    def _power(self, exponent: float, x: Array) -> Array:
        rest = self.mean**exponent
        return np.asarray(rest * x + self.V @ ((self.values**exponent - rest) * (self.V.conj().T @ x)))

    def apply(self, x: Array) -> Array:
        return self._power(0.5, self.root * x)

    def solve(self, y: Array) -> Array:
        return self._power(-0.5, y) / self.root

    def solve_adjoint(self, x: Array) -> Array:
        return self._power(-0.5, x / self.root)

    def gram_solve(self, b: Array) -> Array:
        return self._power(-1.0, b / self.root) / self.root
