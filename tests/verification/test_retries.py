"""The retry of verification with scripted runs: what is asked of further runs, when they end, and what is returned."""

from types import SimpleNamespace

import numpy as np
import pytest

import splitmerge as sm
from splitmerge.run.iteration import Retry
from splitmerge.run.reason import Reason
from splitmerge.verification import confirm
from splitmerge.verification.completeness import BLURRED_EXPONENT, Verified, _Verification
from splitmerge.verification.confirm import HOPELESS_EXCESS, MAX_TIGHTENING, confirmed, narrowed
from splitmerge.verification.residuals import COLUMNS, Pairs
from splitmerge.verification.verdict import COUNTED, CUT

TOL, EPS = 1e-8, 2.0**-52


def pairs_with(norms, *, sizes=1.0, floor=1e-14, **columns):
    """Pairs with these residual norms, of values 1, 2, …"""
    norms = np.atleast_1d(norms)
    k = norms.shape[-1]
    fields = {name: np.zeros(k) for name in COLUMNS}
    fields |= {"values": np.arange(k, 0, -1.0), "vectors": np.eye(9)[:, :k]}
    fields |= {"norms": norms[None], "sizes": np.full((1, k), sizes), "floors": np.full((1, k), floor)}
    return Pairs(**fields | columns)


class Scripted:
    """A run whose pairs have these residuals one after the other, and that makes `work` products each time."""

    def __init__(self, residuals, *, retry=Retry(), tol=TOL, work=(1, 0), last=False, ended=Reason.RESIDUAL):  # noqa: B008
        self.residuals, self.work, self.ended = list(residuals), work, ended
        self.factors, self.asked, self.stalls, self.sharpened = [], [], [], 0
        self.counts = SimpleNamespace(products=10, B_products=0)
        self.iteration = SimpleNamespace(
            retry=retry, tightened=self.tightened, products=SimpleNamespace(counts=self.counts)
        )
        self.rule, self.tighten = SimpleNamespace(residual_tol=tol), self.factors.append
        self.setup = SimpleNamespace(inverse=None, last=last, products=SimpleNamespace(n=9))

    def tightened(self, tol, pairs, *, stalled):
        self.asked.append(tol)
        self.stalls.append(stalled)
        return self.ended

    def until_end(self, begin):
        self.counts.products += self.work[0]
        self.counts.B_products += self.work[1]
        return begin()

    def pairs(self, *_):
        residual = self.residuals.pop(0) if len(self.residuals) > 1 else self.residuals[0]
        return pairs_with(residual)

    def improved(self, setup, pairs, tol, **_):
        self.sharpened += 1
        return pairs_with(TOL / 2)

    def confirm(self, monkeypatch, reason=Reason.RESIDUAL):
        monkeypatch.setattr(confirm, "pairs_of", self.pairs)
        monkeypatch.setattr(confirm, "sharpened", self.improved)
        return confirmed(self, self.setup, reason)


