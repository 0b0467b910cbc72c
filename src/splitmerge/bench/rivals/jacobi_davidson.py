"""The Jacobi–Davidson method for a symmetric-definite pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...checks import whole
from ...linalg.blas import combine
from ...linalg.lanczos import LanczosProcess
from ...methods.protocol import Method
from ...objective.state import State
from ...problem.products import Products
from ...typing import Array


class Space(NamedTuple):
    """A B-orthonormal basis V with A V and B V."""

    V: Array
    AV: Array
    BV: Array

    def joined(self, v: Array, Av: Array, Bv: Array) -> Space:
        """The basis with one more column."""
        return Space(*(np.column_stack([M, m]) for M, m in zip(self, (v, Av, Bv), strict=True)))

    def reduced(self, most: int, keep: int) -> Space:
        """Thick restart: keep the best `keep` Ritz vectors if the basis has more than `most` columns."""
        return self if self.V.shape[1] <= most else Space(*(M @ self.ritz(keep) for M in self))

    def ritz(self, count: int) -> Array:
        """The coefficients of the `count` best Ritz vectors, in ascending order of Ritz values."""
        H = self.V.conj().T @ self.AV
        return np.asarray(np.linalg.eigh((H + H.conj().T) / 2)[1][:, -count:])


@dataclass(frozen=True)
class JacobiDavidson(Method):
    """Jacobi–Davidson: the best Ritz pair (θ, u) of a subspace expanded by corrections t ⟂ Bu.

    Sleijpen and van der Vorst (1996), Fokkema, Sleijpen and van der Vorst (1998), for the symmetric-definite case: the
    correction equation (I − Bu uᴴ)(A − θB)(I − u uᴴB)t = −r is Hermitian and solved by MINRES. Our choices:
    `minres_steps` steps without preconditioner, and a thick restart with the `keep` best Ritz vectors when the basis
    exceeds `max_basis`. Each MINRES step takes one product each with A and B, and each outer step one more; no solves
    with B.
    """

    minres_steps: int = 12
    max_basis: int = 20
    keep: int = 6
    solves: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.minres_steps, "minres_steps", 1)
        whole(self.max_basis, "max_basis", 2)
        whole(self.keep, "keep", 1, self.max_basis)

    def first(self, products: Products, x: Array, memory: Any) -> State:
        """A subspace of one vector."""
        state = super().first(products, x, None)
        columns = (M[:, None] / state.b**0.5 for M in (state.x, state.Ax, state.Bx))
        return _best(products, Space(*columns))

    def step(self, state: State) -> State:
        """Expand the subspace by the correction; if it is numerically dependent, restart from the Ritz vector."""
        products, space, norm = state.products, state.memory, state.products.kernels.norm
        t = self._correction(state)
        V, BV = np.column_stack([products.found, space.V]), np.column_stack([products.B_found, space.BV])
        for _ in range(2):
            length = norm(t)
            t = t - V @ (BV.conj().T @ t)
            if not norm(t) > 100 * products.eps * length:
                return self.first(products, state.x, None)
            t = t / norm(t)
        Bt = products.apply_B(t)
        length = products.B_norm(t, Bt)
        t, Bt = t / length, Bt / length
        joined = space.joined(t, products.apply_A(t, Bt), Bt)
        return _best(products, joined.reduced(self.max_basis, self.keep))

    def _correction(self, state: State) -> Array:
        """The solution t of the correction equation by MINRES: minimal residual over a Krylov space."""
        products, axpy = state.products, state.products.kernels.axpy
        u, Bu, value = state.x, state.Bx, state.value

        def multiply(x: Array, _: Array) -> Array:
            c = np.vdot(Bu, x)
            x, Bx = products.project(x - c * u, products.apply_B(x) - c * Bu)
            y = axpy(Bx, products.apply_A(x, Bx), a=-value)
            return products.project_dual(y - np.vdot(u, y) * Bu)

        r = combine(axpy, state.Ax, -value, Bu)
        size = products.kernels.norm(r)
        if size == 0:
            return r
        process = LanczosProcess(multiply, lambda y: (y, y), r, r)
        while process.steps < self.minres_steps and not process.exhausted:
            process.extend()
        j = process.steps
        T = np.zeros((j + 1, j))
        T[:j] = np.diag(process.alpha) + np.diag(process.beta[:-1], 1)
        T[np.arange(1, j + 1), np.arange(j)] = process.beta
        z = np.linalg.lstsq(T, np.eye(j + 1)[0] * -size, rcond=None)[0]
        t = process.vector(z.astype(u.dtype))
        return np.asarray(t - np.vdot(Bu, t) * u)


def _best(products: Products, space: Space) -> State:
    s = space.ritz(1)[:, 0]
    x, Ax, Bx = (np.ascontiguousarray(M @ s) for M in space)
    return State(products, x, Ax, x if products.identity else Bx, space)
