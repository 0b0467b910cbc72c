"""The columns of a Krylov basis and the block that waits to be multiplied: storage and orthonormalisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from ...errors import NotPositiveDefinite
from ...linalg.blas import kernels
from ...linalg.reductions import column_vdots, gram, inner_products, local_products
from ...problem.start import random_vector
from ...transforms import Transform
from ...typing import Array

# Random vectors that are tried on breakdown before B is called indefinite.
BREAKDOWN_TRIALS = 5
# A block is orthonormalised at once if more than this fraction of each column is orthogonal to those before it.
WELL_CONDITIONED = 1e-3


class Waiting:
    """Orthonormal columns V[:, :size] and the waiting block, the `width` columns that follow, coupled by `coupling`."""

    def __init__(self, transform: Transform, capacity: int, rng: np.random.Generator) -> None:
        dtype = transform.dtype
        self.transform, self.rng = transform, rng
        self.capacity = min(capacity, transform.dimension)
        self.V = np.empty((transform.products.rows, self.capacity), dtype, order="F")
        # the duals of the waiting block and of the one before it; no others are needed
        self.Q_dual: list[Array] = []
        self.last_dual: list[Array] = []
        self.eps = float(np.finfo(dtype).eps)
        self.trans = 2 if dtype.kind == "c" else 1
        self.gemv: Any = get_blas_funcs("gemv", dtype=dtype)
        self.trsm: Any = get_blas_funcs("trsm", dtype=dtype)
        self.potrf: Any = get_lapack_funcs("potrf", dtype=dtype)
        self.coefficients: Any = inner_products(dtype).coefficients
        self.dot, self.norm, _, _, self.axpy = kernels(dtype)
        # of coefficients, which every process has
        self.length: Any = local_products(dtype).norm
        self.size = self.width = self.reach = 0
        # is the waiting vector, but not the one before it, known to be orthogonal to all others?
        self.paired = False
        self.coupling: Array = np.zeros((0, 0), np.result_type(dtype, np.float64))

    def _wait(self, w: Array, d: Array, scale: float, floors: Array | None = None) -> None:
        """Orthonormalise w (with dual d) against V and let it wait; on breakdown continue with a random vector."""
        self.paired = True
        room = self.transform.dimension - self.size
        if w.ndim == 1 and room > 0:
            norm, d = self._clean(w, d)
            if norm > 10 * self.eps * scale:
                self._place(w, d, norm)
                self.coupling = np.array([[norm]])
                return
        W, D = w.reshape(w.shape[0], -1), d.reshape(d.shape[0], -1)
        # products of matrices of extreme sizes may overflow, and then no residual is small
        with np.errstate(over="ignore", invalid="ignore"):
            if not (floors is None and W.shape[1] <= room and self._wait_together(W, D, scale)):
                self._wait_block(W, D, scale, room, floors)

    def _wait_together(self, W: Array, D: Array, scale: float) -> bool:
        """Orthonormalise all columns of W, whose duals are D, at once; False where they are nearly dependent."""
        single, count = self.transform.single, W.shape[1]
        cleaned = self._cleaned_block(W.copy(order="F"), W if single else D, scale)
        if cleaned is None:
            return False
        W, D, G = cleaned
        R, info = self.potrf((G + G.conj().T) / 2, lower=0, clean=1)
        # the part of each column that the others do not have
        if info or not (np.abs(R.diagonal()) > WELL_CONDITIONED * np.sqrt(G.diagonal().real)).all():
            return False
        self.V[:, self.size : self.size + count] = self.trsm(1.0, R, W, side=1)
        self.Q_dual = [] if single else list(self.trsm(1.0, R, np.asfortranarray(D), side=1).T)
        self.width, self.coupling = count, R.astype(np.result_type(R.dtype, np.float64))
        return True

    def _cleaned_block(self, W: Array, D: Array, scale: float) -> tuple[Array, Array, Array] | None:
        """The columns of W orthogonalised in place against V, their duals and Gram matrix; None if little is left.

        The projection is repeated after cancellation; then the duals no longer belong to W, and are made again.
        """
        V, single = self.V[:, : self.size], self.transform.single
        for _ in range(3):
            taken = 0.0
            if self.size:
                # for a few columns GEMV is faster than GEMM
                for i in range(W.shape[1]):
                    c = self.coefficients(1.0, V, W[:, i] if single else D[:, i], trans=self.trans)
                    self.gemv(-1.0, V, c, 1.0, W[:, i], overwrite_y=1)
                    taken = max(taken, float(self.norm(c)))
            D = W if single else D
            G = gram(W, D)
            least = math.sqrt(max(float(G.diagonal().real.min()), 0.0))
            if not least > 10 * self.eps * scale:
                return None
            if not single and taken > 100 * self.eps * least:
                D = np.array([self.transform.dual(w) for w in W.T]).T
                G = gram(W, D)
            if not taken > max(1e-6, 100 * self.eps) * least:
                break
        return W, D, G

    def _wait_block(self, W: Array, D: Array, scale: float, room: int, floors: Array | None) -> None:
        """The columns one by one; a column whose new component does not exceed its floor is dropped."""
        sizes = np.sqrt(np.abs(column_vdots(D, W)))
        # the largest first: where one direction is common to all, the others then show no new component
        for i in np.argsort(-sizes, kind="stable"):
            if self.width == room:
                break
            w, norm, d = W[:, i].copy(), sizes[i], D[:, i]
            floor = 0.0 if floors is None else floors[i]
            if norm > floor:
                norm, d = self._clean(w, w if self.transform.single else d.copy())
            if norm > max(floor, 10 * self.eps * (scale if scale > 0 else sizes[i])):
                self._place(w, d, norm)
        Q = self.V[:, self.size : self.size + self.width]
        self.coupling = np.asarray(gram(Q, D))
        if self.width == 0 and room > 0:
            self.scatter()

    def scatter(self) -> None:
        """Replace the waiting block by a random vector orthonormal to V, without coupling."""
        self.width, self.Q_dual, self.paired = 0, [], True
        for _ in range(BREAKDOWN_TRIALS):
            x = random_vector(self.transform, self.rng)
            w, d = (column[:, 0].copy() for column in self.transform.random(x[:, None]))
            norm, d = self._clean(w, w if self.transform.single else d)
            if norm > 0:
                break
        else:
            raise NotPositiveDefinite("B is not positive definite: no vector beyond those found has xᴴBx > 0")
        self._place(w, d, norm)
        self.reach, self.coupling = 0, np.zeros((1, 0))

    def _place(self, w: Array, d: Array, norm: float) -> None:
        """Let w/norm be the next column of the waiting block."""
        np.multiply(w, 1 / norm, out=self.V[:, self.size + self.width])
        if not self.transform.single:
            self.Q_dual.append(d * (1 / norm))
        self.width += 1

    def _clean(self, w: Array, d: Array) -> tuple[float, Array]:
        """Orthogonalise w in place against V and the block so far; return its norm and its dual."""
        count, gemv, single = self.size + self.width, self.gemv, self.transform.single
        V = self.V[:, :count]
        norm = 0.0 if single else math.sqrt(max(float(self.dot(d, w)), 0.0))
        for _ in range(3):
            taken = 0.0
            if count:
                c = self.coefficients(1.0, V, d, trans=self.trans)
                gemv(-1.0, V, c, 1.0, w, overwrite_y=1)
                taken = float(self.length(c))
            if single:
                norm = float(self.norm(w))
            else:
                # usually next to nothing was removed, and then the dual still belongs to w
                if taken > 100 * self.eps * norm:
                    d = self.transform.dual(w)
                    norm = math.sqrt(max(float(self.dot(d, w)), 0.0))
            # the recurrence has usually done this already: repeat only after cancellation
            if not taken > max(1e-6, 100 * self.eps) * norm:
                break
        return norm, d
