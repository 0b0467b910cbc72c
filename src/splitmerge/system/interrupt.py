"""Deferral of SIGINT (Ctrl-C)."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Defer SIGINT until the end of the block, then call the previous handler."""
    if threading.current_thread() is not threading.main_thread():
        # Python delivers signals to the main thread only
        yield
        return
    pressed: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: pressed.append((number, frame)))
    try:
        yield
    finally:
        # `signal.signal` returns None for a handler that was not installed from Python; it cannot be restored
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)
        # also where the block has failed: the interrupt comes on top of its exception
        if pressed and callable(before):
            before(*pressed[-1])
