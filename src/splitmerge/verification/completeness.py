"""Is anything missing? Counts of eigenvalues where they are asked for or cheap, otherwise probes of the complement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import OutOfTime
from ..methods.direct import Direct
from ..methods.lobpcg.iteration import Lobpcg
from ..methods.setup import Setup
from ..methods.subspace import SubspaceIteration
from ..methods.survey import Survey
from ..objective.state import State
from ..problem.target import Target
from ..run.loop import Run
from ..run.reason import Reason
from ..sparse_direct import recount_seconds
from ..sparse_direct.cholesky import SparseFactor
from ..typing import Array
from .confirm import confirmed, pairs_of
from .inertia import count_between, counted_in_the_gap, counts_fit, resolution
from .residuals import Pairs
from .verdict import BY_LAPACK, COUNTED, RANDOM_START, UNFINISHED, Verdict

# Up to this n a sparse factorisation costs less than the solves of a probe.
COUNTED_SPARSE_N = 15_000
# Beyond it a probe is expected to take this many steps, each a solve and these seconds per unknown.
PROBE_STEPS, PROBE_SECONDS_PER_UNKNOWN = 40, 1.2e-7
# Counts that rounding leaves undecided are repeated further away from the pairs.
COUNT_ATTEMPTS = 3


class Verified(NamedTuple):
    """The pairs with recomputed residuals, why the iteration ended, and whether anything is missing."""

    pairs: Pairs
    reason: Reason
    verdict: Verdict


def verify(run: Run, setup: Setup, X: Array, *, certify: bool) -> Verified:
    """Run the iteration from the columns X until its pairs stand, and check that no wanted pair is missing."""
    verification = _Verification(run, setup, certify)
    try:
        verification.carry_out(X)
    except KeyboardInterrupt:
        # a second Ctrl-C ends it
        verification.cut_short(Reason.INTERRUPTED)
    except OutOfTime:
        verification.cut_short(Reason.MAX_SECONDS)
    return verification.result()


@dataclass
class _Verification:
    """The pairs so far, why their run ended, and whether a count of eigenvalues agrees with them."""

    run: Run
    setup: Setup
    certify: bool
    pairs: Pairs | None = None
    reason: Reason = Reason.EXHAUSTED
    counted: bool | None = None

    def carry_out(self, X: Array) -> None:
        """Run, confirm, count or probe; again while a probe finds a further pair."""
        iteration = self.run.iteration
        self._confirm(lambda: iteration.start(X))
        while self.reason.converged and isinstance(iteration, SubspaceIteration):
            assert self.pairs is not None
            self.counted = _complete(iteration, self.setup, self.pairs, certify=self.certify)
            # a run from a random vector is itself a probe, and enough for a single pair
            probing = self.setup.k > 1 or self.setup.given
            if self.counted or (self.counted is None and not probing):
                return
            if not iteration.probe(repeated=self.counted is False):
                # where no count was asked for, one that rounding may have falsified does not decide
                self.reason = Reason.MISSED if self.counted is False and self.certify else self.reason
                return
            self.pairs = None
            self._confirm(iteration.resumed)

    def _confirm(self, first: Callable[[], State | Reason]) -> None:
        self.reason, self.pairs = confirmed(self.run, self.setup, self.run.until_end(first))
        if self.reason is not Reason.INTERRUPTED:
            self.pairs.spare = self.run.iteration.spare(converged=self.reason.converged)

    def cut_short(self, reason: Reason) -> None:
        """After an exception: the pairs as they are."""
        self.reason = self.run.iteration.interrupted(reason)
        self.pairs = pairs_of(self.run, self.setup) if self.pairs is None else self.pairs

    def result(self) -> Verified:
        """The pairs with their verdict."""
        assert self.pairs is not None
        verdict = _verdict(self.run, self.setup, self.reason, self.pairs, self.counted, asked=self.certify)
        return Verified(self.pairs, self.reason, verdict)


def _complete(iteration: SubspaceIteration, setup: Setup, pairs: Pairs, *, certify: bool) -> bool | None:
    """Does a count of the eigenvalues agree with the pairs? Made when asked for, or if cheaper than a probe."""
    products = iteration.products
    if not certify and not _count_is_cheap(iteration, setup):
        return None
    if products.pencil.dense and setup.target is Target.LARGEST and iteration.values.size > setup.k:
        fits = counted_in_the_gap(products, pairs, float(iteration.values[setup.k]))
        if fits:
            return True
    return _counted(setup, pairs)


def _count_is_cheap(iteration: SubspaceIteration, setup: Setup) -> bool:
    """Does a count cost less than a probe? A single pair needs neither."""
    if setup.k == 1 or isinstance(iteration, Lobpcg) or setup.shift_invert is not None:
        return False
    products, prediction = setup.products, setup.prediction
    dense, solver = products.pencil.dense, products.solver
    if dense or not isinstance(solver, SparseFactor) or products.A.kind != "sparse":
        return dense
    if not solver.serves(products.A.matrix):
        return False
    if prediction is None:
        return products.n <= COUNTED_SPARSE_N
    probe = PROBE_STEPS * (prediction.solve_seconds + PROBE_SECONDS_PER_UNKNOWN * products.n)
    return recount_seconds(products.n, prediction.flops) < probe


def _counted(setup: Setup, pairs: Pairs) -> bool | None:
    """Do the counts agree, as close to the last pair as rounding and the errors of the pairs allow?"""
    products, values, deltas = setup.products, pairs.values, pairs.deltas
    # a closer eigenvalue cannot be told apart
    margin = max(
        resolution(products, pairs, float(np.abs(values[-1]))),
        float(np.finfo(products.dtype).tiny) ** 0.5,
    )
    for _ in range(COUNT_ATTEMPTS):
        if setup.shift_invert is not None:
            sigma = setup.shift_invert.sigma - setup.target.centre
            distances = np.abs(values - sigma)
            reach = -_clear(-float(distances.max()), -distances, deltas, margin)
            inside = int((distances < reach).sum())
            count = count_between(products, sigma - reach, sigma + reach) if reach > 0 else 0
            fits = None if count is None else count == inside
        else:
            low, high = setup.target.window(values)
            fits = counts_fit(
                products, pairs, -_clear(-low, -values, deltas, margin), _clear(high, values, deltas, margin)
            )
        if fits is not None:
            return fits
        margin *= 2
    return None


def _clear(tau: float, values: Array, deltas: Array, margin: float) -> float:
    """The first τ from `tau` upwards that is in none of the error intervals of the pairs."""
    edges = np.maximum(deltas, 0.0) + margin
    for lower, upper in sorted(zip((values - edges).tolist(), (values + edges).tolist(), strict=True)):
        if lower <= tau <= upper:
            tau = upper + margin
    return tau


def _verdict(run: Run, setup: Setup, reason: Reason, pairs: Pairs, counted: bool | None, *, asked: bool) -> Verdict:
    if setup.survey is not None:
        return _surveyed(setup.survey, pairs.values.size, reason)
    if isinstance(run.iteration, Direct):
        return BY_LAPACK
    if not reason.converged:
        return UNFINISHED
    if counted:
        return COUNTED
    why, probes = RANDOM_START.why, run.iteration.probes
    if probes:
        plural = "s" * (probes != 1)
        why = f"{probes} random-start probe{plural} of the B-orthogonal complement found no further eigenvalue"
    if counted is False:
        why += ", but an inertia count, which rounding may have falsified, does not agree"
    elif asked:
        why += "; the inertia count that was asked for could not be made, for rounding or for memory"
    return Verdict("probed", why)


def _surveyed(survey: Survey, count: int, reason: Reason) -> Verdict:
    """The verdict for pairs found by deflation, which are compared with a Lanczos survey only."""
    if reason is Reason.MISSED:
        return Verdict("unchecked", "a Lanczos survey shows that a pair was missed")
    checked = min(count, survey.bounds.size)
    return Verdict(
        "unchecked",
        f"completeness was not proved; the first {checked} pairs are consistent with the lower bounds of a Lanczos "
        f"survey of {survey.bounds.size} steps",
    )
