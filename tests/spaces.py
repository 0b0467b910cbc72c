"""Transformations of small pairs with everything that they need, and what a dense computation says of them."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from checking import operator_of
from splitmerge.linalg.cholesky import DenseFactor
from splitmerge.problem.factorise import factorise, shifted_factor
from splitmerge.problem.operator import plus
from splitmerge.problem.products import Products
from splitmerge.solvers.shifted import Minres, UserInverse
from splitmerge.sparse_direct.diagonal import DiagonalFactor
from splitmerge.transforms import (
    BInner,
    LumpedInverse,
    LumpedShiftInvert,
    SemidefiniteShiftInvert,
    ShiftInvert,
    Whitened,
)
from splitmerge.transforms.shift_invert import root_of

SIGMA = 0.3


def hermitian_pair(n, dtype, *, rank=None, seed=0):
    """An indefinite A and a positive definite B, or a semidefinite one of this rank."""
    rng = np.random.default_rng(seed)
    A, X = rng.standard_normal((2, n, n))
    if np.dtype(dtype).kind == "c":
        A, X = A + 1j * rng.standard_normal((n, n)), X + 1j * rng.standard_normal((n, n))
    X = X[:, :rank]
    A, B = (A + A.conj().T) / 2, X @ X.conj().T / n
    if rank is None:
        B += np.eye(n)
    return A.astype(dtype), ((B + B.conj().T) / 2).astype(dtype)


@dataclass
class Space:
    """A transformation with the dense matrices of its pair (B = None for the identity)."""

    transform: Any
    A: Any
    B: Any

    @property
    def products(self):
        return self.transform.products

    @property
    def mass(self):
        return np.eye(len(self.A), dtype=self.A.dtype) if self.B is None else self.B

    def finite_pairs(self):
        """The finite eigenvalues of the pair, ascending, and their vectors of B-norm 1, by LAPACK."""
        sizes, Q = scipy.linalg.eigh(self.mass)
        kept = sizes > 1e-10 * sizes[-1]
        L = Q[:, kept] * np.sqrt(sizes[kept])
        X = np.linalg.solve(self.A - SIGMA * self.mass, L)
        C = L.conj().T @ X
        thetas, Y = scipy.linalg.eigh((C + C.conj().T) / 2)
        values = SIGMA + 1 / thetas
        order = np.argsort(values)
        return values[order], np.asfortranarray((X @ Y / thetas)[:, order])

    def times(self, y):
        """T y and its dual."""
        y = np.ascontiguousarray(y)
        return self.transform.complete(self.transform.apply(y.copy(), self.transform.dual(y)))

    @cached_property
    def matrix(self):
        """T in these coordinates."""
        unit = np.eye(self.transform.n, dtype=self.transform.dtype)
        return np.column_stack([self.times(e)[0] for e in unit])

    def duals(self, Y):
        return np.column_stack([self.transform.dual(np.ascontiguousarray(y)) for y in Y.T])

    @cached_property
    def gram(self):
        """The matrix of the inner product."""
        return self.duals(np.eye(self.transform.n, dtype=self.transform.dtype))


def whitened(n, dtype, *, identity=False, explicit=False):
    A, B = hermitian_pair(n, dtype)
    pencil = sm.Pencil(A, None if identity else B)
    factor = None if identity else DenseFactor(pencil.B.matrix)
    formed = factor.transformed(np.array(pencil.A.matrix, order="F")) if explicit else None
    return Space(Whitened(Products(pencil, solver=factor, explicit=formed)), A, None if identity else B)


def b_inner(n, dtype, *, solver="factor"):
    A, B = hermitian_pair(n, dtype)
    if solver == "factor":
        pencil = sm.Pencil(sp.csr_array(A), sp.csr_array(B))
        inner = factorise(pencil.B)
    else:
        pencil = sm.Pencil(operator_of(A), operator_of(B))
        inner = sm.ConjugateGradient(None, tol=1e-14).prepare(Products(pencil))
    return Space(BInner(Products(pencil, solver=inner)), A, B)


def shift_invert(n, dtype, *, kind="dense", identity=False, sign=1):
    A, B = hermitian_pair(n, dtype)
    make = {"dense": np.asarray, "sparse": sp.csr_array, "MINRES": operator_of, "user": operator_of}[kind]
    pencil = sm.Pencil(make(A), None if identity else make(B))
    products = Products(pencil)
    K = A - SIGMA * (np.eye(n) if identity else B)
    if kind == "MINRES":
        factor = Minres(products, SIGMA)
    elif kind == "user":
        factor = UserInverse(pencil, lambda b: np.linalg.solve(K, b), 1.0)
    else:
        factor = shifted_factor(plus(pencil.A, -SIGMA, pencil.B))
    return Space(ShiftInvert(products, SIGMA, factor, sign), A, None if identity else B)


def semidefinite(n, dtype, *, kind="dense", sign=1):
    A, B = hermitian_pair(n, dtype, rank=n - 4)
    if kind == "sparse":
        B = np.diag(np.r_[np.linspace(1, 2, n - 4), np.zeros(4)]).astype(dtype)
    make = np.asarray if kind == "dense" else sp.csr_array
    pencil = sm.Pencil(make(A), make(B))
    products = Products(pencil)
    factor = shifted_factor(plus(pencil.A, -SIGMA, pencil.B))
    return Space(SemidefiniteShiftInvert(products, SIGMA, factor, sign, root_of(products, "B")[0]), A, B)


def lumped(n, dtype):
    return np.diag(np.linspace(1.0, 3.0, n)).astype(dtype)


def whitened_by_a_diagonal(n, dtype):
    A, B = hermitian_pair(n, dtype)[0], lumped(n, dtype)
    pencil = sm.Pencil(sp.csr_array(A), sp.csr_array(B))
    return Space(Whitened(Products(pencil, solver=DiagonalFactor(pencil.B.matrix))), A, B)


def lumped_shift_invert(n, dtype, *, sign=1):
    A, B = hermitian_pair(n, dtype)[0], lumped(n, dtype)
    pencil = sm.Pencil(sp.csr_array(A), sp.csr_array(B))
    factor = shifted_factor(plus(pencil.A, -SIGMA, pencil.B))
    return Space(LumpedShiftInvert(Products(pencil), SIGMA, factor, sign), A, B)


def lumped_inverse(n, dtype):
    """The pair (B, K) of a diagonal B."""
    B, K = lumped(n, dtype), hermitian_pair(n, dtype)[1]
    pencil = sm.Pencil(sp.csr_array(B), sp.csr_array(K))
    return Space(LumpedInverse(Products(pencil, solver=factorise(pencil.B))), B, K)


# Every transformation, by its name: made from n and a dtype.
SPACES = {
    "Whitened, identity": partial(whitened, identity=True),
    "Whitened": whitened,
    "Whitened, formed": partial(whitened, explicit=True),
    "Whitened by a diagonal": whitened_by_a_diagonal,
    "BInner": b_inner,
    "BInner by conjugate gradients": partial(b_inner, solver="conjugate gradients"),
    "ShiftInvert, identity": partial(shift_invert, identity=True),
    "ShiftInvert": shift_invert,
    "ShiftInvert, negated": partial(shift_invert, sign=-1),
    "ShiftInvert, sparse": partial(shift_invert, kind="sparse"),
    "ShiftInvert by MINRES": partial(shift_invert, kind="MINRES"),
    "ShiftInvert by the user": partial(shift_invert, kind="user"),
    "LumpedShiftInvert": lumped_shift_invert,
    "LumpedShiftInvert, negated": partial(lumped_shift_invert, sign=-1),
    "LumpedInverse": lumped_inverse,
    "SemidefiniteShiftInvert": semidefinite,
    "SemidefiniteShiftInvert, negated": partial(semidefinite, sign=-1),
    "SemidefiniteShiftInvert, sparse": partial(semidefinite, kind="sparse"),
}
