"""`Accelerated`, the default method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...checks import whole
from ...run.iteration import Iteration
from ..protocol import Method
from ..refinement.mixed_precision import MixedPrecision
from ..refinement.near_start import NearStart
from ..setup import Setup
from .thick_restart import ThickRestart


@dataclass(frozen=True)
class Accelerated(Method):
    """Minimise f over a growing space: the Ritz vectors X, the split directions T X and T²X, and a short memory.

    A step expands the space by a few products with T = B⁻¹A and minimises f over it, which is Rayleigh–Ritz; as the
    space contains Split-Merge's next iterate, it inherits its descent. Thick-restarted block Lanczos keeps the space
    small and orthonormal. `max_basis` limits its dimension, 2k + 44 when not given; it is at least 3k.
    """

    max_basis: int | None = None
    subspace: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_basis is not None:
            whole(self.max_basis, "max_basis", 4)

    def bind(self, setup: Setup) -> Iteration:
        """Thick-restart Lanczos, in mixed precision if the set-up has the pair in single precision; or refinement."""
        if setup.deflated is not None:
            return NearStart(setup)
        if setup.single is not None:
            return MixedPrecision(setup, self.max_basis)
        return ThickRestart(setup, self.max_basis)
