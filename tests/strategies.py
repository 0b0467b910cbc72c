"""Random pencils whose spectrum, factor and eigenvectors are known, for tests over hypothesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from hypothesis import strategies as st

EPS = float(np.finfo(float).eps)

seeds = st.integers(0, 2**32 - 1)
dtypes = st.sampled_from([float, complex])


@dataclass(frozen=True, repr=False)
class Pair:
    """A = FᴴF (F of full row rank), B positive definite, A U = B U Λ with UᴴBU = I and Λ descending."""

    A: np.ndarray
    B: Any
    F: np.ndarray
    eigenvalues: np.ndarray
    U: np.ndarray
    kappa: float
    seed: int

    @property
    def n(self) -> int:
        return self.A.shape[0]

    @property
    def dense_B(self) -> np.ndarray:
        return self.B.toarray() if sp.issparse(self.B) else self.B

    @property
    def top(self) -> float:
        return float(self.eigenvalues[0])

    def rng(self, stream: int = 0) -> np.random.Generator:
        return np.random.default_rng([self.seed, stream])

    def vector(self, stream: int = 0, size: int | None = None) -> np.ndarray:
        """A normally distributed vector in the dtype of the pair."""
        return normal(self.rng(stream), (size or self.n,), self.A.dtype)

    def f_rounding(self, x: np.ndarray) -> float:
        """A bound on the rounding error of f(x), every product and inner product counted."""
        r = np.linalg.norm(self.F @ x)
        curvature = np.linalg.norm(self.dense_B, 2) + np.linalg.norm(self.A, 2) / (2 * r)
        return 4 * self.n * EPS * curvature * float(np.linalg.norm(x)) ** 2

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # hypothesis would print every matrix; the repr is enough to rebuild them
        printer.text(repr(self))

    def __repr__(self) -> str:
        kind = "sparse" if sp.issparse(self.B) else "dense"
        return f"Pair(n={self.n}, {self.A.dtype}, {kind} B, κ={self.kappa:.3g}, seed={self.seed}, λ={self.eigenvalues})"


def normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    x = rng.standard_normal(shape)
    return x + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else x


def unitary(rng: np.random.Generator, n: int, dtype: Any) -> np.ndarray:
    return np.linalg.qr(normal(rng, (n, n), dtype))[0]


def definite(n: int, kappa: float, rng: np.random.Generator, dtype: Any = float, scale: float = 1.0) -> np.ndarray:
    """A dense positive definite matrix with condition number `kappa`."""
    Q = unitary(rng, n, dtype)
    values = scale * np.exp(rng.uniform(0, np.log(kappa), n))
    values[0], values[-1] = scale, scale * kappa
    return hermitian((Q * values) @ Q.conj().T)


def sparse_definite(n: int, kappa: float, rng: np.random.Generator, dtype: Any = float) -> sp.csr_array:
    """A sparse positive definite matrix: a weighted graph Laplacian with phases, under a diagonal congruence."""
    weights = np.tril(rng.uniform(0.2, 1.0, (n, n)) * (rng.random((n, n)) < min(1.0, 3 / n)), -1)
    weights[np.arange(1, n), np.arange(n - 1)] = rng.uniform(0.2, 1.0, n - 1)
    phase = np.exp(2j * np.pi * rng.random((n, n))) if np.dtype(dtype).kind == "c" else rng.choice([-1.0, 1.0], (n, n))
    degree = weights.sum(axis=0) + weights.sum(axis=1)
    lower = weights * phase
    matrix = lower + lower.conj().T + np.diag(degree + rng.uniform(0.1, 1.0, n))
    d = kappa ** (rng.uniform(-0.25, 0.25, n))
    return sp.csr_array(hermitian(d[:, None] * matrix * d))


def hermitian(X: np.ndarray) -> np.ndarray:
    """X with the rounding taken out of its symmetry."""
    return (X + X.conj().T) / 2


def with_spectrum(eigenvalues: np.ndarray, B: Any, kappa: float, seed: int, dtype: Any = float) -> Pair:
    """The pair A = L W Λ Wᴴ Lᴴ for B = L Lᴴ and a random unitary W."""
    values = np.asarray(eigenvalues, dtype=float)
    rank = int(np.count_nonzero(values))
    L = np.linalg.cholesky(B.toarray() if sp.issparse(B) else B)
    W = unitary(np.random.default_rng([seed, 99]), values.size, dtype)
    F = np.sqrt(values[:rank, None]) * (L @ W[:, :rank]).conj().T
    U = la.solve_triangular(L.conj().T, W)
    return Pair(hermitian(F.conj().T @ F), B, F, values, U, kappa, seed)


def make_pair(
    eigenvalues: Any,
    kappa: float = 10.0,
    seed: int = 0,
    dtype: Any = float,
    *,
    sparse: bool = False,
    scale: float = 1.0,
) -> Pair:
    """A pair with this spectrum (descending) and a random B."""
    values = np.asarray(eigenvalues, dtype=float)
    rng = np.random.default_rng(seed)
    B = sparse_definite(values.size, kappa, rng, dtype) if sparse else definite(values.size, kappa, rng, dtype, scale)
    return with_spectrum(values, B, kappa, seed, dtype)


def gep(A: Any, B: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvalues of (A, B), descending, and their B-orthonormal vectors."""
    dense = [X.toarray() if sp.issparse(X) else X for X in (A, B)]
    values, vectors = la.eigh(*dense)
    return values[::-1], vectors[:, ::-1]


@st.composite
def spectra(draw: st.DrawFn, *, min_n: int = 2, max_n: int = 25, gap: float = 0.0, singular: bool = True) -> np.ndarray:
    """Descending eigenvalues ≥ 0 with λ₂ ≤ (1 − gap)λ₁, of five shapes and sizes from 1e-3 to 1e3."""
    n = draw(st.integers(min_n, max_n), label="n")
    rng = np.random.default_rng(draw(seeds, label="spectrum seed"))
    shapes = ["uniform", "geometric", "double", "cluster"] + ["singular"] * singular
    shape = draw(st.sampled_from(shapes), label="spectrum")
    if shape == "geometric":
        values = np.geomspace(1, 10.0 ** -draw(st.integers(1, 4)), n)
    elif shape == "cluster":
        values = 0.5 + 1e-3 * rng.random(n)
    else:
        values = rng.uniform(0.05, 1.0, n)
    values = np.sort(values)[::-1] / values.max()
    values[1:] = np.minimum(values[1:], 1 - gap)
    if shape == "double" and n > 2:
        values[2] = values[1]
    if shape == "singular":
        values[rng.integers(1, n) :] = 0
    return values * 10.0 ** draw(st.integers(-3, 3), label="size")


@st.composite
def pairs(
    draw: st.DrawFn,
    *,
    min_n: int = 2,
    max_n: int = 25,
    gap: float = 0.0,
    singular: bool = True,
    complex_too: bool = True,
    sparse: bool = False,
    max_kappa: float = 1e4,
) -> Pair:
    """A random pair; `sparse` is about B, A is always dense."""
    values = draw(spectra(min_n=min_n, max_n=max_n, gap=gap, singular=singular))
    kappa = float(max_kappa ** draw(st.floats(0, 1), label="log κ"))
    dtype = complex if complex_too and draw(st.booleans(), label="complex") else float
    seed = draw(seeds, label="seed")
    scale = 1.0 if sparse else 10.0 ** draw(st.integers(-2, 2), label="B size")
    return make_pair(values, kappa, seed, dtype, sparse=sparse, scale=scale)
