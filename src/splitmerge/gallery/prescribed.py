"""Dense pairs with prescribed eigenvalues and a prescribed condition number of B."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..checks import real
from ..typing import Array


def prescribed_pair(
    values: ArrayLike, kappa_B: float = 10.0, *, dtype: DTypeLike = np.float64, rng: Any = None
) -> tuple[Array, Array]:
    """A Hermitian pair with the given eigenvalues, multiple ones included, κ(B) = kappa_B and ‖B‖ = 1.

    A = RᴴWΛWᴴR and B = RᴴR with random unitary matrices; complex if `dtype` is.

    >>> A, B = prescribed_pair([3.0, 3.0, 2.0, -1.0], kappa_B=100, dtype=complex, rng=0)
    >>> from scipy.linalg import eigvalsh
    >>> eigvalsh(A, B).round(10)
    array([-1.,  2.,  3.,  3.])
    >>> float(np.linalg.cond(B).round(6))
    100.0
    """
    kind = np.dtype(dtype)
    if kind.kind not in "fc":
        raise ValueError(f"dtype is {kind}; give a real or complex floating type")
    asked = np.asarray(values)
    if asked.ndim != 1 or not asked.size or asked.dtype.kind not in "iuf" or not np.isfinite(asked).all():
        raise ValueError("values must be a non-empty one-dimensional list of finite real numbers, the eigenvalues")
    kappa = real(kappa_B, "kappa_B", least=1.0)
    n, generator = asked.size, np.random.default_rng(rng)

    def basis() -> Array:
        G = generator.standard_normal((n, n))
        if kind.kind == "c":
            G = G + 1j * generator.standard_normal((n, n))
        return np.linalg.qr(G)[0]

    W, P, Q = basis(), basis(), basis()
    # singular values of R from 1/√κ to 1; for n = 1 the only one is 1
    singular = np.geomspace(kappa**-0.5, 1.0, n)[::-1] if n > 1 else np.ones(1)
    R = (P * singular) @ Q
    Y = W.conj().T @ R
    A, B = Y.conj().T @ (asked[:, None] * Y), R.conj().T @ R
    return ((A + A.conj().T) / 2).astype(kind), ((B + B.conj().T) / 2).astype(kind)
