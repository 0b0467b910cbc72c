"""Three-term recurrences for vectors that are their own duals: many steps in a loop, without a call for each."""

from __future__ import annotations

import numpy as np

from ...transforms import Transform
from ...typing import Array
from .waiting import WELL_CONDITIONED, Waiting

# Semi-orthogonality (Simon 1984): reorthogonalise beyond eps^(2/3); discard the steps since the last check beyond
# eps^(1/2), up to which H is the projection to rounding.
REORTHOGONALISE_EXPONENT, DISCARD_EXPONENT = 2 / 3, 1 / 2
# Wider blocks are multiplied and orthogonalised as such.
MAX_COLUMNS = 2


class Recurrence(Waiting):
    """The basis with the projection H of T on it, whose entries are those of the recurrence."""

    def __init__(self, transform: Transform, capacity: int, rng: np.random.Generator) -> None:
        super().__init__(transform, capacity, rng)
        self.H = np.zeros((self.capacity, self.capacity), self.coupling.dtype)
        # the largest |value| and the least Rayleigh quotient seen so far
        self.radius, self.lowest = 0.0, np.inf
        self.products = 0
        self.tridiagonal = True
        # reorthogonalise only when semi-orthogonality is lost; it was not up to the size `sound`
        self.loose, self.sound = False, 0

    def _recur(self, count: int) -> bool:
        """Make up to `count` products by the recurrence; False where that does not apply.

        It ends early where the basis is full, on breakdown and on cancellation.
        """
        width = self.width
        if not self.transform.single or self.size + 2 * width > self.capacity:
            return False
        if width == 1 and self.reach <= 1:
            self._recur_vectors(count)
            return True
        if 1 < width <= MAX_COLUMNS and self.reach == width:
            while count > 0 and self.width == width and self.size + 2 * width <= self.capacity:
                self._recur_block()
                count -= width
            return True
        return False

    def _recur_vectors(self, count: int) -> None:
        """Up to `count` steps with a single vector."""
        V, H, apply, loose = self.V, self.H, self.transform.apply, self.loose
        dot, norm, axpy, gemv, coefficients = self.dot, self.norm, self.axpy, self.gemv, self.coefficients
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
                self.lowest = min(self.lowest, alpha)
                if abs(alpha) > self.radius:
                    self.radius = abs(alpha)
                length = norm(w)
                if not loose or length <= 1e-3 * self.radius:
                    columns = V[:, : j + 1]
                    c = coefficients(1.0, columns, w, trans=self.trans)
                    gemv(-1.0, columns, c, 1.0, w, overwrite_y=1)
                    length = norm(w)
                    if self.length(c) > cancelled * length or length <= 10 * self.eps * self.radius:
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
        """Check semi-orthogonality of the waiting vector; once it is lost, reorthogonalise in every step."""
        j, V = self.size, self.V
        c = self.coefficients(1.0, V[:, :j], V[:, j], trans=self.trans)
        apart = float(np.abs(c).max())
        if apart <= self.eps**REORTHOGONALISE_EXPONENT:
            self.sound = j
            return
        self.loose = False
        if apart > self.eps**DISCARD_EXPONENT:
            # the steps since the last check are discarded, as their vectors have components in the basis
            self.size, self.reach = self.sound, min(self.sound, 1)
            self.coupling = self.H[self.sound : self.sound + 1, self.sound - self.reach : self.sound].copy()
        beta, self.width = self.coupling, 0
        w = V[:, self.size].copy()
        self._wait(w, w, 0.0)
        self.coupling = beta

    def _recur_block(self) -> None:
        """A step with all columns of the waiting block."""
        V, size, width = self.V, self.size, self.width
        gemv, coefficients, trans = self.gemv, self.coefficients, self.trans
        end = size + width
        Q, known = V[:, size:end], V[:, size - width : end]
        alpha, removed = np.empty((width, width), V.dtype), np.empty(2 * width, V.dtype)
        W: list[Array] = []
        for i in range(width):
            w = self.transform.apply(Q[:, i], Q[:, i])
            alpha[:, i] = removed[width:] = coefficients(1.0, Q, w, trans=trans)
            removed[:width] = self.coupling[i].conj()
            gemv(-1.0, known, removed, 1.0, w, overwrite_y=1)
            W.append(w)
        self.H[size:end, size - width : size] = self.coupling
        self.H[size:end, size:end] = (alpha + alpha.conj().T) / 2
        self.tridiagonal = False
        quotients = alpha.diagonal().real.tolist()
        self.radius = max(self.radius, -min(quotients), max(quotients))
        self.lowest = min(self.lowest, *quotients)
        R = self._orthonormalised(W, end)
        # no call in between, so that an interrupt finds either all or nothing of the step
        self.products += width
        self.size, self.reach = end, width
        if R is not None:
            self.coupling = R
            return
        self.width = 0
        left = np.array(W).T
        self._wait(left, left, self.radius)

    def _orthonormalised(self, W: list[Array], end: int) -> Array | None:
        """Write an orthonormal basis Q of the vectors W behind the first `end` columns, and return R with W = Q R.

        None on breakdown and on cancellation; W is then as it was, up to components along these columns.
        """
        V, cancelled = self.V, max(1e-6, 100 * self.eps)
        R = np.zeros_like(self.coupling)
        for i, w in enumerate(W):
            columns = V[:, : end + i]
            c = self.coefficients(1.0, columns, w, trans=self.trans)
            self.gemv(-1.0, columns, c, 1.0, w, overwrite_y=1)
            length = float(self.norm(w))
            least = max(10 * self.eps * self.radius, float(self.length(c[:end])) / cancelled)
            if i:
                R[:i, i] = c[end:]
                least = max(least, WELL_CONDITIONED * float(self.length(c[end:])))
            if not length > least:
                w += V[:, end : end + i] @ c[end:]
                return None
            R[i, i] = length
            np.multiply(w, 1 / length, out=V[:, end + i])
        return R
