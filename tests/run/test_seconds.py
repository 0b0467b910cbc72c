"""What is told of the time, on a clock that goes by one second with every product of A and no other way."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import splitmerge as sm
from checking import METHODS, figures_of, short
from pairs import EASY, HARD
from splitmerge.run.loop import Monitor, Run

# those that make products with A alone wherever they stand; two are made to check an operator, before all else
CHECKS = 2
MANY = [*METHODS, sm.LocallyOptimal()]


class Clock:
    """The seconds since the beginning, which only `pass_by` moves."""

    now = 0.0

    def __call__(self):
        return self.now

    def pass_by(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock


def slow(clock, A):
    """A as an operator each of whose products takes a second."""

    def product(x):
        clock.pass_by(1.0)
        return A @ x

    return LinearOperator(A.shape, matvec=product, dtype=A.dtype)


def solved(clock, pair, *arguments, **options):
    A, B = pair
    try:
        return sm.solve(slow(clock, A), B, *arguments, rng=0, **options)
    except sm.NotConverged as error:
        return error.solution


# of the smallest, the others compute the entries of the operator at once
ASKED = [(method, "largest") for method in MANY] + [(method, "smallest") for method in METHODS[1:]]


@pytest.mark.parametrize(
    ("method", "which"), ASKED, ids=lambda given: given if isinstance(given, str) else short(given)
)
class TestWhatTakesTheTime:
    def test_parts(self, clock, method, which):
        """The set-up, the search and the verification take as long as their products, and nothing else does."""
        sol = solved(clock, HARD, 2, method=method, which=which, tol=1e-3, max_steps=100)
        own, setup, monitoring = (c.A_products for c in (sol.counts, sol.counts.setup, sol.counts.monitoring))
        assert sol.seconds.setup == setup + CHECKS
        assert sol.seconds.iteration == own + monitoring
        assert sol.seconds.total == sol.seconds.setup + sol.seconds.iteration == clock.now
        # the search may look at a state by a product of its own
        assert own <= sol.seconds.search <= own + monitoring
        assert 0 <= sol.seconds.verification <= monitoring
        assert sol.seconds.search + sol.seconds.verification == sol.seconds.iteration

    def test_history(self, clock, method, which):
        """Seconds count from the end of the set-up, as products do."""
        sol = solved(clock, HARD, method=method, which=which, tol=1e-3, max_steps=100)
        rows = sol.history
        extra = (rows.seconds - rows.products)[:-1]
        assert extra.size > 0
        assert (extra >= 0).all()
        assert (extra <= sol.counts.monitoring.A_products).all()
        assert rows.seconds[-1] <= sol.seconds.iteration


@pytest.mark.parametrize("limit", [3.0, 9.0, 10.0])
@pytest.mark.parametrize("method", MANY, ids=short)
def test_a_limit_counts_from_the_end_of_the_set_up(clock, method, limit):
    """And ends the search at the first state after it; no step of these takes more than 16 products."""
    sol = solved(clock, HARD, method=method, stop=sm.Residual(1e-15) | sm.MaxSeconds(limit))
    assert sol.reason is sm.Reason.MAX_SECONDS
    assert limit <= sol.seconds.search < limit + 16
    if len(sol.history) > 1:
        assert sol.history.seconds[-2] < limit <= sol.history.seconds[-1]


def test_a_limit_is_not_used_up_by_a_long_set_up(clock):
    class Prepared(sm.Power):
        def setup(self, products, rng):
            clock.pass_by(1e6)
            return super().setup(products, rng)

    sol = solved(clock, EASY, method=Prepared(), tol=1e-4, stop=sm.Residual(1e-4) | sm.MaxSeconds(1e4))
    assert sol.reason is sm.Reason.RESIDUAL
    assert 1e6 < sol.seconds.setup < 1.001e6
    assert 0 <= sol.seconds.verification < sol.seconds.iteration < 1e4
    assert 0 < sol.seconds.search < 1e4
    assert sol.history.seconds[-1] < 1e4


@pytest.mark.parametrize("runs", [1, 2, 5])
def test_a_run_adds_up_all_its_turns(clock, runs):
    """Verification may ask for further ones; what is between them is not the iteration's."""
    given = SimpleNamespace(begin=lambda rule: None)
    run = Run(given, sm.Residual(), Monitor())

    def first():
        clock.pass_by(3.0)
        return sm.Reason.RESIDUAL

    for _ in range(runs):
        clock.pass_by(100.0)
        run.until_end(first)
    assert run.seconds == 3.0 * runs


def test_a_run_that_breaks_off_has_taken_its_time(clock):
    given = SimpleNamespace(begin=lambda rule: None, interrupted=lambda reason: reason)
    run = Run(given, sm.Residual(), Monitor())

    def first():
        clock.pass_by(3.0)
        raise KeyboardInterrupt

    assert run.until_end(first) is sm.Reason.INTERRUPTED
    assert run.seconds == 3.0


@pytest.mark.parametrize("method", [sm.Accelerated(), sm.Power(), sm.LocallyOptimal()], ids=short)
def test_what_a_checkpoint_had_taken(clock, tmp_path, method):
    """From the beginning of the solve to the moment at which it was written, and with it that of the runs before."""
    A, B = HARD
    path = tmp_path / "run.ckpt"
    sol = solved(clock, HARD, method=method, max_steps=2, tol=1e-14, checkpoint=path)
    loaded = sm.load(path)
    assert loaded.seconds == sol.seconds.setup + sol.seconds.search
    assert figures_of(sol, "CHECKPOINT")["last"] == loaded.seconds
    clock.pass_by(1e6)
    with pytest.raises(sm.NotConverged) as caught:
        loaded.resume(slow(clock, A), B, checkpoint=path)
    again = caught.value.solution
    assert figures_of(again, "RESUMED")["seconds"] == loaded.seconds
    assert sm.load(path).seconds == loaded.seconds + again.seconds.setup + again.seconds.search


def test_checkpoints_are_written_when_they_are_due(clock, tmp_path):
    """At the first state after so many seconds, and in the end."""
    sol = solved(
        clock, HARD, method=sm.Power(), max_steps=100, tol=1e-14, checkpoint=sm.Checkpoint(tmp_path / "x", seconds=30)
    )
    # a step takes a second
    steps = np.diff(sol.history.seconds)
    assert (steps == 1).all()
    expected = int((sol.history.seconds[-1] + sol.seconds.setup) // 30) + 1
    assert figures_of(sol, "CHECKPOINT")["written"] == expected
