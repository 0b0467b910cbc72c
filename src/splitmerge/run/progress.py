"""A progress bar on a terminal and in a notebook, nothing in a pipe."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, TypeAlias

from ..objective.state import State

# Seconds between two redraws while no step is made.
REDRAW_SECONDS = 1.0
# Called with the number of a pair and its state at every step.
Show: TypeAlias = Callable[[int, State], None]


@contextmanager
def progress_bar(wanted: bool, k: int) -> Iterator[Show | None]:
    """Yield a function to call with every state, or None when no bar is wanted."""
    if not wanted:
        yield None
        return
    form = "{desc} [{elapsed}]"
    with (
        _new_bar(desc="splitmerge, setting up", unit=" steps", leave=False, bar_format=form) as bar,
        _ticking(bar),
    ):

        def show(pair: int, state: State) -> None:
            if bar.n == 0:
                bar.bar_format = None
                bar.set_description_str(f"splitmerge, {k} pair{'s' * (k != 1)}")
            bar.update()
            if bar.n % 32 == 0 and not bar.disable:
                bar.set_postfix(
                    pair=f"{pair + 1}/{k}",
                    value=f"{state.eigenvalue:.6g}",
                    residual=f"{state.residual:.1e}",
                    refresh=False,
                )

        yield show


def _new_bar(**options: Any) -> Any:
    """A widget in a notebook that has widgets, text in one without and on a terminal, nothing elsewhere."""
    # only who wants a bar pays for the import of tqdm
    if not _in_notebook():
        from tqdm import tqdm

        return tqdm(**options, disable=None)
    if find_spec("ipywidgets") is None:
        from tqdm import tqdm

        return tqdm(**options, disable=False)
    from tqdm.notebook import tqdm as widget

    return widget(**options, disable=False)


def _in_notebook() -> bool:
    """Does a Jupyter kernel run this program? Its output is no terminal, but somebody is looking at it."""
    current = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = None if current is None else current()
    return getattr(shell, "kernel", None) is not None


@contextmanager
def _ticking(bar: Any) -> Iterator[None]:
    """Redraw the bar every second: a factorisation and a verification make no steps that would."""
    done = threading.Event()

    def tick() -> None:
        while not done.wait(REDRAW_SECONDS):
            bar.refresh()

    thread = None if bar.disable else threading.Thread(target=tick, daemon=True)
    if thread is not None:
        thread.start()
    try:
        yield
    finally:
        done.set()
        if thread is not None:
            thread.join()
