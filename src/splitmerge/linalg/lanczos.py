"""The Lanczos process for a pair (K, M), and an upper bound of the largest eigenvalue from it.

Invariant: after j steps the columns of V are M-orthonormal, MV holds M V, and K V = MV T + β_j p_{j+1} e_jᴴ with T
tridiagonal (α on the diagonal, β off the diagonal). Each step takes one product with K and one solve with M.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dstemr, dstev

from ..errors import NotPositiveDefinite
from ..system.processes import agreed
from ..typing import Array
from .blas import kernels
from .multiply import product
from .reductions import extent, gram, vdot

EPS = float(np.finfo(float).eps)
# Up to this size all eigenpairs by the QR algorithm are faster than some of them.
QR_SIZE = 24
# A tridiagonal matrix of size m may split where an entry next to the diagonal is below this multiple of m eps ‖T‖.
SPLIT_UNITS = 10


def tridiagonal_pairs(d: Array, e: Array, first: int, last: int) -> tuple[Array, Array] | None:
    """Eigenpairs `first`…`last` (0-based, ascending) of a real tridiagonal matrix; None where LAPACK fails.

    The matrix has the diagonal d and the subdiagonal e, which is as long; both may be overwritten.
    """
    size = d.size
    if size <= QR_SIZE:
        if not math.isfinite(d.sum() + e[: size - 1].sum()):
            return None
        values, vectors, info = dstev(d, e[: max(size - 1, 1)])
        return None if info else (values[first : last + 1], vectors[:, first : last + 1])
    links = np.abs(e[: size - 1])
    # of a matrix that splits into blocks, dstemr selects eigenvalues by approximations to eight digits
    largest = max(float(np.abs(d).max()), float(links.max(initial=0.0)))
    splits = bool((links <= SPLIT_UNITS * size * EPS * largest).any())
    low, high = (0, size - 1) if splits else (first, last)
    count, values, vectors, info = dstemr(d, e, 2, 0.0, 0.0, low + 1, high + 1, compute_v=1)
    # multiple eigenvalues of such a matrix may leave vectors that are not finite
    if info or count != high - low + 1 or not math.isfinite(vectors[:, :count].sum()):
        return None
    chosen = slice(first - low, last - low + 1)
    return values[chosen], vectors[:, chosen]


class Tridiagonal(ABC):
    """The tridiagonal matrix of a Lanczos process for matrices of this `size`; each call of `extend` adds a row."""

    def __init__(self, size: int, eps: float) -> None:
        self.size, self.eps = size, eps
        self.alpha: list[float] = []
        self.beta: list[float] = []
        self.exhausted = False

    @property
    def steps(self) -> int:
        """The number of Lanczos steps, i.e. of products with K."""
        return len(self.alpha)

    @abstractmethod
    def extend(self) -> None:
        """One step of the three-term recurrence; sets `exhausted` when the basis spans an invariant subspace."""

    def ritz(self, first: int, last: int) -> tuple[Array, Array]:
        """Ritz values `first`…`last` (0-based, ascending), with their eigenvectors of T."""
        j = self.steps
        d, e = np.array(self.alpha), np.array(self.beta)
        found = tridiagonal_pairs(d, e, first, last)
        if found is None:
            values, vectors = np.linalg.eigh(np.diag(d) + np.diag(e[:-1], 1) + np.diag(e[:-1], -1))
            found = values[first : last + 1], vectors[:, first : last + 1]
        return found[0], found[1][:j]

    def _record(self, alpha: float, beta: float) -> bool:
        """Append a row; is the subspace invariant?"""
        size = max(abs(alpha), *self.beta[-1:], abs(self.alpha[0]) if self.alpha else 0.0)
        self.exhausted = beta <= 10 * self.eps * size
        self.alpha.append(alpha)
        self.beta.append(0.0 if self.exhausted else beta)
        return self.exhausted


class PlainLanczos(Tridiagonal):
    """The recurrence for K alone without reorthogonalisation, of which two vectors are kept: Ritz values only."""

    def __init__(self, times: Callable[[Array], Array], x: Array) -> None:
        super().__init__(extent(x), float(np.finfo(x.dtype).eps))
        self.times, self.kernels = times, kernels(x.dtype)
        self.v = self.before = x / self.kernels.norm(x)

    def extend(self) -> None:
        """One product with K, whose result is overwritten."""
        dot, norm, axpy, v = self.kernels.dot, self.kernels.norm, self.kernels.axpy, self.v
        w = self.times(v)
        alpha = float(dot(v, w))
        w = axpy(v, w, a=-alpha)
        if self.beta:
            w = axpy(self.before, w, a=-self.beta[-1])
        beta = float(norm(w))
        if not self._record(alpha, beta):
            self.before, self.v = v, np.multiply(w, 1 / beta, out=w)


class LanczosProcess(Tridiagonal):
    """Lanczos basis of a Krylov subspace; each call of `extend` adds one vector.

    With `reorthogonalise`, each new vector is fully reorthogonalised.
    """

    def __init__(
        self,
        multiply: Callable[[Array, Array], Array],
        solve: Callable[[Array], tuple[Array, Array]],
        x: Array,
        Mx: Array,
        *,
        reorthogonalise: bool = True,
    ) -> None:
        super().__init__(extent(x), float(np.finfo(x.dtype).eps))
        self.multiply, self.solve, self.reorthogonalise = multiply, solve, reorthogonalise
        self.identity = Mx is x
        self._V = np.empty((x.size, 32), x.dtype, order="F")
        self._MV = self._V if self.identity else np.empty_like(self._V)
        self._put(0, x, Mx, math.sqrt(vdot(x, Mx).real))

    def vector(self, coefficients: Array) -> Array:
        """The linear combination V s of the first basis vectors."""
        return product(self._V[:, : coefficients.size], coefficients)

    def dual(self, coefficients: Array) -> Array:
        """M V s for the coefficients s."""
        return product(self._MV[:, : coefficients.size], coefficients)

    def error(self, coefficients: Array) -> Array:
        """The residual K x − θ M x = β_j s_j p_{j+1} of the Ritz vector x = V s."""
        j = coefficients.size
        return np.asarray(self._MV[:, j] * (self.beta[j - 1] * coefficients[-1]))

    def project(self, KV: Array) -> tuple[Array, Array]:
        """Ritz values (ascending) and coefficients by Rayleigh–Ritz on the basis V, given KV = K V."""
        j = KV.shape[1]
        V, MV = self._V[:, :j], self._MV[:, :j]
        H, G = gram(V, KV), gram(V, MV)
        try:
            return agreed(eigh((H + H.conj().T) / 2, (G + G.conj().T) / 2))
        except np.linalg.LinAlgError:
            raise NotPositiveDefinite("B is so badly conditioned that it is not positive definite on a basis") from None

    def _put(self, j: int, v: Array, Mv: Array, norm: float) -> None:
        if j == self._V.shape[1]:
            grown = np.empty((v.size, 2 * j), v.dtype, order="F")
            grown[:, :j] = self._V
            self._V = grown
            if self.identity:
                self._MV = grown
            else:
                dual = np.empty_like(grown)
                dual[:, :j] = self._MV
                self._MV = dual
        np.divide(v, norm, out=self._V[:, j])
        if not self.identity:
            np.divide(Mv, norm, out=self._MV[:, j])

    def extend(self) -> None:
        """One step of the three-term recurrence; sets `exhausted` when the basis spans an invariant subspace."""
        j = self.steps
        v, p = self._V[:, j], self._MV[:, j]
        y = self.multiply(v, p)
        alpha = float(vdot(v, y).real)
        y = y - alpha * p
        if j:
            y -= self.beta[-1] * self._MV[:, j - 1]
        if self.reorthogonalise:
            y -= product(self._MV[:, : j + 1], gram(self._V[:, : j + 1], y))
        w, Mw = self.solve(y)
        if self.reorthogonalise:
            c = gram(self._MV[:, : j + 1], w)
            w = w - product(self._V[:, : j + 1], c)
            Mw = w if self.identity else Mw - product(self._MV[:, : j + 1], c)
        square = float(vdot(w, Mw).real)
        whole = self.reorthogonalise and j + 1 == self.size
        beta = math.sqrt(square) if square > 0 and not whole else 0.0
        self._record(alpha, beta)
        self._put(j + 1, w, Mw, beta if beta > 0 else 1.0)


def largest_eigenvalue(process: Tridiagonal, steps: int) -> float:
    """An upper bound of the largest eigenvalue of a positive definite (K, M), with failure probability about 1e-6.

    After j steps from a random start the largest Ritz value θ satisfies λ₁ ≤ θ/(1 − ε) except with probability
    1.648 √n exp(−√ε (2j − 1)) (Kuczyński and Woźniakowski 1992, theorem 4.2, for a start that is isotropic in the
    M-inner product). The bound is exact if the basis spans an invariant subspace.
    """
    while process.steps < steps and not process.exhausted:
        process.extend()
    j = process.steps
    top = float(process.ritz(j - 1, j - 1)[0][0])
    if process.exhausted:
        return top
    root = log_of_failure(process.size) / (2 * j - 1)
    return top / (1 - min(root, 0.9) ** 2)


def log_of_failure(n: int) -> float:
    """√ε (2j − 1) for the ε of `largest_eigenvalue` after j steps."""
    return math.log(1.648e6 * math.sqrt(n))
