"""The Split-Merge method for the generalized problem (section 4)."""

from __future__ import annotations

from dataclasses import dataclass

from ...linalg.blas import combine
from ...objective.state import State
from ...solvers.protocol import InnerSolver
from ..protocol import Method


@dataclass(frozen=True)
class SplitMerge(Method):
    """x ← ζ T x + ω T² x with T = B⁻¹A. Two products with A, two solves, four inner products a step (and one to watch).

    The step minimises the surrogate with Hessian H = 2B − FᴴvvᴴF/r, v the direction of largest decrease, in which
    the factor F of A has merged away. ρ = max(1, 1.01 t) keeps H positive definite and as small as possible.
    """

    inner: InnerSolver | None = None

    def step(self, state: State) -> State:
        """Equation 4.7, written with w₁ = Tx/(2r) and w₂ = Tw₁/(2r), which are of the size of x.

        With q = ⟨Ax, w₁⟩/s (the paper's q over 2r) and z = Aw₁ − qAx:
        t = ⟨z, w₂ − qw₁⟩ / ⟨z, w₁ − qx⟩, and x₊ = w₁ + (w₂ − qw₁)/(ρ − t). No difference of squares is taken,
        so t is accurate until x is.

        The paper's surrogate majorises f at x only, and a long step can raise f by its length alone. The states are
        therefore the best multiples of the paper's iterates; how much longer those are is the state's `memory`.
        """
        products, x, Ax, Bx = state.products, state.x, state.Ax, state.Bx
        dot, axpy = products.kernels.dot, products.kernels.axpy
        half, longer = 0.5 / state.r, state.memory or 1.0
        w1, Bw1 = products.solve_B(half * Ax, x, Bx)
        Aw1 = products.apply_A(w1, Bw1)
        w2, Bw2 = products.solve_B(half * Aw1, w1, Bw1)
        q = dot(Ax, w1) / state.s
        z = axpy(Ax, Aw1, a=-q)  # in place, like d: both arrays are ours
        d = axpy(w1, w2, a=-q)
        delta = dot(z, combine(axpy, w1, -q, x))
        # δ lost to rounding: x has converged, and the power step is as good
        resolved = delta > (32 * products.eps) ** 2 * state.s
        t = dot(z, d) / (delta * longer) if resolved else 0.0
        weight = 1 / (longer * (max(1.0, 1.01 * t) - t)) if resolved else 0.0
        x = combine(axpy, w1, weight, d)
        # B x₊ = Bw₁ + weight (Bw₂ − q Bw₁), without a product
        Bx = x if products.identity else combine(axpy, Bw1, weight, axpy(Bw1, Bw2, a=-q))
        merged = State(products, x, products.apply_A(x, Bx), Bx)
        if merged.value < (1 - 32 * products.eps) * state.value:
            # never seen, but not excluded either: the power step raises the quotient for certain
            merged = State(products, w1, axpy(Ax, z, a=q), Bw1)
        merged.memory = 1 / merged.rescale()
        return merged
