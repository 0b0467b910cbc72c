"""k pairs at once from one search, judged in (A, B), and the search for what it may have missed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import OutOfTime
from ..linalg.ldl import DenseShifted
from ..methods.krylov.search import Search
from ..methods.lobpcg.search import LocalSearch
from ..problem.target import Wanted
from ..run.loop import Driver
from ..run.reason import Reason
from ..run.rules import Rule, visible
from ..sparse_direct.ldl import SparseShifted
from ..transforms.shift_invert import Inverted
from ..transforms.standard import Domain
from ..typing import Array
from .residuals import Pairs, inverse_norms, judge, refine

MAX_TIGHTENINGS = 5
MAX_PROBES = 50
# A part of the residual of a start that is no larger than this, in tolerances, is left as it is.
NEGLIGIBLE = 0.1


def _order(domain: Domain, wanted: Wanted) -> Callable[[Array], Array]:
    """The order of the pencil's values that belongs to the order of those of T."""
    if not isinstance(domain, Inverted):
        return wanted.order

    def order(values: Array) -> Array:
        distances = values - domain.sigma
        thetas = domain.sign / np.where(distances == 0, np.finfo(float).tiny, distances)
        rising = np.argsort(thetas, kind="stable")
        return np.asarray(rising[wanted.order(thetas[rising])])

    return order


@dataclass
class Pursuit:
    """Runs the driver over one search until all k pairs stand.

    `complete(pairs)` says whether the pairs are proved to be all there is (True), proved not to be (False), or neither.
    """

    driver: Driver
    search: Search | LocalSearch
    rule: Rule
    complete: Callable[[Pairs], bool | None]
    probing: bool
    probes: int = 0
    counted: bool | None = None
    reason: Reason = Reason.EXHAUSTED

    def run(self, X: Array) -> tuple[Reason, Pairs]:
        """The pairs, and why the search ended."""
        start: Array | None = X
        self.search.aim(self.rule.residual_tol, self.rule.angle_tol)
        self._neglect(self.rule.residual_tol or 0.0)
        pairs: Pairs | None = None
        try:
            while True:
                reason = self.converge(start)
                start = None
                reason, pairs = self._judged(reason)
                pairs.spare = self.search.spare(converged=reason.converged)
                if not reason.converged:
                    return reason, pairs
                self.reason = reason
                self.counted = self.complete(pairs)
                if self.counted or (self.counted is None and not self.probing):
                    return reason, pairs
                if not self._probe(must=self.counted is False):
                    return (Reason.MISSED if self.counted is False else reason), pairs
                pairs = None
        except KeyboardInterrupt:
            if not self.search.salvage():
                raise
            # what was found is worth its residuals; a second Ctrl-C ends it
            return Reason.INTERRUPTED, self._pairs() if pairs is None else pairs
        except OutOfTime:
            self.search.salvage()
            return Reason.MAX_SECONDS, self._pairs() if pairs is None else pairs

    def converge(self, start: Array | None) -> Reason:
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

        What the search measures rests on its recurrence, from which rounding may have parted its vectors.
        """
        tol, pencil = self.rule.residual_tol, self.driver.pencil
        tightening, last = 1.0, np.inf
        for attempt in range(MAX_TIGHTENINGS + 1):
            pairs = self._pairs()
            if tol is None or not reason.converged:
                return reason, pairs
            if (pairs.residuals <= tol).all():
                return Reason.RESIDUAL, pairs
            if (pairs.residuals <= np.maximum(max(tol, visible(pencil)), pairs.rounding)).all():
                return Reason.PRECISION, pairs
            worst = float(pairs.residuals.max())
            if attempt == MAX_TIGHTENINGS or not np.isfinite(worst):
                break
            tightening *= max(0.5 * tol / worst, 1e-3)
            self.driver.check = self.rule.tightened(tightening).begin(pencil)
            self.search.aim(tol * tightening, None)
            self._neglect(tightening * tol)
            # where that did not help, the basis does not know of all of the residuals: it begins anew
            reason = self.converge(self.search.renewal() if worst > 0.5 * last else None)
            last = worst
        stuck = (pairs.residuals <= 10 * np.maximum(visible(pencil), pairs.rounding)).all()
        return Reason.PRECISION if stuck else Reason.UNCONFIRMED, pairs

    def _neglect(self, tol: float) -> None:
        self.search.neglect(max(NEGLIGIBLE * tol, visible(self.driver.pencil) / 2))

    def _pairs(self) -> Pairs:
        """The k most wanted Ritz pairs as they are now."""
        search, pencil = self.search, self.driver.pencil
        count = min(search.k, search.values.size)
        domain, thetas = search.domain, search.values[:count]
        values = np.array([domain.value(theta) for theta in thetas.tolist()])
        sizes = None if domain.direct else np.maximum(np.abs(values), 1 / np.abs(thetas))
        deltas = None if domain.direct else search.errors[:count] / thetas**2
        X = search.vectors(count)
        inverted = domain if isinstance(domain, Inverted) else None
        # rounding parts an inverse from A and B, and a long recurrence, too; and after a probe nothing is known of what
        # couples new and old
        factorised = inverted is not None and isinstance(inverted.factor, (DenseShifted, SparseShifted))
        if factorised or pencil.inverse is not None or self.probes or isinstance(search, LocalSearch):
            before = values
            values, X = refine(pencil, values, X, _order(domain, search.wanted))
            deltas = None if deltas is None else deltas + np.abs(values - before)
        if inverted is not None and factorised:
            # what the search knows of its errors is of an inverse that rounding has parted from A and B
            deltas = inverse_norms(pencil, values, X, inverted)
        pairs = judge(pencil, values, X, sizes, deltas)
        pairs.gaps, pairs.sigma = search.gaps(count), None if inverted is None else inverted.sigma
        return pairs

    def _probe(self, *, must: bool) -> bool:
        """Look into the complement; products are booked as monitoring. Was anything found?"""
        search, pencil = self.search, self.driver.pencil
        size = float(np.abs(search.values[: search.k]).max(initial=0.0))
        slack = float(np.max(search.errors[: search.k], initial=0.0)) + 1e3 * pencil.eps * size
        shift, radius = pencil.shift, pencil.radius
        try:
            for _ in range(3 if must else 1):
                with pencil.counting(pencil.counts.monitoring):
                    found = search.probe(slack)
                self.probes += found is not None
                if found:
                    return self.probes < MAX_PROBES
        finally:
            # the residuals of the pairs were taken relative to these, whatever the probe saw since
            pencil.transform(shift=shift, found=pencil.found, B_found=pencil.B_found, radius=radius)
        return False
