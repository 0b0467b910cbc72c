"""`Accelerated`, the default method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import whole
from ...problem.pencil import Pencil
from ...problem.target import Wanted
from ...transforms.standard import domain_of
from ..searching import Searching
from .search import Search


@dataclass(frozen=True)
class Accelerated(Searching):
    """Minimise f over a growing space: the Ritz vectors X, the split directions T X and T²X, and a short memory.

    A step expands the space by a few products with T = B⁻¹A and minimises f over it, which is Rayleigh–Ritz; as the
    space holds Split-Merge's next iterate, it inherits its descent. Thick-restarted block Lanczos keeps the space small
    and orthonormal. `max_basis` limits its dimension, max(2k + 44, 3k) when not given.
    """

    max_basis: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_basis is not None:
            whole(self.max_basis, "max_basis", 4)

    def setup(self, pencil: Pencil, rng: np.random.Generator) -> Any:
        """A search for the leading pair."""
        return Search(pencil, domain_of(pencil), 1, Wanted.LARGEST, rng, self.max_basis)
