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
    """B-orthonormal columns V with A V and B V."""

    V: Array
    AV: Array
    BV: Array

    def joined(self, v: Array, Av: Array, Bv: Array) -> Space:
        """One column more."""
        return Space(*(np.column_stack([M, m]) for M, m in zip(self, (v, Av, Bv), strict=True)))

    def reduced(self, most: int, keep: int) -> Space:
        """The best `keep` Ritz vectors in place of more than `most` columns."""
        return self if self.V.shape[1] <= most else Space(*(M @ self.ritz(keep) for M in self))

    def ritz(self, count: int) -> Array:
        """The coefficients of the `count` best Ritz vectors, ascending."""
        H = self.V.conj().T @ self.AV
        return np.asarray(np.linalg.eigh((H + H.conj().T) / 2)[1][:, -count:])


@dataclass(frozen=True)
class JacobiDavidson(Method):
    """The best Ritz pair (θ, u) of a space that grows by a correction t ⟂ Bu with (A − θB)t ≈ −(A − θB)u.

    Sleijpen and van der Vorst (1996), Fokkema, Sleijpen and van der Vorst (1998), restricted to the symmetric-definite
    case: (I − Bu uᴴ)(A − θB)(I − u uᴴB)t = −r is Hermitian and solved by MINRES. Fixed here: `minres_steps` of it,
    without a preconditioner, and a restart from the `keep` best Ritz vectors when there are more than `max_basis`. One
    product with A and B each for a step of MINRES, and one more; it never solves with B.
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
        """A space of one vector."""
        state = super().first(products, x, None)
        columns = (M[:, None] / state.b**0.5 for M in (state.x, state.Ax, state.Bx))
        return _best(products, Space(*columns))

    def step(self, state: State) -> State:
        """The correction becomes a column; where it has nothing new, the space begins again with its Ritz vector."""
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
        """t of the correction equation by MINRES: Lanczos, and the least residual over its space."""
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
