"""The columns that f is minimised over, with their products.

Invariant: the first `known` columns of S, the Ritz vectors X and the memory P, are B-orthonormal, AS and BS are their
products with A and B, and H is the projection of A on them.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, qr

from ...errors import NotPositiveDefinite
from ...linalg.reductions import column_norms
from ...problem.pencil import Pencil
from ...system.interrupt import uninterrupted
from ...typing import Array

# Rows that are rotated at a time: the copy stays small beside the columns.
ROWS = 2048

# A step that is shorter is rounding.
TINY = 1e-14

# What a column has of others is left in it when it is less than this.
NEGLIGIBLE = 1e-12

# A direction that is this small beside the others, once they have length 1, is nothing new; as a power of eps.
NEW = 0.6


class Span:
    """Room for `width` Ritz vectors, as many of the memory and as many new directions; `fixed` are kept out of it."""

    def __init__(self, pencil: Pencil, width: int, fixed: tuple[Array, Array] | None = None) -> None:
        self.pencil, self.width = pencil, width
        self.fixed = () if fixed is None else (fixed,)
        shape = (pencil.n, 3 * width)
        self.S, self.AS = np.empty(shape, pencil.dtype), np.empty(shape, pencil.dtype)
        self.BS = self.S if pencil.identity else np.empty(shape, pencil.dtype)
        self.H = np.zeros((3 * width, 3 * width), np.result_type(pencil.dtype, np.float64))
        self.known = 0

    def append(self, W: Array) -> int:
        """Let what is new of the columns W follow the known ones; return how many columns that are."""
        pencil, q = self.pencil, self.known
        for _ in range(3):
            W = self._apart(W)
            if W.shape[1] == 0:
                return 0
            W, BW, least = self._orthonormal(W)
            # columns that were nearly the same have lost digits to each other, and are taken apart again
            if least > 1e-4:
                break
        count: int = W.shape[1]
        AW = pencil.products_A(W)
        new = slice(q, q + count)
        self.S[:, new], self.AS[:, new] = W, AW
        if not pencil.identity:
            self.BS[:, new] = BW
        self.H[: q + count, new] = self.S[:, : q + count].conj().T @ AW
        self.H[new, :q] = self.H[:q, new].conj().T
        return count

    def _apart(self, W: Array) -> Array:
        """W without what it has of the known and the fixed columns, and without columns of nothing but rounding."""
        lengths = column_norms(W)
        W = W[:, lengths > 0] / lengths[lengths > 0]
        for V, BV in ((self.S[:, : self.known], self.BS[:, : self.known]), *self.fixed):
            # twice, as what the columns lack of being orthonormal would else grow by what is lost of W
            for _ in range(2 if V.shape[1] else 0):
                C = BV.conj().T @ W
                if np.abs(C).max(initial=0.0) <= NEGLIGIBLE * float(column_norms(W).min(initial=1.0)):
                    break
                W -= V @ C
        return np.asarray(W[:, column_norms(W) > 1e3 * self.pencil.eps])

    def _orthonormal(self, W: Array) -> tuple[Array, Array, float]:
        """An orthonormal basis of W and its product with B; and how little was new of the column with the least."""
        BW = self.pencil.products_B(W)
        G = W.conj().T @ BW
        squares = G.diagonal().real
        if not (squares > 0).all():
            if not (np.abs(W[:, squares <= 0]).max(initial=0.0) == 0):
                raise NotPositiveDefinite(
                    f"B is not positive definite: xᴴBx = {squares.min():.3g} for a vector met in the iteration; "
                    f"B must have only positive eigenvalues"
                )
            return self._orthonormal(W[:, squares > 0])
        scales = 1 / np.sqrt(squares)
        values, Q = eigh(scales[:, None] * ((G + G.conj().T) / 2) * scales, check_finite=False)
        keep = values > self.pencil.eps**NEW * values[-1:]
        C = ((scales[:, None] * Q[:, keep]) / np.sqrt(values[keep])).astype(W.dtype)
        W = W @ C
        return W, W if self.pencil.identity else BW @ C, float(values[keep].min(initial=1.0))

    def minimise(self, count: int, moving: Array) -> Array:
        """Rayleigh–Ritz with `count` new columns: X becomes the leading Ritz vectors, and P what moved of `moving`.

        Returns their values, the largest first.
        """
        size, m = self.known + count, self.width
        H = self.H[:size, :size]
        values, C = eigh((H + H.conj().T) / 2, check_finite=False)
        m = min(m, size)
        CX = C[:, ::-1][:, :m]
        values = values[::-1][:m]
        P = CX[:, moving[:m]].copy() if size > m else CX[:, :0]
        # the part of each step that is not in the old X is the memory; orthonormal to the new X by its coefficients
        P[:m] = 0
        for _ in range(2):
            P -= CX @ (CX.conj().T @ P)
            # however short a step was, it shows the way
            P = P / np.maximum(np.linalg.norm(P, axis=0), TINY)
        Q, R, _ = qr(P, mode="economic", pivoting=True, check_finite=False)
        D = np.hstack([CX, Q[:, np.abs(R.diagonal()) > 1e-8]])
        # half a rotation would leave products that are none
        with uninterrupted():
            self._rotate(D, size)
            self.H[: self.known, : self.known] = D.conj().T @ H @ D
        return np.asarray(values)

    def _rotate(self, D: Array, size: int) -> None:
        D = D.astype(self.S.dtype)
        self.known = D.shape[1]
        for M in (self.S, self.AS) if self.pencil.identity else (self.S, self.AS, self.BS):
            for row in range(0, M.shape[0], ROWS):
                rows = M[row : row + ROWS]
                rows[:, : self.known] = rows[:, :size] @ D

    def refresh(self) -> None:
        """Compute the products of the known columns afresh, and make them orthonormal again."""
        q = self.known
        X = self.S[:, :q].copy()
        AX, BX = self.pencil.products_A(X), self.pencil.products_B(X)
        values, Q = eigh(X.conj().T @ BX, check_finite=False)
        root = ((Q / np.sqrt(values)) @ Q.conj().T).astype(X.dtype)
        self.S[:, :q], self.AS[:, :q] = X @ root, AX @ root
        if not self.pencil.identity:
            self.BS[:, :q] = BX @ root
        self.H[:q, :q] = self.S[:, :q].conj().T @ self.AS[:, :q]

    def renew(self, X: Array) -> Array:
        """Begin again with the columns X only, their products computed afresh; the values."""
        self.known = 0
        count = self.append(X)
        return self.minimise(count, np.zeros(self.width, bool))
