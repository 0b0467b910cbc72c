"""The trial space of LOBPCG with its products.

Invariant: the first `known` columns of S, the Ritz vectors X and the conjugate directions P, are B-orthonormal, AS and
BS are their products with A and B, and H is the projection of A on them.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, qr

from ...errors import NotPositiveDefinite
from ...linalg.multiply import product
from ...linalg.reductions import column_norms, gram
from ...problem.products import Products
from ...system.interrupt import uninterrupted
from ...system.processes import agreed
from ...typing import Array

# Rows rotated at a time, which bounds the memory of the copy.
ROTATED_ROWS = 2048

# Shorter steps are rounding.
LEAST_STEP_NORM = 1e-14

# Coefficients of earlier columns below this are not removed.
NEGLIGIBLE_COEFFICIENT = 1e-12

# A direction of the unit columns whose Gram eigenvalue is below this power of eps is linearly dependent.
DEPENDENT_EXPONENT = 0.6


class Span:
    """`width` Ritz vectors X, as many conjugate directions P and as many residuals W; B-orthogonal to `fixed`."""

    def __init__(self, products: Products, width: int, fixed: tuple[Array, Array] | None = None) -> None:
        self.products, self.width = products, width
        self.fixed = () if fixed is None else (fixed,)
        shape = (products.rows, 3 * width)
        self.S, self.AS = np.empty(shape, products.dtype), np.empty(shape, products.dtype)
        self.BS = self.S if products.identity else np.empty(shape, products.dtype)
        self.H = np.zeros((3 * width, 3 * width), np.result_type(products.dtype, np.float64))
        self.known = 0

    def append(self, W: Array) -> int:
        """Append the new directions of the columns W to the known ones; return how many there are."""
        products, q = self.products, self.known
        for _ in range(3):
            W = self._apart(W)
            if W.shape[1] == 0:
                return 0
            W, BW, least = self._orthonormal(W)
            # nearly parallel columns have lost digits to cancellation: orthogonalise again
            if least > 1e-4:
                break
        count: int = W.shape[1]
        AW = products.products_A(W)
        new = slice(q, q + count)
        self.S[:, new], self.AS[:, new] = W, AW
        if not products.identity:
            self.BS[:, new] = BW
        self.H[: q + count, new] = gram(self.S[:, : q + count], AW)
        self.H[new, :q] = self.H[:q, new].conj().T
        return count

    def _apart(self, W: Array) -> Array:
        """W orthogonalised against the known and the fixed columns, without columns that are rounding only."""
        lengths = column_norms(W)
        # a preconditioner of badly scaled matrices may overflow
        sound = (lengths > 0) & np.isfinite(lengths)
        W = W[:, sound] / lengths[sound]
        for V, BV in ((self.S[:, : self.known], self.BS[:, : self.known]), *self.fixed):
            # twice, as the loss of orthogonality grows with the cancellation in W
            for _ in range(2 if V.shape[1] else 0):
                C = gram(BV, W)
                if np.abs(C).max(initial=0.0) <= NEGLIGIBLE_COEFFICIENT * float(column_norms(W).min(initial=1.0)):
                    break
                W -= product(V, C)
        return np.asarray(W[:, column_norms(W) > 1e3 * self.products.eps])

    def _orthonormal(self, W: Array) -> tuple[Array, Array, float]:
        """An orthonormal basis of W, its product with B, and the least Gram eigenvalue that was kept."""
        BW = self.products.products_B(W)
        G = gram(W, BW)
        squares = G.diagonal().real
        if not (squares > 0).all():
            if column_norms(W[:, squares <= 0]).any():
                raise NotPositiveDefinite(
                    f"B is not positive definite: xᴴBx = {squares.min():.3g} for a vector met in the iteration; "
                    f"B must have only positive eigenvalues"
                )
            return self._orthonormal(W[:, squares > 0])
        scales = 1 / np.sqrt(squares)
        values, Q = agreed(eigh(scales[:, None] * ((G + G.conj().T) / 2) * scales, check_finite=False))
        keep = values > self.products.eps**DEPENDENT_EXPONENT * values[-1:]
        C = ((scales[:, None] * Q[:, keep]) / np.sqrt(values[keep])).astype(W.dtype)
        W = product(W, C)
        return W, W if self.products.identity else product(BW, C), float(values[keep].min(initial=1.0))

    def minimise(self, count: int, moving: Array) -> Array:
        """Rayleigh–Ritz with `count` new columns: X becomes the leading Ritz vectors, P the steps of those `moving`.

        Returns their values, the largest first.
        """
        size, m = self.known + count, self.width
        H = self.H[:size, :size]
        values, C = agreed(eigh((H + H.conj().T) / 2, check_finite=False))
        m = min(m, size)
        CX = C[:, ::-1][:, :m]
        values = values[::-1][:m]
        P = CX[:, moving[:m]].copy() if size > m else CX[:, :0]
        # the component of each step outside the old X, made orthonormal to the new X by its coefficients
        P[:m] = 0
        for _ in range(2):
            P -= CX @ (CX.conj().T @ P)
            P = P / np.maximum(np.linalg.norm(P, axis=0), LEAST_STEP_NORM)
        Q, R, _ = agreed(qr(P, mode="economic", pivoting=True, check_finite=False))
        D = np.hstack([CX, Q[:, np.abs(R.diagonal()) > 1e-8]])
        # must not be interrupted: S and its products would be inconsistent
        with uninterrupted():
            self._rotate(D, size)
            self.H[: self.known, : self.known] = D.conj().T @ H @ D
        return np.asarray(values)

    def _rotate(self, D: Array, size: int) -> None:
        D = D.astype(self.S.dtype)
        self.known = D.shape[1]
        for M in (self.S, self.AS) if self.products.identity else (self.S, self.AS, self.BS):
            for row in range(0, M.shape[0], ROTATED_ROWS):
                rows = M[row : row + ROTATED_ROWS]
                rows[:, : self.known] = product(rows[:, :size], D)

    def refresh(self) -> None:
        """Recompute the products of the known columns and orthonormalise them again."""
        q = self.known
        X = self.S[:, :q].copy()
        AX, BX = self.products.products_A(X), self.products.products_B(X)
        values, Q = agreed(eigh(gram(X, BX), check_finite=False))
        # dependent columns leave rounding errors of either sign
        least = float(np.finfo(X.dtype).eps) * max(float(values[-1]), float(np.finfo(X.dtype).tiny))
        root = ((Q / np.sqrt(np.maximum(values, least))) @ Q.conj().T).astype(X.dtype)
        self.S[:, :q], self.AS[:, :q] = product(X, root), product(AX, root)
        if not self.products.identity:
            self.BS[:, :q] = product(BX, root)
        self.H[:q, :q] = gram(self.S[:, :q], self.AS[:, :q])

    def renew(self, X: Array) -> Array:
        """Start again with the columns X only and fresh products; return the Ritz values."""
        self.known = 0
        count = self.append(X)
        return self.minimise(count, np.zeros(self.width, bool))
