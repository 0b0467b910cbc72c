"""The progress bar: what it shows before the first step."""

import io
import threading
import time

from splitmerge.run import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_time_runs_during_the_set_up(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 0.05)
    before = threading.active_count()
    with progress.progress_bar(True, 2) as show:
        assert show is not None
        deadline = time.monotonic() + 10
        while "splitmerge, setting up [00:01]" not in terminal.getvalue():
            assert time.monotonic() < deadline, terminal.getvalue()
            time.sleep(0.05)
    assert "[00:00]" in terminal.getvalue()
    # the monitor of tqdm may have been started, but the redrawing has ended
    assert threading.active_count() <= before + 1


def test_nothing_in_a_pipe(monkeypatch):
    pipe = io.StringIO()
    monkeypatch.setattr("sys.stderr", pipe)
    with progress.progress_bar(True, 2):
        time.sleep(0.01)
    assert pipe.getvalue() == ""
