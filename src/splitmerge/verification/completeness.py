"""Is anything missing? Counts of eigenvalues where they are asked for or cheap, otherwise probes of the complement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np

from ..errors import NotFactorised, OutOfTime
from ..methods.direct import Direct
from ..methods.krylov.thick_restart import ThickRestart
from ..methods.setup import COUNTED_N, Setup
from ..methods.subspace import SubspaceIteration
from ..objective.state import State
from ..run.loop import Run
from ..run.reason import Reason
from ..transforms import standard
from ..typing import Array
from .bounds import Bounds, bounds_of
from .confirm import confirmed, narrowed, pairs_of
from .counts import counted
from .residuals import Pairs
from .verdict import (
    BLURRED,
    COUNTED,
    CUT,
    EARLY,
    INEXACT,
    RANDOM_START,
    TWO_STARTS,
    UNDECIDED,
    UNFINISHED,
    Verdict,
    by_lapack,
    probed,
    surveyed,
)

# Rounds to a tighter tolerance, and by how much, where error intervals are too wide for a count to fit.
NARROWINGS, NARROWING = 4, 1e-2
# LOBPCG has passed other eigenvectors where residuals are as small as this.
SETTLED_TOL = 1e-8
# Residuals larger than this leave room for eigenvalues that the search has not seen.
LOOSE_TOL = 1e-6
# Rounding of the largest of the values may be this power of eps beside the last one, before a probe no longer sees
# enough.
BLURRED_EXPONENT = 0.5
# Projections after which a search that has seen a larger eigenvalue shows by how much it is larger.
OUTDOING_STEPS = 10
# Intervals wider than this multiple of their rounding can be narrowed.
NARROW_NOISE = 10


class Verified(NamedTuple):
    """The pairs with recomputed residuals, why the iteration ended, and whether anything is missing."""

    pairs: Pairs
    reason: Reason
    verdict: Verdict

    def bounds(self, n: int) -> Bounds:
        """Error bounds of the pairs of an n×n pair; no gap is known where nothing was checked.

        Nor is one behind a cluster that k cuts, of which there are others.
        """
        bounds = bounds_of(self.pairs, n, complete=self.verdict != "unchecked")
        if self.verdict is not CUT or self.pairs.gaps is None:
            return bounds
        cut = bounds.clusters == bounds.clusters[-1]
        return bounds_of(replace(self.pairs, gaps=np.where(cut, 0.0, self.pairs.gaps)), n)


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
    counted: bool | Literal["cut"] | None = None
    # did the search end next to an eigenvalue that need not be a wanted one?
    early: bool = False
    # did the last probe end without a decision?
    undecided: bool = False
    # may rounding of the largest wanted value hide others?
    blurred: bool = False
    # why A − τB cannot be factorised, for any τ
    refusal: str = ""

    def carry_out(self, X: Array) -> None:
        """Run, confirm, count or probe; again while a probe finds a further pair."""
        iteration, rounds = self.run.iteration, 0
        self._confirm(lambda: iteration.start(X))
        self.early = self._may_be_early() and not self._run_on(SETTLED_TOL / self.tol)
        self._hold_to_krylov()
        self._hold_to_factor()
        while self.reason.converged and isinstance(iteration, SubspaceIteration):
            assert self.pairs is not None
            self.blurred = self._blurred(iteration)
            self.counted = self._complete(iteration)
            if self.counted or (self.counted is None and not self._in_doubt(iteration)):
                return
            if rounds < NARROWINGS and self._wide():
                rounds = rounds + 1 if self._narrow(NARROWING ** (rounds + 1)) else NARROWINGS
                continue
            if not self._found_by_a_probe(iteration):
                return
            self.pairs = None
            self._confirm(iteration.resumed)

    def _found_by_a_probe(self, iteration: SubspaceIteration) -> bool:
        """Was a pair found that is missing? Where a probe does not decide it, a count does if it is affordable."""
        before = iteration.probes
        if iteration.probe(repeated=self.counted is False):
            return True
        self.undecided = iteration.probes == before
        if self.undecided and self.counted is None and self._is_countable():
            self.counted = self._count(iteration)
        self.reason = Reason.MISSED if self.counted is False else self.reason
        return False

    def _hold_to_factor(self) -> None:
        """Is a refined pair, with its error interval, where a factorisation has shown that there is one only?"""
        factor, pairs = self.setup.deflated, self.pairs
        if factor is None or pairs is None or not self.reason.converged:
            return
        self.counted = bool((pairs.values - pairs.deltas > factor.bound).all())
        if not self.counted:
            self.reason = Reason.UNCONFIRMED

    def _hold_to_krylov(self) -> None:
        """Compare what deflation finds from a given start, or for several pairs, with a Krylov search.

        At a loose tolerance it may stop next to another eigenvector, so it runs on where that sees more.
        """
        if self.setup.survey is None or not (self.setup.given or self.setup.k > 1):
            return
        for factor in (NARROWING, NARROWING**2, 0.0):
            if not self._outdone():
                return
            if not (factor * self.tol > SETTLED_TOL and self._run_on(factor)):
                break
        self.reason = Reason.MISSED

    def _outdone(self) -> bool:
        """Does a Krylov search see a larger eigenvalue than a method for one pair, which may miss it?

        In an invariant subspace, or close to a saddle, a method converges before a perturbation of its result grows;
        so it does where the remaining eigenvalues are close to each other relative to those that were deflated.
        """
        setup, pairs = self.setup, self.pairs
        assert pairs is not None
        held = self.reason in (Reason.RESIDUAL, Reason.PRECISION)
        if not held or pairs.values.size < setup.k or not np.isfinite(pairs.deltas).all():
            return False
        products, k = setup.products.monitoring, setup.k
        transform = standard(products)
        search = ThickRestart(Setup(products, setup.target, k, setup.rng, transform=transform, given=True, width=k))
        search.launch(pairs.vectors.astype(products.dtype))
        allowed = pairs.values + pairs.deltas + self.tol * np.abs(pairs.values)
        if not search.probe(repeated=False):
            return False
        # Ritz values are lower bounds, the better the longer the search goes on
        further = (bool((search.values[:k] > allowed).any()) for _ in islice(search.unrecorded(), OUTDOING_STEPS))
        return any(further)

    def _in_doubt(self, iteration: SubspaceIteration) -> bool:
        """Is a probe needed? A run from a random vector is itself one for a single pair.

        So is one from two of them, for several pairs: it shows two copies of a multiple eigenvalue. Where it does,
        there may be more.
        """
        if self.setup.given or iteration.hurried:
            return True
        return self.setup.k > 1 and (not iteration.companions or iteration.crowded())

    def _wide(self) -> bool:
        """Does a count disagree that a tighter tolerance may agree with, because it narrows the error intervals?"""
        assert self.pairs is not None
        return (
            self.counted is False and self.tol > 0 and bool((self.pairs.deltas > NARROW_NOISE * self.pairs.noise).any())
        )

    def _may_be_early(self) -> bool:
        """LOBPCG from random vectors passes near other eigenvectors, where residuals are small for many steps."""
        lobpcg = self.setup.method is not None and self.setup.method.preconditioned
        return lobpcg and self.reason.converged and self.tol > SETTLED_TOL and not self.setup.counts

    def _narrow(self, factor: float) -> bool:
        """Run on to `factor` times the tolerance. Are error intervals narrower then, or was it reached before?"""
        assert self.pairs is not None
        counts = self.setup.products.counts
        before, made = self.pairs.deltas.max(), counts.products
        self._run_on(factor)
        return bool(self.pairs.deltas.max() < 0.5 * before) or counts.products == made

    def _run_on(self, factor: float) -> bool:
        """Run on to `factor` times the tolerance; pairs that stagnate above it stay as they are. Was it reached?"""
        assert self.pairs is not None
        reason, pairs = narrowed(self.run, self.setup, self.pairs, self.tol, factor)
        if reason.converged or reason in (Reason.INTERRUPTED, Reason.MAX_SECONDS):
            self.reason, self.pairs = reason, pairs
        return reason.converged

    @property
    def tol(self) -> float:
        """The tolerance of the rule for residuals; 0 if it has none."""
        return self.run.rule.residual_tol or 0.0

    def _complete(self, iteration: SubspaceIteration) -> bool | Literal["cut"] | None:
        """Does a count of the eigenvalues agree with the pairs? Made when asked for, or if cheaper than a probe."""
        setup = self.setup
        if self.refusal or not (setup.counts or self._suspicious(iteration)):
            return None
        return self._count(iteration)

    def _is_countable(self) -> bool:
        """Is a count, which is neither asked for nor cheaper than a probe, affordable where that has not decided?"""
        pencil = self.setup.products.pencil
        return pencil.has_entries and not self.refusal and (pencil.dense or pencil.n <= COUNTED_N)

    def _count(self, iteration: SubspaceIteration) -> bool | Literal["cut"] | None:
        assert self.pairs is not None
        setup, k = self.setup, self.setup.k
        following = None
        if iteration.values.size > k:
            following = setup.products.pencil.original_value(iteration.transform.value(float(iteration.values[k])))
        try:
            return counted(setup, self.pairs, following)
        except (MemoryError, NotFactorised) as error:
            # without the advice, which is for a solve that needs the factors
            self.refusal = str(error).partition(";")[0] or "the memory does not suffice"
            return None

    def _suspicious(self, iteration: SubspaceIteration) -> bool:
        """Is a count worth its time after a search from two random vectors?

        They show no third copy of an eigenvalue, and at a loose tolerance not each that has hardly begun to converge.
        """
        pencil, small = self.setup.products.pencil, self.setup.products.n <= COUNTED_N
        if self.blurred:
            return self._is_countable()
        if not iteration.companions:
            return False
        if pencil.dense and self.tol > LOOSE_TOL:
            return True
        return small and pencil.has_entries and iteration.crowded()

    def _blurred(self, iteration: SubspaceIteration) -> bool:
        """May rounding of the largest wanted value hide others that are more wanted than the last one?"""
        sizes = np.abs(iteration.values[: self.setup.k])
        last = float(sizes[-1]) if sizes.size else 0.0
        eps = iteration.products.eps
        rounding = eps * float(sizes.max(initial=0.0))
        # a value below rounding is a zero, but one of an inverse belongs to an eigenvalue of which nothing is known
        return eps**BLURRED_EXPONENT * last < rounding and (rounding < last or self.setup.inverse is not None)

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
        if self.reason.converged and self.pairs.values.size != self.setup.k:
            self.reason = Reason.EXHAUSTED
        verdict = _verdict(self.run, self.setup, self.reason, self.pairs, self.counted)
        searched = verdict == "probed"
        if searched and (self.early or self.undecided or self.blurred):
            verdict = EARLY if self.early else UNDECIDED if self.undecided else BLURRED
        if searched and self.certify:
            verdict = Verdict(verdict, f"{verdict.why}; the inertia count that was asked for {self._uncounted()}")
        return Verified(self.pairs, self.reason, verdict)

    def _uncounted(self) -> str:
        """Why there is no count."""
        return f"was not made: {self.refusal}" if self.refusal else "could not be made for rounding"


def _verdict(run: Run, setup: Setup, reason: Reason, pairs: Pairs, counted: bool | Literal["cut"] | None) -> Verdict:
    if setup.survey is not None:
        return surveyed(setup.survey, pairs.values.size, reason)
    if isinstance(run.iteration, Direct):
        return by_lapack(setup.products.pencil, pairs.values)
    if not reason.converged:
        return UNFINISHED
    if counted:
        return CUT if counted == "cut" else COUNTED
    if _is_inexact(setup, pairs):
        return INEXACT
    why, probes = RANDOM_START.why, run.iteration.probes
    if not probes and isinstance(run.iteration, SubspaceIteration) and run.iteration.companions:
        why = TWO_STARTS.why
    if probes:
        why = probed(probes)
    return Verdict("probed", why)


def _is_inexact(setup: Setup, pairs: Pairs) -> bool:
    """Is there an inner solver of the user's that leaves pairs without error bounds?"""
    own = setup.method is not None and setup.method.inner is not None
    return own and not np.isfinite(pairs.deltas).all()