class TestRetries:
    def test_none_where_the_tolerance_is_met(self, monkeypatch):
        run = Scripted([TOL])
        assert run.confirm(monkeypatch)[0] is Reason.RESIDUAL
        assert run.asked == []

    def test_each_asks_for_as_much_less_as_was_missed(self, monkeypatch):
        """The half of the excess, and no more than a thousandth at once; what is asked for accumulates."""
        run = Scripted([4 * TOL, 2 * TOL, TOL / 2])
        reason, pairs = run.confirm(monkeypatch)
        assert reason is Reason.RESIDUAL
        assert pairs.norms.max() == TOL / 2
        np.testing.assert_allclose(run.factors, [1 / 8, 1 / 32])
        np.testing.assert_allclose(run.asked, [TOL / 8, TOL / 32])
        run = Scripted([1e9 * TOL, TOL / 2])
        run.confirm(monkeypatch)
        np.testing.assert_allclose(run.factors, [MAX_TIGHTENING])

    def test_the_worst_pair_counts(self, monkeypatch):
        run = Scripted([np.array([TOL / 9, 4 * TOL, TOL]), TOL / 2])
        run.confirm(monkeypatch)
        np.testing.assert_allclose(run.factors, [1 / 8])

    def test_a_run_that_does_not_halve_the_excess_has_stalled(self, monkeypatch):
        run = Scripted([8 * TOL, 4.1 * TOL, 2 * TOL, TOL])
        run.confirm(monkeypatch)
        assert run.stalls == [False, True, False]

    @pytest.mark.parametrize("attempts", [0, 1, 5])
    def test_as_many_as_the_iteration_allows(self, monkeypatch, attempts):
        run = Scripted([9 * TOL], retry=Retry(attempts=attempts))
        assert run.confirm(monkeypatch)[0] is Reason.UNCONFIRMED
        assert len(run.asked) == attempts

    @pytest.mark.parametrize("work", [(250, 0), (0, 250), (125, 125)], ids=str)
    def test_no_more_than_are_worth_their_products(self, monkeypatch, work):
        """Twice those of the first run and ten per unknown; products of conjugate gradients with B count."""
        run = Scripted([9 * TOL], work=work)
        run.confirm(monkeypatch)
        assert len(run.asked) == 1
        run = Scripted([9 * TOL], work=(10, 0))
        run.confirm(monkeypatch)
        assert len(run.asked) == 5

    def test_hopeless_residuals_are_not_sought_further(self, monkeypatch):
        for excess, count in ((2 * HOPELESS_EXCESS, 2), (HOPELESS_EXCESS / 2, 5), (np.inf, 0), (np.nan, 0)):
            run = Scripted([excess * TOL])
            assert run.confirm(monkeypatch)[0] is Reason.UNCONFIRMED
            assert len(run.asked) == count

    def test_slack_widens_what_rounding_excuses(self, monkeypatch):
        """For pairs of a decomposition."""
        for slack, reason in ((1.0, Reason.UNCONFIRMED), (10.0, Reason.PRECISION)):
            run = Scripted([2 * TOL], retry=Retry(attempts=0, slack=slack))
            monkeypatch.setattr(run, "pairs", lambda *_: pairs_with(2 * TOL, floor=0.3 * TOL))
            assert run.confirm(monkeypatch)[0] is reason

    def test_only_the_last_candidate_is_sharpened(self, monkeypatch):
        for last, reason in ((False, Reason.UNCONFIRMED), (True, Reason.RESIDUAL)):
            run = Scripted([9 * TOL], retry=Retry(attempts=1), last=last)
            assert run.confirm(monkeypatch)[0] is reason
            assert run.sharpened == last

    @pytest.mark.parametrize("reason", [Reason.ANGLE, Reason.MAX_STEPS, Reason.INTERRUPTED, Reason.MAX_SECONDS])
    def test_other_ends_stand(self, monkeypatch, reason):
        """An angle is no residual, and what was cut short is not continued."""
        run = Scripted([9 * TOL])
        assert run.confirm(monkeypatch, reason)[0] is reason
        assert run.asked == []
        run = Scripted([9 * TOL, TOL], ended=reason)
        assert run.confirm(monkeypatch)[0] is reason

    def test_a_rule_without_residuals_stands(self, monkeypatch):
        run = Scripted([9 * TOL], tol=None)
        assert run.confirm(monkeypatch)[0] is Reason.RESIDUAL
        assert run.asked == []

    @pytest.mark.parametrize("factor", [0.1, 0.01])
    def test_narrowing_asks_for_a_fraction(self, monkeypatch, factor):
        run = Scripted([TOL * factor])
        monkeypatch.setattr(confirm, "pairs_of", run.pairs)
        reason, pairs = narrowed(run, run.setup, pairs_with(TOL), TOL, factor)
        assert reason is Reason.RESIDUAL
        assert (run.factors, run.asked, run.stalls) == ([factor], [TOL * factor], [False])
        assert pairs.norms.max() == TOL * factor


def verification_of(pairs, *, k=None, reason=Reason.RESIDUAL, tol=TOL, **setup):
    """A verification that stands after its run."""
    setup = SimpleNamespace(**{"k": pairs.values.size if k is None else k, "survey": None, "inverse": None, **setup})
    made = _Verification(SimpleNamespace(rule=SimpleNamespace(residual_tol=tol)), setup, False)
    made.pairs, made.reason = pairs, reason
    return made


class TestVerdict:
    @pytest.mark.parametrize(("k", "reason"), [(2, Reason.RESIDUAL), (3, Reason.EXHAUSTED)])
    def test_fewer_pairs_than_asked_for_have_not_converged(self, k, reason):
        made = verification_of(pairs_with([TOL, TOL]), k=k, method=None)
        made.run.iteration = SimpleNamespace(probes=0)
        found = made.result()
        assert found.reason is reason
        assert (found.verdict == "probed") == (k == 2)

    @pytest.mark.parametrize("inner", [None, sm.ConjugateGradient(3)])
    @pytest.mark.parametrize("delta", [1e-9, np.inf])
    def test_an_inexact_solver_of_the_users_leaves_the_pairs_unchecked(self, inner, delta):
        """Only where no error bound could be computed."""
        pairs = pairs_with(TOL, deltas=np.array([delta]))
        made = verification_of(pairs, method=SimpleNamespace(inner=inner))
        made.run.iteration = SimpleNamespace(probes=0)
        inexact = inner is not None and np.isinf(delta)
        assert made.result().verdict == ("unchecked" if inexact else "probed")


