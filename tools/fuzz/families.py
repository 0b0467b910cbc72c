"""Problem families: a pair (A, B) as dense arrays, and what is wrong with it, if anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .matrices import MATRICES, Rng, spectrum, with_spectrum
from .precise import Array, hermitian


@dataclass(frozen=True)
class Problem:
    """A pair as dense arrays; `hostile` names what may be refused, `rank` is that of a singular B."""

    family: str
    A: Array
    B: Array | None
    hostile: str = ""
    rank: int | None = None
    note: str = ""

    @property
    def n(self) -> int:
        """The order."""
        return len(self.A)

    @property
    def eps(self) -> float:
        """The rounding of the precision that the pair is given in."""
        single = self.A.dtype.char in "fF" and (self.B is None or self.B.dtype.char in "fF")
        return float(np.finfo(np.float32 if single else np.float64).eps)


def size(rng: Rng, most: int = 600) -> int:
    """Mostly small, sometimes tiny, rarely large enough for an iterative method to be the natural choice."""
    kind = rng.random()
    if kind < 0.12:
        n = int(rng.integers(1, 4))
    elif kind < 0.65:
        n = int(rng.integers(4, 41))
    else:
        n = int(rng.integers(41, 151)) if kind < 0.93 else int(rng.integers(151, 601))
    return min(n, most) if n <= 3 else min(n, int(rng.integers(max(4, most // 2), most + 1)))


def definite(rng: Rng, n: int, kappa: float) -> Array:
    """A dense B of the given condition."""
    return with_spectrum(rng, rng.permutation(np.geomspace(1 / kappa, 1, n)) if n > 1 else np.ones(1))


def mass(rng: Rng, n: int) -> Array | None:
    """No B, or a well conditioned one."""
    kind = rng.choice(["none", "none", "identity", "diagonal", "dense", "tridiagonal"])
    if kind == "none":
        return None
    if kind == "identity":
        return np.eye(n) * rng.choice([1.0, 3.0])
    if kind == "diagonal":
        return np.diag(rng.uniform(0.1, 10, n))
    if kind == "tridiagonal":
        return np.asarray((4 * np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)) / 6)
    return definite(rng, n, float(rng.choice([1.0, 1e2, 1e4])))


def _plain(name: str) -> Callable[[Rng], Problem]:
    def make(rng: Rng) -> Problem:
        n = size(rng)
        A = MATRICES[name](rng, n)
        sign = rng.choice([1.0, 1.0, 1.0, -1.0])
        return Problem(name, sign * A, mass(rng, len(A)))

    return make


def _any(rng: Rng, n: int) -> Array:
    return MATRICES[str(rng.choice(list(MATRICES)))](rng, n)


def fem(rng: Rng) -> Problem:
    """Stiffness and mass of linear elements on an interval, or bilinear ones on a square; Neumann ends sometimes."""
    square = bool(rng.random() < 0.5)
    m = int(rng.integers(2, 18)) if square else size(rng)
    h, free = 1 / (m + 1), rng.random() < 0.3
    K = (2 * np.eye(m) - np.eye(m, k=1) - np.eye(m, k=-1)) / h
    M = (4 * np.eye(m) + np.eye(m, k=1) + np.eye(m, k=-1)) * h / 6
    if free and m > 1:
        K[[0, -1], [0, -1]], M[[0, -1], [0, -1]] = 1 / h, h / 3
    if square:
        K, M = np.kron(K, M) + np.kron(M, K), np.kron(M, M)
    return Problem("fem", hermitian(K), np.diag(M.sum(axis=0)) if rng.random() < 0.2 else hermitian(M))


def conditioned(rng: Rng) -> Problem:
    """A badly conditioned B."""
    n = size(rng, 44)
    kappa = float(rng.choice([1e4, 1e6, 1e8, 1e12]))
    A = _any(rng, n)
    B = np.diag(np.geomspace(1 / kappa, 1, len(A))) if rng.random() < 0.2 else definite(rng, len(A), kappa)
    return Problem("conditioned", A, B)


def congruent(rng: Rng) -> Problem:
    """D A D and D B D: the unknowns in units that differ by orders of magnitude."""
    A = _any(rng, size(rng, 44))
    B = mass(rng, len(A))
    D = 10.0 ** rng.uniform(-4, 4, len(A))
    B = np.eye(len(A)) if B is None else B
    return Problem("congruent", hermitian(D[:, None] * A * D), hermitian(D[:, None] * B * D))


def scaled(rng: Rng) -> Problem:
    """A and B times very large or small numbers."""
    A = _any(rng, size(rng, 60))
    B = definite(rng, len(A), 10.0)
    a, b = [(1e150, 1), (1, 1e150), (1e-150, 1), (1, 1e-150), (1e150, 1e150), (1e-150, 1e-150), (1e20, 1e-20)][
        int(rng.integers(7))
    ]
    return Problem("scaled", A * a, None if b == 1 and rng.random() < 0.5 else B * b)


def massless(rng: Rng) -> Problem:
    """B singular: zero rows, or a low rank; A regular on its null space, or not."""
    n = size(rng, 40) + 1
    rank = int(rng.integers(0, n))
    A, singular = hermitian(rng.normal(size=(n, n))) + 3 * n**0.5 * np.eye(n), rng.random() < 0.25
    if rng.random() < 0.5:
        keep = np.sort(rng.permutation(n)[:rank])
        B = np.zeros((n, n))
        B[np.ix_(keep, keep)] = definite(rng, rank, 10.0) if rank else 0
        rest = np.setdiff1d(np.arange(n), keep)
        if rng.random() < 0.3:
            A[np.ix_(keep, rest)], A[np.ix_(rest, keep)] = 0, 0
        if singular:
            A[rest[0]], A[:, rest[0]] = 0, 0
        return Problem("massless", A, B, "singular pencil" if singular else "singular B", rank)
    G = rng.integers(-3, 4, size=(n, rank)).astype(float)
    rank = int(np.linalg.matrix_rank(G)) if rank else 0
    A = G @ G.T if singular else A
    return Problem("massless", A, G @ G.T, "singular pencil" if singular else "singular B", rank)


def indefinite(rng: Rng) -> Problem:
    """A B with negative eigenvalues, which must be refused."""
    n = size(rng, 120)
    values = rng.uniform(0.1, 1, n)
    values[: int(rng.integers(1, n + 1))] *= -1
    B = np.diag(values) if rng.random() < 0.3 else with_spectrum(rng, values)
    return Problem("indefinite", spectrum(rng, n), B, "indefinite B")


def hermitian_pair(rng: Rng) -> Problem:
    """Complex Hermitian: a unitary congruence of a real pair, or a random one."""
    A = _any(rng, size(rng, 100))
    n, B = len(A), mass(rng, len(A))
    if rng.random() < 0.5:
        F = np.exp(1j * rng.uniform(0, 6.3, n))
        rotate = lambda M: hermitian(F[:, None] * M * F.conj())  # noqa: E731
    else:
        Q = np.linalg.qr(rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n)))[0]
        rotate = lambda M: hermitian(Q @ M @ Q.conj().T)  # noqa: E731
    one = rng.random()
    A_given = rotate(A) if one < 0.9 or B is None else A
    return Problem("complex", A_given, B if B is None or one < 0.2 else rotate(B))


def single(rng: Rng) -> Problem:
    """In float32, or complex64."""
    base = hermitian_pair(rng) if rng.random() < 0.2 else Problem("single", _any(rng, size(rng, 150)), None)
    B = None if rng.random() < 0.4 else definite(rng, base.n, float(rng.choice([1.0, 1e2])))
    cast = np.complex64 if np.iscomplexobj(base.A) else np.float32
    return Problem("single", base.A.astype(cast), None if B is None else B.astype(np.float32))


def integers(rng: Rng) -> Problem:
    """In integers, or booleans."""
    n = size(rng, 150)
    A = rng.integers(-9, 10, (n, n))
    A = A + A.T
    B = None if rng.random() < 0.5 else np.diag(rng.integers(1, 9, n)) + 2 * np.eye(n, dtype=int)
    dtype = rng.choice(["int64", "int32", "int8"])
    if rng.random() < 0.1:
        return Problem("integers", A > 0, None)
    return Problem("integers", A.astype(dtype), None if B is None else B.astype(dtype))


def broken(rng: Rng) -> Problem:
    """Not symmetric, not finite, not square or not of one size: must be refused."""
    n = size(rng, 60) + 2
    A, B = spectrum(rng, n), None if rng.random() < 0.4 else definite(rng, n, 10.0)
    base, M = Problem("broken", A, B), (A if B is None or rng.random() < 0.6 else B)
    kind = str(rng.choice(["nonsymmetric", "nan", "inf", "triangle", "antisymmetric"]))
    i, j = rng.permutation(n)[:2]
    if kind == "nonsymmetric":
        # relative to the largest entry, as what rounding explains is
        M[i, j] += rng.choice([1e-3, 1.0]) * max(1.0, float(np.abs(M).max()))
    elif kind == "triangle":
        M[:] = np.triu(with_spectrum(rng, rng.uniform(1, 2, n)) + 1)
    elif kind == "antisymmetric":
        M[:] = np.triu(np.ones((n, n)), 1) - np.tril(np.ones((n, n)), -1)
    else:
        M[i, j] = M[j, i] = np.nan if kind == "nan" else np.inf
    return replace(base, hostile=kind, note=kind + (" A" if M is A else " B"))


FAMILIES: dict[str, tuple[float, Callable[[Rng], Problem]]] = {
    "spectrum": (6, _plain("spectrum")),
    "graph": (3, _plain("graph")),
    "gram": (2, _plain("gram")),
    "classic": (2, _plain("classic")),
    "diagonal": (2, _plain("diagonal")),
    "blocks": (1, _plain("blocks")),
    "fem": (2, fem),
    "conditioned": (2.5, conditioned),
    "congruent": (2, congruent),
    "scaled": (1.5, scaled),
    "massless": (1.5, massless),
    "indefinite": (0.7, indefinite),
    "complex": (2, hermitian_pair),
    "single": (1.5, single),
    "integers": (1, integers),
    "broken": (0.8, broken),
}
