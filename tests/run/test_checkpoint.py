"""When checkpoints are due: one clock reading a state, and none without a checkpoint."""

import time

import numpy as np
import pytest

import splitmerge as sm
from resuming import sparse_pair
from splitmerge.run import checkpoint
from splitmerge.run.checkpoint import Checkpoint, Saving, as_checkpoint


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still, and counts who looks at it."""

    class Clock:
        now, readings = 100.0, 0

        def perf_counter(self):
            self.readings += 1
            return self.now

    clock = Clock()
    monkeypatch.setattr(checkpoint, "time", clock)
    return clock


def saving_of(seconds, write=lambda _: True):
    saving = Saving(Checkpoint("x", seconds), 100.0)
    saving.begin(write)
    return saving


class TestSaving:
    def test_one_reading_a_state(self, clock):
        saving = saving_of(60)
        for _ in range(10):
            saving.at_state(None)
        assert clock.readings == 10
        assert saving.written == 0

    def test_interval(self, clock):
        saving, written = saving_of(60), []
        for now in range(100, 400, 7):
            clock.now = float(now)
            saving.at_state(None)
            written.append(saving.written)
        assert saving.written == 4
        assert saving.last == 252.0

    def test_the_interval_begins_when_the_file_is_there(self, clock):
        def slow(_):
            clock.now += 30
            return True

        saving = saving_of(60, slow)
        clock.now = 160.0
        saving.at_state(None)
        assert saving.due == 250.0

    def test_end(self, clock):
        """Verification may take long; it may run the iteration again and again."""
        saving = saving_of(60)
        for _ in range(3):
            saving.at_end(None)
        assert saving.written == 1
        clock.now += 61
        saving.at_end(None)
        assert saving.written == 2

    def test_the_end_of_another_candidate(self, clock):
        """A search that is given up is followed by another, whose end is written, too."""
        saving = saving_of(60)
        saving.at_end(None)
        saving.begin(lambda _: True)
        saving.at_end(None)
        assert saving.written == 2

    def test_nothing_to_write(self, clock):
        saving = saving_of(0, lambda _: False)
        saving.at_state(None)
        assert saving.figures() == {"path": "x", "written": 0, "last": 0.0, "failure": None}

    @pytest.mark.parametrize(
        ("error", "told"),
        [(OSError(28, "No space"), "No space"), (MemoryError(), "MemoryError"), (np.linalg.LinAlgError("x"), "x")],
    )
    def test_failure(self, clock, error, told):
        def fail(_):
            raise error

        saving = saving_of(0, fail)
        saving.at_state(None)
        assert saving.failure == told

    def test_other_errors_are_not_hidden(self):
        def fail(_):
            raise TypeError

        with pytest.raises(TypeError):
            saving_of(0, fail).at_state(None)


def test_no_clock_and_no_module_without_a_checkpoint(clock):
    sm.solve(*sparse_pair(), 3, rng=0)
    assert clock.readings == 0


def test_a_path_is_enough(tmp_path):
    assert as_checkpoint("x") == Checkpoint("x", 60.0)
    assert as_checkpoint(tmp_path) == Checkpoint(tmp_path)


def test_a_long_interval_writes_at_the_end_only(tmp_path):
    before = time.perf_counter()
    sol = sm.solve(*sparse_pair(), 3, rng=0, checkpoint=sm.Checkpoint(tmp_path / "x", 1000))
    assert time.perf_counter() - before < 1000
    assert sm.load(tmp_path / "x").steps == sol.steps
