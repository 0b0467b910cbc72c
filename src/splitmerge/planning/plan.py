"""`Plan`: the candidates for a solve in the order in which they are tried, each with a predicted cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from ..problem.target import Target
from ..sparse_direct import Prediction


class Engine(Enum):
    """How the pairs of the (mapped) pencil are computed."""

    LAPACK = "LAPACK"
    MIXED_PRECISION = "thick-restart Lanczos in single precision, polished in double"
    REFINEMENT = "refinement of the start"
    KRYLOV = "thick-restart Lanczos"
    SHIFT_INVERT = "shift-invert thick-restart Lanczos"
    SLICING = "spectrum slicing: inertia counts, and shift-invert thick-restart Lanczos in each slice"
    LOBPCG = "LOBPCG"
    DEFLATION = "one pair after the other by deflation"


class Map(Enum):
    """Which pencil the engine works on."""

    SAME = "(A, B)"
    NEGATED = "(−A, B)"
    # (B, ±(A − σB)) for a definite A − σB: at a given σ; at the least one that makes A + ηB definite
    SWAPPED = "(B, A − σB)"
    SWAPPED_BELOW = "(B, A + ηB)"


class Candidate(NamedTuple):
    """One way to compute the pairs; the set-up takes the first that holds.

    `sigma` and `sign` belong to the map or to the shift, in the units of the scaled pair. `clear` requires σ to be
    clear of the eigenvalues. `trial` says that the set-up compares with the predicted factorisation first. A result
    that does not stand is replaced by that of the next candidate, a search also after `max_products` products; one
    that is `provisional` as soon as it is expected to take more of them.
    """

    engine: Engine
    map: Map = Map.SAME
    target: Target = Target.LARGEST
    sigma: float = 0.0
    sign: int = 1
    clear: bool = False
    trial: bool = False
    max_products: float = math.inf
    provisional: bool = False


class Plan(NamedTuple):
    """The candidates, and the predicted cost of the factorisation they may make (None where n is small).

    `otherwise` makes the plan that follows where none of them stands: its prediction may take longer than a search.
    """

    candidates: tuple[Candidate, ...]
    prediction: Prediction | None = None
    # are the entries of A or B put into a dense array before anything else?
    forms_A: bool = False
    forms_B: bool = False
    otherwise: Callable[[], Plan] | None = None

    def complete(self) -> Plan:
        """The plan with the candidates that follow, and with their prediction."""
        if self.otherwise is None:
            return self
        rest = self.otherwise()
        return rest._replace(candidates=(*self.candidates, *rest.candidates))
