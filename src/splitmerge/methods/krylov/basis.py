"""The search space of the default solver: a thick-restarted block Lanczos basis, kept orthonormal.

Invariant: the first `size` columns of V are orthonormal in the inner product of the domain (to `LOOSE` if that was said
to do), H is the projection of T on their span, and T V = V H + Q C. The waiting block Q, the `width` columns that
follow, is orthonormal to V and has not been multiplied yet; C = `coupling` reaches the last `reach` columns of V only
(all of them after a restart). The span holds the Ritz vectors X, the split directions T X and T²X and, as a memory,
Ritz vectors of earlier steps: so Rayleigh–Ritz on it lowers f at least as far as a Split-Merge step does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import eigh, get_blas_funcs
from scipy.linalg.lapack import dstemr

from ...errors import NotPositiveDefinite
from ...linalg.blas import kernels
from ...problem.start import random_vector
from ...problem.target import Wanted
from ...system.interrupt import uninterrupted
from ...transforms.standard import Domain
from ...typing import Array

# Rows that are rotated at a time in a restart: the copy stays small beside the basis.
ROWS = 256

# How far from orthonormal a loose basis may be, as a power of eps. Up to eps^½ the matrix H would still be the
# projection to rounding (Simon); what is beyond that is taken back.
LOOSE, LOST = 2 / 3, 1 / 2


class Basis:
    """Grows by a block a call of `expand`; holds at most `capacity` columns before it has to be restarted."""

    def __init__(self, domain: Domain, capacity: int, wanted: Wanted, rng: np.random.Generator) -> None:
        n, dtype = domain.n, domain.dtype
        self.domain, self.wanted, self.rng = domain, wanted, rng
        self.capacity = min(capacity, n)
        self.V = np.empty((n, self.capacity), dtype, order="F")
        # the duals of the waiting block and of the one before it: no others are ever needed
        self.Q_dual: list[Array] = []
        self.last_dual: list[Array] = []
        self.H = np.zeros((self.capacity, self.capacity), np.result_type(dtype, np.float64))
        self.eps = float(np.finfo(dtype).eps)
        self.trans = 2 if dtype.kind == "c" else 1
        self.gemv: Any = get_blas_funcs("gemv", dtype=dtype)
        self.dot, self.norm, _, _, self.axpy = kernels(dtype)
        # the largest |value| and the least Rayleigh quotient that were seen
        self.radius, self.lowest = 0.0, np.inf
        # a least Rayleigh quotient that is known from before
        self.known = np.inf
        self.products = 0
        self.size = self.width = self.reach = 0
        self.coupling: Array = np.zeros((0, 0), self.H.dtype)
        self.tridiagonal = True
        # parts of the residuals of a start that are this small beside its values are not pursued
        self.negligible = 0.0
        # may reorthogonalising wait until there is need of it? There was none up to this size
        self.loose, self.sound = False, 0

    @property
    def shift(self) -> float:
        """η ≥ 0 that makes T + η positive, as far as it was seen; residuals at both ends are relative to |θ| itself."""
        return max(0.0, -self.lowest) if self.wanted is Wanted.LARGEST else 0.0

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
        W, D = self.domain.enter(X)
        self.size = self.width = self.reach = self.sound = 0
        # nothing of an earlier basis, which may have been spoilt by a bad B, may say how large the values are
        self.radius, self.lowest = 0.0, self.known
        # what is not coupled is never written: nothing of an earlier basis may stand there
        self.H[:] = 0
        self.Q_dual, self.last_dual = [], []
        if W.shape[1] == 1:
            W, D = W[:, 0], D[:, 0]
        self._wait(W, D, scale=0.0)
        self.coupling = np.zeros((self.width, 0))

    def grow(self, count: int) -> int:
        """Make `count` products, or the first few of them; return by how many columns V grew (below 0: some fell)."""
        before = self.size
        if self.width == 1 and self.reach <= 1 and self.domain.single and self.size < self.capacity - 1:
            self._recur(count)
        else:
            self.expand()
        return self.size - before

    def _recur(self, count: int) -> None:
        """`expand` again and again for a vector that is its own dual, in one function: at n = 256 calls cost as much.

        It ends early where the basis is full or where something out of the ordinary happens.
        """
        V, H, apply, loose = self.V, self.H, self.domain.apply, self.loose
        dot, norm, axpy, gemv = self.dot, self.norm, self.axpy, self.gemv
        size = self.size
        v = V[:, size]
        before, beta = (V[:, size - 1], float(self.coupling[0, 0].real)) if self.reach else (v, 0.0)
        odd: Array | None = None
        cancelled = max(1e-6, 100 * self.eps)
        try:
            for j in range(size, min(size + count, self.capacity - 1)):
                w = apply(v, v)
                alpha = dot(v, w)
                axpy(v, w, a=-alpha)
                axpy(before, w, a=-beta)
                H[j, j] = alpha
                if j:
                    H[j, j - 1] = beta
                self.size, self.reach = j + 1, 1
                self.products += 1
                if alpha < self.lowest:
                    self.lowest = alpha
                if abs(alpha) > self.radius:
                    self.radius = abs(alpha)
                length = norm(w)
                if not loose or length <= 1e-3 * self.radius:
                    columns = V[:, : j + 1]
                    c = gemv(1.0, columns, w, trans=self.trans)
                    gemv(-1.0, columns, c, 1.0, w, overwrite_y=1)
                    length = norm(w)
                    if norm(c) > cancelled * length or length <= 10 * self.eps * self.radius:
                        odd = w
                        break
                before, v, beta = v, V[:, j + 1], length
                np.multiply(w, 1 / length, out=v)
        finally:
            # also after an interrupt
            if self.size > size:
                self.coupling = np.array([[beta]])
        if odd is not None:
            self.width = 0
            self._wait(odd, odd, self.radius)
        elif loose:
            self._tighten()

    def _tighten(self) -> None:
        """Measure how far the waiting vector is from orthogonal; from when it matters on, reorthogonalise every one."""
        j, V = self.size, self.V
        c = self.gemv(1.0, V[:, :j], V[:, j], trans=self.trans)
        apart = float(np.abs(c).max())
        if apart <= self.eps**LOOSE:
            self.sound = j
            return
        self.loose = False
        if apart > self.eps**LOST:
            # the products since the last look are lost, as their vectors have turned back into the space
            self.size, self.reach = self.sound, min(self.sound, 1)
            self.coupling = self.H[self.sound : self.sound + 1, self.sound - self.reach : self.sound].copy()
        beta, self.width = self.coupling, 0
        w = V[:, self.size].copy()
        self._wait(w, w, 0.0)
        self.coupling = beta

    def expand(self) -> None:
        """Multiply the waiting block by T; what is new of it waits for the next call."""
        j, b, domain = self.size, self.width, self.domain
        if b == 1:
            self._expand_vector()
            return
        Q = self.V[:, j : j + b]
        QD = Q if domain.single else np.column_stack(self.Q_dual)
        own, other = (QD, Q) if domain.dual_first else (Q, QD)
        W = np.column_stack([domain.apply(Q[:, i], QD[:, i]) for i in range(b)])
        alpha = other.conj().T @ W
        alpha = (alpha + alpha.conj().T) / 2
        W -= own @ alpha.astype(W.dtype)
        if self.reach:
            for i in range(b):
                W[:, i] -= self._recurrence(self.coupling[i])
        self.H[j : j + b, j - self.reach : j] = self.coupling
        self.H[j : j + b, j : j + b] = alpha
        self.tridiagonal = False
        pairs = [domain.complete(np.ascontiguousarray(w)) for w in W.T]
        W, D = (np.column_stack(parts) for parts in zip(*pairs, strict=True))
        quotients = alpha.diagonal().real
        floors = self.negligible * np.abs(quotients + self.shift) if j == 0 else None
        self._advance(W, D, float(quotients.min()), float(quotients.max()), floors)

    def _expand_vector(self) -> None:
        j, domain = self.size, self.domain
        v = self.V[:, j]
        d = v if domain.single else self.Q_dual[0]
        own, other = (d, v) if domain.dual_first else (v, d)
        w = domain.apply(v, d)
        alpha = float(self.dot(other, w))
        w = self.axpy(own, w, a=-alpha)
        if self.reach == 1:
            beta = self.coupling[0, 0]
            w = self.axpy(self.last_dual[0] if domain.dual_first else self.V[:, j - 1], w, a=-beta.conjugate())
            self.H[j, j - 1] = beta
        elif self.reach:
            w -= self._recurrence(self.coupling[0])
            self.H[j, j - self.reach : j] = self.coupling[0]
            self.tridiagonal = False
        self.H[j, j] = alpha
        self._advance(*domain.complete(w), alpha, alpha)

    def _recurrence(self, coupling: Array) -> Array:
        """What the waiting vector with this row of C has of the columns before it, as a dual where that comes first."""
        j = self.size
        known = coupling.conj().astype(self.V.dtype)
        if self.domain.dual_first and len(self.last_dual) == self.reach:
            return np.asarray(np.column_stack(self.last_dual) @ known)
        y = self.V[:, j - self.reach : j] @ known
        return self.domain.dual(y) if self.domain.dual_first else y

    def _advance(self, w: Array, d: Array, least: float, largest: float, floors: Array | None = None) -> None:
        """Count the block as multiplied, with Rayleigh quotients from `least` to `largest`, and let w wait."""
        self.products += self.width
        self.radius = max(self.radius, -least, largest)
        self.lowest = min(self.lowest, least)
        self.reach = self.width
        self.size += self.width
        self.width = 0
        self.last_dual, self.Q_dual = self.Q_dual, []
        self._wait(w, d, self.radius, floors)

    def _wait(self, w: Array, d: Array, scale: float, floors: Array | None = None) -> None:
        """Orthonormalise w (with dual d) against V and let it wait; random vectors stand in for what is nothing new."""
        room = self.domain.n - self.size
        if w.ndim == 1 and room > 0:
            norm, d = self._clean(w, d)
            if norm > 10 * self.eps * scale:
                self._place(w, d, norm)
                self.coupling = np.array([[norm]])
                return
        self._wait_block(w.reshape(w.shape[0], -1), d.reshape(d.shape[0], -1), scale, room, floors)

    def _wait_block(self, W: Array, D: Array, scale: float, room: int, floors: Array | None) -> None:
        """The columns one after the other; one of which no more than its floor is new brings nothing."""
        sizes = np.sqrt(np.abs(np.einsum("ij,ij->j", D.conj(), W)))
        # the largest first: where one direction is common to all, the others are then seen to be nothing new
        for i in np.argsort(-sizes, kind="stable"):
            if self.width == room:
                break
            w, norm, d = W[:, i].copy(), sizes[i], D[:, i]
            floor = 0.0 if floors is None else floors[i]
            if norm > floor:
                norm, d = self._clean(w, w if self.domain.single else d.copy())
            if norm > max(floor, 10 * self.eps * (scale if scale > 0 else sizes[i])):
                self._place(w, d, norm)
        Q = self.V[:, self.size : self.size + self.width]
        self.coupling = np.asarray(Q.conj().T @ D)
        if self.width == 0 and room > 0:
            self.scatter()

    def scatter(self) -> None:
        """Replace the waiting block by a random vector that is orthonormal to V: nothing couples them."""
        self.width, self.Q_dual = 0, []
        for _ in range(5):
            x = random_vector(self.domain, self.rng)
            w, d = (column[:, 0].copy() for column in self.domain.enter(x[:, None]))
            norm, d = self._clean(w, w if self.domain.single else d)
            if norm > 0:
                break
        else:
            raise NotPositiveDefinite("B is not positive definite: no vector beyond those found has xᴴBx > 0")
        self._place(w, d, norm)
        self.reach, self.coupling = 0, np.zeros((1, 0))

    def _place(self, w: Array, d: Array, norm: float) -> None:
        """Let w/norm be the next column of the waiting block."""
        np.multiply(w, 1 / norm, out=self.V[:, self.size + self.width])
        if not self.domain.single:
            self.Q_dual.append(d * (1 / norm))
        self.width += 1

    def _clean(self, w: Array, d: Array) -> tuple[float, Array]:
        """Take out of w, in place, what it has of V and of the block so far; the norm and the dual of the rest."""
        count, gemv, single = self.size + self.width, self.gemv, self.domain.single
        V = self.V[:, :count]
        norm = 0.0 if single else math.sqrt(max(float(self.dot(d, w)), 0.0))
        for _ in range(3):
            taken = 0.0
            if count:
                c = gemv(1.0, V, d, trans=self.trans)
                gemv(-1.0, V, c, 1.0, w, overwrite_y=1)
                taken = float(self.norm(c))
            if single:
                norm = float(self.norm(w))
            else:
                # next to nothing was taken, as a rule, and then the dual is still that of w
                if taken > 100 * self.eps * norm:
                    d = self.domain.dual(w)
                    norm = math.sqrt(max(float(self.dot(d, w)), 0.0))
            # the recurrence has done the orthogonalising already, as a rule: once more only where it cancelled
            if not taken > max(1e-6, 100 * self.eps) * norm:
                break
        return norm, d

    def ritz(self, count: int) -> tuple[Array, Array, Array]:
        """At least the `count` most wanted Ritz values, their coefficients, and the norms of their residuals."""
        j = self.size
        values, S = self._eigh(min(count, j))
        if self.wanted is Wanted.LARGEST:
            largest = max(abs(float(values[0])), abs(float(values[-1])))
            values, S = values[::-1], S[:, ::-1]
        else:
            largest = float(np.abs(values).max())
            chosen = self.wanted.order(values)
            values, S = values[chosen], S[:, chosen]
        tails = self.coupling @ S[j - self.reach : j]
        errors = np.abs(tails[0]) if self.width == 1 else np.linalg.norm(tails, axis=0)
        self.radius = max(self.radius, largest)
        return values, S, errors

    def residual(self, coefficients: Array) -> Array:
        """T y − θ y for the Ritz vector y with these coefficients, in the coordinates of the domain."""
        j = self.size
        tail = self.coupling @ coefficients[j - self.reach :, 0]
        return np.asarray(self.V[:, j : j + self.width] @ tail.astype(self.V.dtype))

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
        V = self.V[:, : S.shape[0]]
        if S.shape[1] != 1 or not self.domain.single:
            # in Fortran order, for the solves that follow
            return np.asarray((S.T.astype(self.V.dtype) @ V.T).T)
        y = self.gemv(1.0, V, S[:, 0])
        # a loose basis has made it only nearly a unit vector
        y /= self.norm(y)
        return np.asarray(y)[:, None]

    def settle(self) -> None:
        """Take the waiting block for the whole basis, of a search that ends before its first products are complete."""
        self.size, self.width, self.reach, self.coupling = self.width, 0, 0, np.zeros((0, 0), self.H.dtype)
        V, duals = self.V[:, : self.size], self.Q_dual or list(self.V[:, : self.size].T)
        with uninterrupted():
            products = np.column_stack([self.domain.apply(v, d) for v, d in zip(V.T, duals, strict=True)])
        left = V if self.domain.dual_first else np.column_stack(duals)
        self.H[: self.size, : self.size] = left.conj().T @ products
        self.tridiagonal = False

    def release(self) -> None:
        """Give the memory back: nothing more will be asked of this basis."""
        self.V = self.V[:, :0].copy()

    def restart(self, values: Array, S: Array, *, couple: bool = True) -> None:
        """Keep the Ritz vectors V S with their `values`, and the waiting block (which is dropped if not `couple`)."""
        keep, j = values.size, self.size
        S = np.asfortranarray(S[:, :keep].astype(self.V.dtype))
        # half a rotation would leave a basis of nothing
        with uninterrupted():
            V = self.V
            for row in range(0, V.shape[0], ROWS):
                V[row : row + ROWS, :keep] = V[row : row + ROWS, :j] @ S
            V[:, keep : keep + self.width] = V[:, j : j + self.width]
            self.last_dual = []
            self.coupling = self.coupling @ S[j - self.reach : j]
            self.size = self.reach = keep
            self.H[:] = 0
            self.H[np.arange(keep), np.arange(keep)] = values
            self.tridiagonal = False
        if not couple:
            self.scatter()
