"""How the pairs will be sought."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..preconditioners import Preconditioner
from ..problem.pencil import Pencil, PSolver
from ..problem.target import Wanted
from ..sparse_direct.prediction import Prediction
from ..transforms.standard import Domain
from ..typing import Array


@dataclass
class Local:
    """What a search without solves needs: the preconditioner, and whether residuals are relative to |λ| itself."""

    preconditioner: Preconditioner | None
    P: PSolver | None
    itself: bool


@dataclass
class Route:
    """How the pairs will be sought: the most `wanted` of `pencil`, in `domain`, or by LAPACK when there is none.

    `local` says that the search is to be one without solves.
    """

    pencil: Pencil
    wanted: Wanted = Wanted.LARGEST
    domain: Domain | None = None
    sigma: float | None = None
    lines: list[str] = field(default_factory=list)
    # the pair in single precision, where the search is to be made in that
    narrow: Pencil | None = None
    local: Local | None = None
    # what the factorisation of the pencil's B was expected to cost, if that was asked
    prediction: Prediction | None = None

    @property
    def order(self) -> Callable[[Array], Array] | None:
        """For LAPACK, which has all values: their indices, the most wanted first; None just for the largest."""
        sigma = self.sigma
        if sigma is not None:
            return lambda values: np.argsort(np.abs(values - sigma), kind="stable")
        return None if self.wanted is Wanted.LARGEST else self.wanted.order

    def say(self, line: str) -> None:
        """Add a sentence to what `explain` tells."""
        self.lines.append(line)
