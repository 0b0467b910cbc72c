"""The Split-Merge method for the generalized problem (section 4)."""

from __future__ import annotations

from dataclasses import dataclass

from ...linalg.blas import combine
from ...objective.merging import RHO_MARGIN
from ...objective.state import State
from ...solvers.protocol import InnerSolver
from ..protocol import Method


@dataclass(frozen=True)
class SplitMerge(Method):
    """x ← ζTx + ωT²x with T = B⁻¹A. Two products with A, two solves, four inner products a step (and one to monitor).

    The step minimises the surrogate of f with Hessian H = 2B − FᴴvvᴴF/r. For the v of largest vᴴFTx the factor F of
    A = FᴴF drops out. ρ = max(1, 1.01 t) keeps H positive definite and close to its least.
    """

    inner: InnerSolver | None = None

    def step(self, state: State) -> State:
        """The step ζTx + ωT²x of `MergeCoefficients`, without the cancellation of its δ.

        It uses w₁ = Tx/(2r) and w₂ = Tw₁/(2r), which are of the size of x. With q = ⟨Ax, w₁⟩/s (the published q over
        2r) and z = Aw₁ − qAx: t = ⟨z, w₂ − qw₁⟩/⟨z, w₁ − qx⟩ and x₊ = w₁ + (w₂ − qw₁)/(ρ − t). As δ is not a
        difference of squares, t is accurate until x has converged.

        The published surrogate majorises f at x only, and a long step can raise f by its length alone. A state is
        therefore the multiple of the published iterate that minimises f; `memory` is the ratio of their lengths.
        """
        products, x, Ax, Bx = state.products, state.x, state.Ax, state.Bx
        dot, axpy = products.kernels.dot, products.kernels.axpy
        half, longer = 0.5 / state.r, state.memory or 1.0
        w1, Bw1 = products.solve_B(half * Ax, x, Bx)
        Aw1 = products.apply_A(w1, Bw1)
        w2, Bw2 = products.solve_B(half * Aw1, w1, Bw1)
        q = dot(Ax, w1) / state.s
        z = axpy(Ax, Aw1, a=-q)  # in place, like d: no other state holds these arrays
        d = axpy(w1, w2, a=-q)
        delta = dot(z, combine(axpy, w1, -q, x))
        # δ at the level of rounding: x has converged, and the power step is as good
        resolved = delta > (32 * products.eps) ** 2 * state.s
        t = dot(z, d) / (delta * longer) if resolved else 0.0
        weight = 1 / (longer * (max(1.0, RHO_MARGIN * t) - t)) if resolved else 0.0
        x = combine(axpy, w1, weight, d)
        # B x₊ = Bw₁ + weight (Bw₂ − q Bw₁), without a product
        Bx = x if products.identity else combine(axpy, Bw1, weight, axpy(Bw1, Bw2, a=-q))
        merged = State(products, x, products.apply_A(x, Bx), Bx)
        if merged.value < (1 - 32 * products.eps) * state.value:
            # not ruled out by theory, though never observed: the power step always raises the Rayleigh quotient
            merged = State(products, w1, axpy(Ax, z, a=q), Bw1)
        merged.memory = 1 / merged.rescale()
        return merged
