"""The limit of products of a search that LAPACK may follow."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..objective.state import State
from ..problem.products import Products
from ..run.reason import Reason
from ..run.rules import Check, Rule
from .costs import fallback_products


@dataclass(frozen=True)
class MaxProducts(Rule):
    """Stop after this many products of the search; with `fallback`, also once LAPACK is expected to be faster."""

    products: float
    k: int
    fallback: bool

    def begin(self, products: Products) -> Check:
        """With A, or with its inverse; LAPACK is compared with the products of probes, too."""
        counts = products.counts
        limit = fallback_products(products.pencil, self.k) if self.fallback else math.inf

        def check(state: State) -> Reason | None:
            own, probes = (max(tally.A_products, tally.K_solves) for tally in (counts, counts.monitoring))
            return Reason.MAX_STEPS if own >= self.products or own + probes >= limit else None

        return check
