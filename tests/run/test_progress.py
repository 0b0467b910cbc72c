"""The progress bar in notebooks; `tests/behaviour/test_callback.py` has terminals and pipes."""

import io
import sys
import threading
import time
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace

import pytest
from tqdm import tqdm

import splitmerge as sm
from pairs import EASY
from splitmerge.run import progress

CELL = """
import splitmerge as sm
A, B = sm.gallery.synthetic_pair(300, kappa_B=10, rng=0)
sm.solve(A, B, 2, method=sm.Power(), rng=0, progress=True).converged
"""


def in_a_kernel(monkeypatch, kernel=True, widgets=False):
    """What a kernel looks like from inside, with or without widgets."""
    shell = SimpleNamespace(kernel=object()) if kernel else SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(progress, "find_spec", lambda name: object() if widgets else None)


def test_text_without_widgets(monkeypatch, capsys):
    in_a_kernel(monkeypatch)
    assert sm.solve(*EASY, 2, method=sm.Power(), rng=0, progress=True).converged
    assert "splitmerge, 2 pairs" in capsys.readouterr().err


def in_widgets(monkeypatch):
    """The bars that are made in a notebook with widgets."""
    made = []

    class Widget(tqdm):
        def __init__(self, **options):
            super().__init__(**options)
            made.append(self)

    module = ModuleType("tqdm.notebook")
    module.tqdm = Widget
    monkeypatch.setitem(sys.modules, "tqdm.notebook", module)
    in_a_kernel(monkeypatch, widgets=True)
    return made


def test_widget(monkeypatch, capsys):
    made = in_widgets(monkeypatch)
    sol = sm.solve(*EASY, 2, method=sm.Power(), rng=0, progress=True)
    (bar,) = made
    assert bar.n == len(sol.history)
    assert bar.desc == "splitmerge, 2 pairs"


@pytest.mark.parametrize("kernel", [True, False])
def test_silent_unless_asked_for(monkeypatch, capsys, kernel):
    in_a_kernel(monkeypatch, kernel)
    sm.solve(*EASY, 2, method=sm.Power(), rng=0)
    assert capsys.readouterr() == ("", "")


def test_ipython_in_a_pipe_is_no_notebook(monkeypatch, capsys):
    in_a_kernel(monkeypatch, kernel=False)
    sm.solve(*EASY, 2, method=sm.Power(), rng=0, progress=True)
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_in_a_notebook():
    client = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    client.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = notebook.cells[0].outputs
    assert outputs[-1]["data"]["text/plain"] == "True"
    shown = [str(output.get("data", output.get("text", ""))) for output in outputs[:-1]]
    assert any("splitmerge" in text for text in shown)


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


@pytest.mark.parametrize("pair", [0, 2])
def test_the_figures_of_a_pair(monkeypatch, pair):
    """Pairs are counted from one."""
    bar = tqdm(file=io.StringIO())
    monkeypatch.setattr(progress, "_new_bar", lambda **options: bar)
    state = SimpleNamespace(eigenvalue=2.5, residual=1e-3)
    with progress.progress_bar(True, 3) as show:
        assert show is not None
        for _ in range(32):
            show(pair, state)
    assert bar.postfix == f"pair={pair + 1}/3, residual=1.0e-03, value=2.5"


def test_pairs_of_all_slices_are_shown(monkeypatch):
    """Each slice goes on from the number of pairs that the slices before it have found."""
    shown = []

    @contextmanager
    def recorded(wanted, k):
        yield lambda pair, state: shown.append(pair)

    monkeypatch.setattr("splitmerge.slicing.interval.progress_bar", recorded)
    sol = sm.solve(sm.gallery.grid_laplacian((40, 40))[0], interval=(0, 0.9), rng=0, progress=True)
    assert sol.eigenvalues.size > 100
    assert max(shown) >= sol.eigenvalues.size - 1
    assert len(set(shown)) > 64
