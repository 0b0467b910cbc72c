"""The search space of the default method: a thick-restarted block Lanczos basis.

Invariant: the first `size` columns of V are orthonormal in the inner product of the transformation (semi-orthogonal if
`loose`), H is the projection of T on their span, and T V = V H + Q C. The waiting block Q, the `width` columns that
follow, is orthonormal to V and has not been multiplied yet; C = `coupling` involves the last `reach` columns of V only
(all of them after a restart). The span contains the Ritz vectors X, the split directions T X and T²X, and Ritz vectors
of earlier steps: so Rayleigh–Ritz on it lowers f at least as far as a Split-Merge step does.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import eigh

from ...linalg.lanczos import tridiagonal_pairs
from ...linalg.multiply import product
from ...linalg.reductions import gram
from ...problem.target import Target
from ...system.interrupt import uninterrupted
from ...system.processes import agreed
from ...transforms import Transform
from ...typing import Array
from .recurrence import Recurrence

# Rows rotated at a time in a restart, which bounds the memory of the copy.
ROTATED_ROWS = 1024
# Columns for each vector of a start that an interrupted run has left. The residuals of its Ritz vectors all lie along
# its waiting block, so only the start and its products need room.
CONTINUED_ROOM = 2


class Basis(Recurrence):
    """Grows by a block a call of `expand`; holds at most `capacity` columns before it has to be restarted."""

    def __init__(self, transform: Transform, capacity: int, target: Target, rng: np.random.Generator) -> None:
        super().__init__(transform, capacity, rng)
        self.target = target
        # a least Rayleigh quotient that is known beforehand
        self.known = np.inf
        # components of the residuals of a start that are this small relative to its values are not pursued
        self.negligible = 0.0

    @property
    def shift(self) -> float:
        """η ≥ 0 for which T + η is positive on the basis; 0 unless the largest are wanted."""
        return max(0.0, -self.lowest) if self.target is Target.LARGEST else 0.0

    @property
    def full(self) -> bool:
        """Must the basis be restarted before the next step?"""
        return self.capacity < self.transform.dimension and self.size + 2 * self.width > self.capacity

    @property
    def complete(self) -> bool:
        """Does V span the whole space?"""
        return self.size == self.transform.dimension

    def start(self, X: Array, *, random: bool = False) -> None:
        """Let the columns of X, in the coordinates of the pencil or `random` numbers, be the first block."""
        W, D = self.transform.random(X) if random else self.transform.enter(X)
        self.size = self.width = self.reach = self.sound = 0
        # an earlier basis, which a bad B may have spoilt, must not determine the scale
        self.radius, self.lowest = 0.0, self.known
        # entries that are not coupled are never written
        self.H[:] = 0
        self.Q_dual, self.last_dual = [], []
        if W.shape[1] == 1:
            W, D = W[:, 0], D[:, 0]
        self._wait(W, D, scale=0.0)
        self.coupling = np.zeros((self.width, 0))

    def grow(self, count: int) -> int:
        """Make up to `count` products; return by how many columns V grew (negative if steps were discarded)."""
        before = self.size
        if not self._recur(count):
            self.expand()
        return self.size - before

    def expand(self) -> None:
        """Multiply the waiting block by T; its new component waits for the next call."""
        j, b, transform = self.size, self.width, self.transform
        if b == 1:
            self._expand_vector()
            return
        Q = self.V[:, j : j + b]
        # in Fortran order
        QD = Q if transform.single else np.array(self.Q_dual).T
        own, other = (QD, Q) if transform.dual_first else (Q, QD)
        W = transform.apply_block(Q, QD)
        alpha = gram(other, W)
        alpha = (alpha + alpha.conj().T) / 2
        W -= product(own, alpha.astype(W.dtype))
        if self.reach:
            W -= self._recurrence(self.coupling)
        self.H[j : j + b, j - self.reach : j] = self.coupling
        self.H[j : j + b, j : j + b] = alpha
        self.tridiagonal = False
        W, D = transform.complete_block(W)
        quotients = alpha.diagonal().real
        floors = self.negligible * np.abs(quotients) if j == 0 else None
        self._advance(W, D, float(quotients.min()), float(quotients.max()), floors)

    def _expand_vector(self) -> None:
        j, transform = self.size, self.transform
        v = self.V[:, j]
        d = v if transform.single else self.Q_dual[0]
        own, other = (d, v) if transform.dual_first else (v, d)
        w = transform.apply(v, d)
        alpha = float(self.dot(other, w))
        w = self.axpy(own, w, a=-alpha)
        if self.reach == 1:
            beta = self.coupling[0, 0]
            w = self.axpy(self.last_dual[0] if transform.dual_first else self.V[:, j - 1], w, a=-beta.conjugate())
            self.H[j, j - 1] = beta
        elif self.reach:
            w -= self._recurrence(self.coupling)[:, 0]
            self.H[j, j - self.reach : j] = self.coupling[0]
            self.tridiagonal = False
        self.H[j, j] = alpha
        self._advance(*transform.complete(w), alpha, alpha)

    def _recurrence(self, coupling: Array) -> Array:
        """The components of T Q along earlier columns, for a waiting block Q with this C (duals if `dual_first`)."""
        j = self.size
        known = coupling.conj().T.astype(self.V.dtype)
        if self.transform.dual_first and len(self.last_dual) == self.reach:
            return product(np.array(self.last_dual).T, known)
        Y = product(self.V[:, j - self.reach : j], known)
        if self.transform.dual_first:
            return np.column_stack([self.transform.dual(np.ascontiguousarray(y)) for y in Y.T])
        return Y

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
        self.radius = max(self.radius, float(np.abs(self.coupling).max(initial=0.0)))

    def ritz(self, count: int) -> tuple[Array, Array, Array]:
        """At least the `count` most wanted Ritz values, their coefficients, and the norms of their residuals."""
        j = self.size
        values, S = self._eigh(min(count, j))
        if self.target is Target.LARGEST:
            largest = max(abs(float(values[0])), abs(float(values[-1])))
            values, S = values[::-1], S[:, ::-1]
        else:
            largest = float(np.abs(values).max())
            chosen = self.target.order(values)
            values, S = values[chosen], S[:, chosen]
        tails = self.coupling @ S[j - self.reach : j]
        errors = np.abs(tails[0]) if self.width == 1 else np.linalg.norm(tails, axis=0)
        self.radius = max(self.radius, largest)
        return values, S, errors

    def tail(self, coefficients: Array) -> Array:
        """The coefficients along the waiting block of T y − θ y, for the Ritz vector y with these coefficients."""
        return np.asarray((self.coupling @ coefficients[self.size - self.reach :, 0]).astype(self.V.dtype))

    def _eigh(self, count: int) -> tuple[Array, Array]:
        j = self.size
        H = self.H[:j, :j]
        if not self.tridiagonal:
            return agreed(_decomposed(H))
        e = np.zeros(j)
        e[: j - 1] = H.diagonal(-1).real
        first = j - count if self.target is Target.LARGEST else 0
        found = tridiagonal_pairs(H.diagonal().real.copy(), e, first, j - 1)
        return agreed(_decomposed(H) if found is None else found)

    def vectors(self, S: Array) -> Array:
        """The combinations V S, in the coordinates of the transform."""
        V = self.V[:, : S.shape[0]]
        if S.shape[1] != 1 or not self.transform.single:
            # in Fortran order, for the solves that follow
            return np.asfortranarray(product(V, S.astype(self.V.dtype)))
        y = self.gemv(1.0, V, S[:, 0])
        # from a semi-orthogonal basis it is only nearly a unit vector; an operator that lies may leave anything
        length = float(self.norm(y))
        if 0 < length < math.inf:
            y *= 1 / length
        return np.asarray(y)[:, None]

    def restart_size(self, k: int) -> int:
        """How many Ritz vectors a restart keeps for k wanted ones."""
        return min(k + max(2, 2 * (self.capacity - k) // 5), self.capacity - 2 * self.width)

    def kept(self, k: int) -> Array | None:
        """The Ritz vectors that a restart would keep, in the coordinates of the transform.

        At most as many as a basis of this capacity can begin with, and as cost half of the products so far when they
        are multiplied again. Unlike `ritz`, this changes nothing.
        """
        most = min(self.restart_size(k), (self.capacity - k) // CONTINUED_ROOM, self.products // 2)
        count = min(max(k, most), self.size)
        if count == 0 or self.V.shape[1] == 0:
            return None
        values, S = self._eigh(count)
        return self.vectors(S[:, self.target.order(values)[:count]])

    def settle(self) -> None:
        """Let the waiting block be the whole basis, when a run ends before its first products are complete."""
        self.size, self.width, self.reach, self.coupling = self.width, 0, 0, np.zeros((0, 0), self.H.dtype)
        V, duals = self.V[:, : self.size], self.Q_dual or list(self.V[:, : self.size].T)
        with uninterrupted():
            products = np.column_stack([self.transform.apply(v, d) for v, d in zip(V.T, duals, strict=True)])
        left = V if self.transform.dual_first else np.column_stack(duals)
        self.H[: self.size, : self.size] = gram(left, products)
        self.tridiagonal = False

    def release(self) -> None:
        """Free the memory of a basis that is not used any more."""
        self.V = self.V[:, :0].copy()

    def restart(self, values: Array, S: Array, *, couple: bool = True) -> None:
        """Keep the Ritz vectors V S with their `values`, and the waiting block (which is dropped if not `couple`)."""
        keep, j = values.size, self.size
        S = np.asfortranarray(S[:, :keep].astype(self.V.dtype))
        # must not be interrupted: V and H would be inconsistent
        with uninterrupted():
            V = self.V
            for row in range(0, V.shape[0], ROTATED_ROWS):
                V[row : row + ROTATED_ROWS, :keep] = product(V[row : row + ROTATED_ROWS, :j], S)
            V[:, keep : keep + self.width] = V[:, j : j + self.width]
            self.last_dual = []
            self.coupling = self.coupling @ S[j - self.reach : j]
            self.size = self.reach = keep
            self.H[:] = 0
            self.H[np.arange(keep), np.arange(keep)] = values
            self.tridiagonal = False
        if not couple:
            self.scatter()


def _decomposed(H: Array) -> tuple[Array, Array]:
    """Every eigenpair, by QR where divide and conquer fails to converge."""
    try:
        return eigh(H, check_finite=False, driver="evd")
    except np.linalg.LinAlgError:
        return eigh(H, check_finite=False, driver="ev")
