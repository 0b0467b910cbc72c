"""k pairs at once from one search, judged in (A, B), and the search for what it may have missed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .accelerated import Search
from .driver import Driver
from .kernels import Array
from .pairs import Pairs, judge
from .stopping import Reason, Rule, visible

MAX_TIGHTENINGS = 5
MAX_PROBES = 50


@dataclass
class Pursuit:
    """Runs the driver over one search until all k pairs stand.

    `complete(pairs)` says whether the pairs are proved to be all there is (True), proved not to be (False), or neither.
    """

    driver: Driver
    search: Search
    rule: Rule
    complete: Callable[[Pairs], bool | None]
    probing: bool
    probes: int = 0
    certified: bool = False
    reason: Reason = Reason.EXHAUSTED

    def run(self, X: Array) -> tuple[Reason, Pairs]:
        """The pairs, and why the search ended."""
        start: Array | None = X
        try:
            while True:
                reason = self._converge(start)
                start = None
                reason, pairs = self._judged(reason)
                if not reason.converged:
                    return reason, pairs
                self.reason = reason
                verdict = self.complete(pairs)
                self.certified = verdict is True
                if self.certified or (verdict is None and not self.probing):
                    return reason, pairs
                if not self._probe(must=verdict is False):
                    return (Reason.MISSED if verdict is False else reason), pairs
        except KeyboardInterrupt:
            if self.search.values.size == 0:
                raise
            # what was found is worth its residuals; a second Ctrl-C ends it
            return Reason.INTERRUPTED, self._pairs()

    def _converge(self, start: Array | None) -> Reason:
        """Iterate until each of the k most wanted Ritz pairs passes the check."""
        search, driver = self.search, self.driver
        while True:
            first = search.index = 0
            for index in range(search.k):
                search.index = index
                state, reason = driver.iterate(start, index)
                start = None
                if not reason.converged:
                    return reason
                if state.step:
                    first = index
            # a value that came late may have pushed others down
            if first == 0 or all(self._passes(index) for index in range(first)):
                return reason

    def _passes(self, index: int) -> bool:
        reason = self.driver.check(self.search.pair(index))
        return reason is not None and reason.converged

    def _judged(self, reason: Reason) -> tuple[Reason, Pairs]:
        """Recompute the residuals; where they miss the tolerance, go on with a tighter one.

        The search measures residuals in the norm in which its basis is orthonormal, the user in the Euclidean one.
        """
        tol, pencil = self.rule.residual_tol, self.driver.pencil
        tightening = 1.0
        for _ in range(MAX_TIGHTENINGS):
            pairs = self._pairs()
            if tol is None or not reason.converged:
                return reason, pairs
            if (pairs.residuals <= tol).all():
                return Reason.RESIDUAL, pairs
            if (pairs.residuals <= np.maximum(max(tol, visible(pencil)), pairs.rounding)).all():
                return Reason.PRECISION, pairs
            tightening *= max(0.5 * tol / float(pairs.residuals.max()), 1e-3)
            self.driver.check = self.rule.tightened(tightening).begin(pencil)
            reason = self._converge(None)
        return Reason.UNCONFIRMED, self._pairs()

    def _pairs(self) -> Pairs:
        """The k most wanted Ritz pairs as they are now."""
        search = self.search
        count = min(search.k, search.values.size)
        domain, thetas = search.domain, search.values[:count]
        values = np.array([domain.value(theta) for theta in thetas.tolist()])
        sizes = None if domain.direct else np.maximum(np.abs(values), 1 / np.abs(thetas))
        deltas = None if domain.direct else search.errors[:count] / thetas**2
        pairs = judge(self.driver.pencil, values, search.vectors(count), sizes, deltas)
        if search.values.size > count and domain.direct:
            pairs.beyond = float(search.values[count] + search.errors[count])
        return pairs

    def _probe(self, *, must: bool) -> bool:
        """Look into the complement; products are booked as monitoring. Was anything found?"""
        search, pencil = self.search, self.driver.pencil
        size = float(np.abs(search.values[: search.k]).max(initial=0.0))
        slack = float(np.max(search.errors[: search.k], initial=0.0)) + 1e3 * pencil.eps * size
        for _ in range(3 if must else 1):
            with pencil.counting(pencil.counts.monitoring):
                found = search.probe(slack)
            self.probes += found is not None
            if found:
                return self.probes < MAX_PROBES
        return False
