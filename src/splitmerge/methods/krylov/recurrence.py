"""Three-term recurrences for vectors that are their own duals: many steps in a loop, without a call for each."""

from __future__ import annotations

import math

import numpy as np

from ...linalg.multiply import product
from ...transforms import Transform
from ...typing import Array
from .waiting import WELL_CONDITIONED, Waiting

# Semi-orthogonality (Simon 1984): reorthogonalise beyond eps^(2/3); discard the steps since the last check beyond
# eps^(1/2), up to which H is the projection to rounding.
REORTHOGONALISE_EXPONENT, DISCARD_EXPONENT = 2 / 3, 1 / 2
# Steps without reorthogonalisation at first, and the power of eps that later ones may lose; less than this multiple of
# eps is nothing.
FIRST_PERIOD, PERIOD_EXPONENT, LEAST_LOSS = 1, 3 / 4, 10
# A length that stands for the loss of semi-orthogonality, and one that no vector has.
LOST, TINY = -1.0, 1e-300
# Wider blocks are multiplied and orthogonalised as such.
MAX_COLUMNS = 2


class Recurrence(Waiting):
    """The basis with the projection H of T on it, whose entries are those of the recurrence."""

    def __init__(self, transform: Transform, capacity: int, rng: np.random.Generator) -> None:
        super().__init__(transform, capacity, rng)
        self.H = np.zeros((self.capacity, self.capacity), self.coupling.dtype)
        # the largest |value| or entry of H and the least Rayleigh quotient seen so far
        self.radius, self.lowest = 0.0, np.inf
        self.products = 0
        self.tridiagonal = True
        # semi-orthogonality suffices; the vectors up to the size `sound` have it
        self.loose, self.sound = False, 0
        # steps between two reorthogonalisations, and how many of them are left
        self.period, self.rest = FIRST_PERIOD, 0

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
        V, H, apply = self.V, self.H, self.transform.apply
        dot, norm, axpy = self.dot, self.norm, self.axpy
        size = self.size
        v = V[:, size]
        before, beta = (V[:, size - 1], float(self.coupling[0, 0].real)) if self.reach else (v, 0.0)
        length = 1.0
        if self.paired:
            # the waiting vector has just been orthogonalised
            self.sound, self.rest = size, 0
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
                self.radius = max(self.radius, abs(alpha))
                length = norm(w)
                if self.loose and self.rest > 0 and length > 1e-3 * self.radius:
                    self.rest -= 1
                else:
                    length = self._reorthogonalise(w, length)
                if length <= 0:
                    break
                before, v, beta = v, V[:, j + 1], length
                np.multiply(w, 1 / length, out=v)
                self.radius = max(self.radius, beta)
        finally:
            # also after an interrupt
            if self.size > size:
                self.coupling = np.array([[beta]])
        self._conclude(w, length)

    def _conclude(self, w: Array, length: float) -> None:
        """After the last step, which left w with this length: leave the basis semi-orthogonal."""
        if length == LOST:
            self._discard()
        elif length == 0:
            self.width = 0
            self._wait(w, w, self.radius)
        elif self.loose and not self.paired:
            self._tighten()

    def _reorthogonalise(self, w: Array, length: float) -> float:
        """Orthogonalise w, of this length, against V in place; the length that is left, 0 if that is next to nothing.

        `LOST` if semi-orthogonality was lost before. It is called for two vectors in a row, as the recurrence would
        bring back what only one of them has lost.
        """
        columns = self.V[:, : self.size]
        c = self.coefficients(1.0, columns, w, trans=self.trans)
        self.gemv(-1.0, columns, c, 1.0, w, overwrite_y=1)
        lost, left = float(self.length(c)), float(self.norm(w))
        if self.loose and not self.paired:
            self._pace(lost / max(length, TINY))
            if lost > self.eps**DISCARD_EXPONENT * length:
                return LOST
        self.paired, self.rest = not self.paired, self.period if self.paired else 0
        if self.rest:
            self.sound = self.size
        return left if lost <= max(1e-6, 100 * self.eps) * left and left > 10 * self.eps * self.radius else 0.0

    def _pace(self, lost: float) -> None:
        """Choose how many steps to make without reorthogonalisation, by what `period` of them have lost.

        Orthogonality is lost at the rate at which Ritz values converge (Paige 1971), hence geometrically.
        """
        least = LEAST_LOSS * self.eps
        digits = math.log(self.eps ** (PERIOD_EXPONENT - 1) / LEAST_LOSS) / math.log(max(lost / least, 2.0))
        self.period = max(1, min(int(digits * (self.period + 1)), 2 * self.period + 1, self.capacity))

    def _tighten(self) -> None:
        """Check semi-orthogonality of the waiting vector, and restore it."""
        c = self.coefficients(1.0, self.V[:, : self.size], self.V[:, self.size], trans=self.trans)
        lost = float(self.length(c))
        if lost <= self.eps**REORTHOGONALISE_EXPONENT:
            return
        self.period //= 2
        if lost > self.eps**DISCARD_EXPONENT:
            self._discard()
        else:
            self._wait_again()

    def _discard(self) -> None:
        """Take back the steps since the basis was sound, as their vectors have components in it."""
        self.size, self.reach = self.sound, min(self.sound, 1)
        self.coupling = self.H[self.sound : self.sound + 1, self.sound - self.reach : self.sound].copy()
        self._wait_again()

    def _wait_again(self) -> None:
        """Orthogonalise the waiting vector."""
        beta, self.width = self.coupling, 0
        w = self.V[:, self.size].copy()
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
            self.radius = max(self.radius, float(np.abs(R).max()))
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
                w += product(V[:, end : end + i], c[end:])
                return None
            R[i, i] = length
            np.multiply(w, 1 / length, out=V[:, end + i])
        return R
