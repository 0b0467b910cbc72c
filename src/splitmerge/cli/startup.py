"""Ctrl-C before and after the command itself: while modules are imported, and while the interpreter ends.

An exception within an import is not safe: extension modules turn it into other errors or print it. Nothing has been
computed or written at these times, so the process simply ends. This module is the first of the command line, and
imports next to nothing.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, NoReturn

INTERRUPTED = 130
MESSAGE = b"splitmerge: interrupted before the first result\n"
SCRIPTS = ("splitmerge", "splitmerge.exe", "splitmerge-script.py")


def is_program() -> bool:
    """Is this process the command line, rather than a program that imports the library?"""
    words = getattr(sys, "argv", None) or [""]
    # while `python -m` imports the package, the name of the program is not known yet
    if words[0] == "-m":
        return "splitmerge" in sys.orig_argv
    folder, name = os.path.split(words[0])
    return name in SCRIPTS or (name == "__main__.py" and os.path.basename(folder) == "splitmerge")


try:
    import signal
except KeyboardInterrupt:
    if not is_program():
        raise
    os.write(2, MESSAGE)
    os._exit(INTERRUPTED)


def end_on_interrupt() -> None:
    """From now on Ctrl-C ends the process at once."""
    _handle(_end)


def ignore_interrupts() -> None:
    """The command is done and its exit code is known: let nothing disturb the end of the interpreter."""
    _handle(signal.SIG_IGN)


class importing:
    """A context in which Ctrl-C ends the process; afterwards it raises KeyboardInterrupt, as it does by default."""

    def __enter__(self) -> None:
        self._before = signal.getsignal(signal.SIGINT)
        end_on_interrupt()

    def __exit__(self, *error: object) -> None:
        if signal.getsignal(signal.SIGINT) is _end:
            _handle(signal.default_int_handler if self._before in (_end, None) else self._before)


def _handle(handler: Any) -> None:
    """Set the handler, unless Ctrl-C is ignored, as in the background, or this is not the main thread."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:
        # only the main thread may set handlers, and it is the only one that is interrupted
        return


def _end(number: int, frame: FrameType | None) -> NoReturn:
    try:
        os.write(2, MESSAGE)
    finally:
        os._exit(INTERRUPTED)


# How launchers tell a process its number and how many there are: Open MPI, MPICH and Intel MPI, Slurm.
VARIABLES = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("PMIX_RANK", "PMIX_SIZE"),
)


def launched() -> tuple[int, int]:
    """The number of this process and how many there are: (0, 1) without `mpiexec`."""
    for rank, size in VARIABLES:
        if os.environ.get(rank, "").isdigit() and os.environ.get(size, "").isdigit():
            return int(os.environ[rank]), int(os.environ[size])
    return 0, 1
