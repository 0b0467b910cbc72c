"""The search space of the default solver: a thick-restarted block Lanczos basis, always fully orthonormal.

Invariant: the first `size` columns of V are orthonormal in the inner product of the domain, H is the projection of T
on their span, and T V = V H + Q C. The waiting block Q, the `width` columns that follow, is orthonormal to V and has
not been multiplied yet; C = `coupling` reaches the last `reach` columns of V only (all of them after a restart).
The span holds the Ritz vectors X, the split directions T X and T²X and, as a memory, Ritz vectors of earlier steps: so
Rayleigh–Ritz on it lowers f at least as far as a Split-Merge step does.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import eigh, get_blas_funcs
from scipy.linalg.lapack import dstemr

from ..kernels import Array
from .domain import Domain
from .wanted import Wanted

# Rows that are rotated at a time in a restart: the copy stays small beside the basis.
ROWS = 512


class Basis:
    """Grows by a block a call of `expand`; holds at most `capacity` columns before it has to be restarted."""

    def __init__(self, domain: Domain, capacity: int, wanted: Wanted, rng: np.random.Generator) -> None:
        n, dtype = domain.n, domain.dtype
        self.domain, self.wanted, self.rng = domain, wanted, rng
        self.capacity = min(capacity, n)
        self.V = np.empty((n, self.capacity), dtype, order="F")
        self.Z = self.V if domain.single else np.empty_like(self.V)
        self.H = np.zeros((self.capacity, self.capacity), np.result_type(dtype, np.float64))
        self.eps = float(np.finfo(dtype).eps)
        self.trans = 2 if dtype.kind == "c" else 1
        self.gemv, self.norm = get_blas_funcs(("gemv", "nrm2"), dtype=dtype)
        # the largest |value| and the least Rayleigh quotient that were seen
        self.radius, self.lowest = 0.0, np.inf
        self.products = 0
        self.size = self.width = self.reach = 0
        self.coupling: Array = np.zeros((0, 0), self.H.dtype)
        self.tridiagonal = True

    @property
    def full(self) -> bool:
        """Is there no room for what the next step would bring?"""
        return self.capacity < self.domain.n and self.size + 2 * self.width > self.capacity

    @property
    def complete(self) -> bool:
        """Does V span the whole space?"""
        return self.size == self.domain.n

    def start(self, X: Array) -> None:
        """Let the columns of X (in the coordinates of the pencil) be the first block."""
        W, Z = self.domain.enter(X)
        self.size = self.width = self.reach = 0
        self._wait(W, Z, scale=0.0)
        self.coupling = np.zeros((self.width, 0))

    def expand(self) -> None:
        """Multiply the waiting block by T; what is new of it waits for the next call."""
        j, b, V, Z = self.size, self.width, self.V, self.Z
        if b == 1:
            self._expand_vector()
            return
        own, other = (Z, V) if self.domain.dual_first else (V, Z)
        block = slice(j, j + b)
        W = np.column_stack([self.domain.apply(V[:, i], Z[:, i]) for i in range(j, j + b)])
        alpha = other[:, block].conj().T @ W
        alpha = (alpha + alpha.conj().T) / 2
        known = np.vstack([self.coupling.conj().T, alpha]).astype(V.dtype)
        W -= own[:, j - self.reach : j + b] @ known
        self.H[block, j - self.reach : j] = self.coupling
        self.H[block, block] = alpha
        self.tridiagonal = False
        columns = [self.domain.complete(np.ascontiguousarray(w)) for w in W.T]
        W, D = (np.column_stack(parts) for parts in zip(*columns, strict=True))
        self._advance(W, D, alpha.diagonal().real)

    def _expand_vector(self) -> None:
        j, V, Z = self.size, self.V, self.Z
        own, other = (Z, V) if self.domain.dual_first else (V, Z)
        w = self.domain.apply(V[:, j], Z[:, j])
        alpha = np.vdot(other[:, j], w).real
        first = j - self.reach
        known = np.append(self.coupling[0].conj(), alpha)
        w = self.gemv(-1.0, own[:, first : j + 1], known, 1.0, w, overwrite_y=1)
        self.H[j, first:j] = self.coupling[0]
        self.H[j, j] = alpha
        self.tridiagonal &= self.reach <= 1
        self._advance(*self.domain.complete(w), np.atleast_1d(alpha))

    def _advance(self, w: Array, d: Array, quotients: Array) -> None:
        self.products += self.width
        self.radius = max(self.radius, float(np.max(np.abs(quotients))))
        self.lowest = min(self.lowest, float(np.min(quotients)))
        self.reach = self.width
        self.size += self.width
        self.width = 0
        self._wait(w, d, self.radius)

    def _wait(self, w: Array, d: Array, scale: float) -> None:
        """Orthonormalise w (with dual d) against V and let it wait; random vectors stand in for what is nothing new."""
        room = self.domain.n - self.size
        if w.ndim == 1 and room > 0:
            norm = self._clean(w, d)
            if norm > 10 * self.eps * scale:
                self._place(self.size, w, d, norm)
                self.width, self.coupling = 1, np.array([[norm]])
                return
        self._wait_block(w.reshape(w.shape[0], -1), d.reshape(d.shape[0], -1), scale, room)

    def _wait_block(self, W: Array, D: Array, scale: float, room: int) -> None:
        reach, start = W.shape[1], self.size
        for i in range(W.shape[1]):
            if self.width == room:
                break
            w, d = W[:, i].copy(), D[:, i].copy()
            before = max(scale, float(np.sqrt(abs(np.vdot(d, w)))) if scale == 0 else 0.0)
            norm = self._clean(w, w if self.domain.single else d)
            if norm > 10 * self.eps * before:
                self._place(start + self.width, w, w if self.domain.single else d, norm)
                self.width += 1
        Q = self.Z[:, start : start + self.width]
        self.coupling = np.asarray(Q.conj().T @ W)
        if self.width == 0 and room > 0:
            self.scatter()
            self.coupling = np.zeros((1, reach))

    def scatter(self) -> None:
        """Replace the waiting block by a random vector that is orthonormal to V: nothing couples them."""
        self.width = 0
        for _ in range(5):
            x = self.rng.standard_normal(self.domain.n).astype(self.domain.dtype)
            w, d = (column[:, 0].copy() for column in self.domain.enter(x[:, None]))
            norm = self._clean(w, w if self.domain.single else d)
            if norm > 0:
                break
        self._place(self.size, w, d, norm)
        self.width = 1
        self.reach, self.coupling = min(self.size, 1), np.zeros((1, min(self.size, 1)))

    def _place(self, column: int, w: Array, d: Array, norm: float) -> None:
        np.multiply(w, 1 / norm, out=self.V[:, column])
        if not self.domain.single:
            np.multiply(d, 1 / norm, out=self.Z[:, column])

    def _clean(self, w: Array, d: Array) -> float:
        """Take out of w, in place, what it has of V and of the block so far; return the norm of the rest."""
        count, gemv, single = self.size + self.width, self.gemv, self.domain.single
        V, Z = self.V[:, :count], self.Z[:, :count]
        if count == 0:
            return math.sqrt(max(float(np.vdot(d, w).real), 0.0))
        for _ in range(3):
            c = gemv(1.0, Z, w, trans=self.trans)
            gemv(-1.0, V, c, 1.0, w, overwrite_y=1)
            if single:
                norm = float(self.norm(w))
            else:
                gemv(-1.0, Z, c, 1.0, d, overwrite_y=1)
                norm = math.sqrt(max(float(np.vdot(d, w).real), 0.0))
            # the recurrence has done the orthogonalising already, as a rule: once more only where it cancelled
            if not self.norm(c) > 1e-6 * norm:
                return norm
        return norm

    def ritz(self, count: int) -> tuple[Array, Array, Array]:
        """At least the `count` most wanted Ritz values, their coefficients, and the norms of their residuals."""
        j = self.size
        values, S = self._eigh(min(count, j))
        chosen = self.wanted.order(values)
        values, S = values[chosen], S[:, chosen]
        errors = np.linalg.norm(self.coupling @ S[j - self.reach : j], axis=0)
        self.radius = max(self.radius, float(np.abs(values).max()))
        return values, S, errors

    def _eigh(self, count: int) -> tuple[Array, Array]:
        j = self.size
        H = self.H[:j, :j]
        if not self.tridiagonal:
            return eigh(H, check_finite=False, driver="evd")
        e = np.zeros(j)
        e[: j - 1] = H.diagonal(-1).real
        first = j - count + 1 if self.wanted is Wanted.LARGEST else 1
        found, values, S, info = dstemr(H.diagonal().real.copy(), e, 2, 0.0, 0.0, first, j, compute_v=1)
        if info or found != j - first + 1:
            return eigh(H, check_finite=False, driver="evd")
        return values[:found], S[:, :found]

    def vectors(self, S: Array) -> Array:
        """The combinations V S, in the coordinates of the domain."""
        return np.asarray(self.V[:, : S.shape[0]] @ S.astype(self.V.dtype))

    def duals(self, S: Array) -> Array:
        """Their duals Z S."""
        return np.asarray(self.Z[:, : S.shape[0]] @ S.astype(self.V.dtype))

    def restart(self, values: Array, S: Array, *, couple: bool = True) -> None:
        """Keep the Ritz vectors V S with their `values`, and the waiting block (which is dropped if not `couple`)."""
        keep, j = values.size, self.size
        S = np.asfortranarray(S[:, :keep].astype(self.V.dtype))
        for M in (self.V,) if self.domain.single else (self.V, self.Z):
            for row in range(0, M.shape[0], ROWS):
                M[row : row + ROWS, :keep] = M[row : row + ROWS, :j] @ S
            if couple:
                M[:, keep : keep + self.width] = M[:, j : j + self.width]
        self.coupling = self.coupling @ S[j - self.reach : j]
        self.size = self.reach = keep
        self.H[:] = 0
        self.H[np.arange(keep), np.arange(keep)] = values
        self.tridiagonal = False
        if not couple:
            self.scatter()