class TestRefinedStart:
    """A factorisation has shown that one eigenvalue only is above a bound: the pair and its interval must be there."""

    @pytest.mark.parametrize(("delta", "stands"), [(0.05, True), (0.2, False)])
    def test_the_whole_interval_counts(self, delta, stands):
        pairs = pairs_with(TOL, deltas=np.array([delta]))
        made = verification_of(pairs, deflated=SimpleNamespace(bound=0.9))
        made._hold_to_factor()
        assert made.counted is stands
        assert made.reason is (Reason.RESIDUAL if stands else Reason.UNCONFIRMED)

    def test_nothing_is_said_without_a_factor_or_of_an_unfinished_run(self):
        for factor, reason in ((None, Reason.RESIDUAL), (SimpleNamespace(bound=0.9), Reason.MAX_STEPS)):
            made = verification_of(pairs_with(TOL), deflated=factor, reason=reason)
            made._hold_to_factor()
            assert made.counted is None
            assert made.reason is reason


class TestBlurred:
    """Rounding of the largest wanted value hides others next to the last one, but only where that is larger still."""

    @pytest.mark.parametrize(
        ("sizes", "blurred"),
        [
            ([1.0, 0.5], False),
            ([1.0, 2 * EPS ** (1 - BLURRED_EXPONENT)], False),
            ([1.0, EPS ** (1 - BLURRED_EXPONENT) / 2], True),
            ([-1.0, 2 * EPS], True),
            # a value of the size of rounding is a zero, known to that rounding
            ([1.0, EPS / 2], False),
            ([0.0, 0.0], False),
            ([], False),
        ],
        ids=str,
    )
    def test_by_sizes(self, sizes, blurred):
        iteration = SimpleNamespace(values=np.array([*sizes, 1e-300]), products=SimpleNamespace(eps=EPS))
        made = verification_of(pairs_with(np.zeros(len(sizes))))
        assert made._blurred(iteration) is blurred

    def test_of_an_inverse(self):
        """1/(λ − σ) below rounding belongs to an eigenvalue of which nothing is known."""
        for sizes, blurred in (([1.0, 0.5], False), ([1.0, EPS / 2], True), ([1.0, 0.0], True), ([0.0], False)):
            iteration = SimpleNamespace(values=np.array(sizes), products=SimpleNamespace(eps=EPS))
            made = verification_of(pairs_with(np.zeros(len(sizes))), inverse=SimpleNamespace(sigma=0.0))
            assert made._blurred(iteration) is blurred


class TestBounds:
    """Pairs of a cluster that k cuts have no gap: there are others of it."""

    def pairs(self, values, gaps):
        values = np.array(values)
        k = values.size
        columns = {"values": values, "errors": np.full(k, 1e-6), "noise": np.full(k, 1e-15)}
        return pairs_with(np.full(k, 1e-6), gaps=np.array(gaps), deltas=np.full(k, 1e-6), **columns)

    @pytest.mark.parametrize("values", [[5.0, 3.0, 3.0 - 1e-7], [3.0, 5.0, 5.0 + 1e-7]], ids=str)
    def test_of_the_cluster_that_is_cut(self, values):
        """Whether it is at the top or at the bottom; the others keep theirs."""
        pairs = self.pairs(values, [2.0, 1.0, 1.0])
        whole = Verified(pairs, Reason.RESIDUAL, COUNTED).bounds(9)
        cut = Verified(pairs, Reason.RESIDUAL, CUT).bounds(9)
        assert (whole.angles < 1).all()
        assert cut.angles[0] == whole.angles[0] < 1
        assert cut.values[0] == whole.values[0] < 1e-10
        assert cut.angles[1:].tolist() == [1.0, 1.0]
        assert (cut.values[1:] >= 1e-6).all()

    def test_vectors_that_rounding_has_mixed_have_no_squared_bound(self):
        """Those of a decomposition in a cluster, unless they come from a projection."""
        pairs = self.pairs([5.0, 3.0, 3.0 - 1e-7], [2.0, 1.0, 1.0])
        for projected in (True, False):
            pairs.projected = projected
            bounds = Verified(pairs, Reason.RESIDUAL, COUNTED).bounds(9)
            assert bounds.values[0] < 1e-10
            assert ((bounds.values[1:] < 1e-10) == projected).all()
