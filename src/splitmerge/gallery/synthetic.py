"""The paper's synthetic pairs (appendix E)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..typing import Array

SIZES = (256, 512, 1024)
KAPPA_B = (3, 5, 8, 10, 13, 30, 40, 50, 80, 100)


def synthetic_pair(n: int, kappa_B: float, *, kappa_A: float = 100.0, rng: Any = None) -> tuple[Array, Array]:
    """A and B with eigenvalues equally spaced in [1/κ, 1] and independent random orthogonal eigenvectors.

    >>> A, B = synthetic_pair(20, 3.0, rng=0)
    >>> float(np.linalg.cond(B).round(10))
    3.0
    """
    generator = np.random.default_rng(rng)

    def matrix(kappa: float) -> Array:
        Q, R = np.linalg.qr(generator.standard_normal((n, n)))
        Q *= np.sign(R.diagonal())  # Haar-distributed only with this sign convention
        M = (Q * np.linspace(1 / kappa, 1, n)) @ Q.T
        return np.asarray((M + M.T) / 2)

    return matrix(kappa_A), matrix(kappa_B)
