"""Thick-restart Lanczos that is given up as soon as another way is expected to be faster."""

from __future__ import annotations

import math

import numpy as np

from ..setup import Setup
from ..subspace import Slack
from .thick_restart import ThickRestart

# The first estimate is made after this many products, in which hardly anything has converged.
FIRST_ESTIMATE_PRODUCTS = 16
# This fraction of the limit is spent in any case.
FREE_FRACTION = 0.1
# Lanczos coefficients β approach a quarter of the width of the spectrum.
WIDTH_OVER_BETA = 4
# Once the pairs have converged, the search may go on to this multiple of the limit for further ones.
CONVERGED_FACTOR = 4


class Provisional(ThickRestart):
    """A search that ends once it is expected to take more than `max_products` products.

    Expected are as many as it takes in proportion to the digits gained so far. They are counted from an error between
    the width of the spectrum and the size of the wanted eigenvalues: at the low end of a Laplacian the error falls from
    the one to the other long before it falls geometrically.
    """

    def __init__(self, setup: Setup, max_basis: int | None = None) -> None:
        super().__init__(setup, max_basis)
        self.width, self.progress, self.converged = 0.0, 0.0, False

    def advance(self) -> None:
        """Advance, and end the search if it is not worth while."""
        super().advance()
        if self.converged:
            return
        self.width = max(self.width, WIDTH_OVER_BETA * float(np.linalg.norm(self.basis.coupling)))
        self.progress = max(self.progress, self._progress())
        least = max(FIRST_ESTIMATE_PRODUCTS, FREE_FRACTION * self.max_products)
        if self.basis.products >= max(least, self.progress * self.max_products):
            self.max_products = 0.0

    def _progress(self) -> float:
        """Which share of the digits the worst of the wanted pairs has gained."""
        left, errors = self._excess(), self.errors[: self.k]
        worst = float(errors.max(initial=0.0))
        if not (worst > 0 and math.isfinite(left)):
            return 0.0
        # of a zero eigenvalue, which others than the worst may be, the size tells nothing
        size = min(self.width, math.sqrt(self.width * abs(float(self.values[int(np.argmax(errors))]))))
        gained = math.log(size / worst) if size > worst else 0.0
        return gained / (gained + left) if left > 0 else 1.0

    def look(self, slack: Slack) -> bool | None:
        """Search the complement: what has converged is worth more than to begin again."""
        if not self.converged:
            self.max_products, self.converged = CONVERGED_FACTOR * self.max_products, True
        return super().look(slack)
