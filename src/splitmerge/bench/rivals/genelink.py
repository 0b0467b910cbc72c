"""GenELinK: a block power method whose linear systems are solved by accelerated gradient descent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ...checks import real, whole
from ...linalg.lanczos import LanczosProcess, largest_eigenvalue
from ...linalg.reductions import column_norms
from ...methods.protocol import Method
from ...objective.state import State
from ...problem.products import Products
from ...problem.start import random_vector
from ...typing import Array

# Lanczos steps of the bounds of the spectrum of B.
BOUND_LANCZOS_STEPS = 80


class Block(NamedTuple):
    """A B-orthonormal block W with A W and B W, and the constants 1/λ₁(B) and √κ(B)."""

    W: Array
    AW: Array
    BW: Array
    reach: float
    root: float


class Constants(NamedTuple):
    """1/λ₁(B), √κ(B), and the random generator of the additional columns of the first block."""

    reach: float
    root: float
    rng: np.random.Generator


@dataclass(frozen=True)
class GenELinK(Method):
    """Inexact block power method: W ≈ B⁻¹AW by Nesterov's gradient descent on ½wᴴBw − wᴴ(AW), then orthonormalised.

    Ge, Jin, Kakade, Netrapalli and Sidford (2016). The inner iteration starts at WΓ with Γ = (WᴴBW)⁻¹WᴴAW, so that a
    constant error reduction is sufficient; here it takes `accuracy` √κ(B) inner steps. λ₁(B) is bounded by Lanczos, and
    λₙ(B) is estimated by the smallest Ritz value of the same run, an upper estimate, which makes the momentum too small
    but never unstable. The columns are orthonormalised sequentially, so that the first column, which is the state, is
    independent of the others. Each step takes one product with A per column, and one product with B per column and
    inner step plus one more; no solves with B.
    """

    block: int = 1
    accuracy: float = 4.0
    solves: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.block, "block", 1)
        real(self.accuracy, "accuracy")

    def setup(self, products: Products, rng: np.random.Generator) -> Constants:
        """Bound the spectrum of B by Lanczos."""
        if products.identity:
            return Constants(1.0, 1.0, rng)
        x = random_vector(products, rng)
        process = LanczosProcess(lambda v, _: products.apply_B(v), lambda y: (y, y), x, x)
        largest = largest_eigenvalue(process, BOUND_LANCZOS_STEPS)
        least = float(process.ritz(0, 0)[0][0])
        return Constants(1 / largest, math.sqrt(largest / max(least, products.eps * largest)), rng)

    def first(self, products: Products, x: Array, memory: Constants) -> State:
        """The start, with random additional columns."""
        others = [random_vector(products, memory.rng) for _ in range(self.block - 1)]
        return _state(products, np.column_stack([x, *others]), memory.reach, memory.root)

    def step(self, state: State) -> State:
        """One inexact step of the block power method."""
        products, (W, AW, BW, reach, root) = state.products, state.memory
        W, BW = (M @ (W.conj().T @ AW) for M in (W, BW))
        momentum = (root - 1) / (root + 1)
        last = W
        for _ in range(math.ceil(self.accuracy * root) if root > 1 else 1):
            here = W - reach * (BW - AW)
            W, last = here + momentum * (here - last), here
            BW = products.products_B(W)
        return _state(products, last, reach, root)


def _state(products: Products, W: Array, reach: float, root: float) -> State:
    """The state of the first column of W, after sequential B-orthonormalisation of all columns."""
    kept: list[tuple[Array, Array]] = []
    for column in (W / column_norms(W)).T:
        w, Bw = np.ascontiguousarray(column), products.apply_B(np.ascontiguousarray(column))
        for _ in range(2):
            w, Bw = products.project(w, Bw)
            for v, Bv in kept:
                c = np.vdot(v, Bw)
                w, Bw = w - c * v, Bw - c * Bv
        # drop a column that is linearly dependent on the previous ones
        if kept and np.vdot(w, Bw).real <= (1e3 * products.eps) ** 2:
            continue
        norm = products.B_norm(w, Bw)
        kept.append((w / norm, Bw / norm))
    V, BV = (np.column_stack(parts) for parts in zip(*kept, strict=True))
    AV = np.column_stack([products.apply_A(v, Bv) for v, Bv in kept])
    x, Bx = kept[0]
    return State(
        products, x, np.ascontiguousarray(AV[:, 0]), x if products.identity else Bx, Block(V, AV, BV, reach, root)
    )
