"""The command line interface."""

from __future__ import annotations

from .startup import INTERRUPTED, ignore_interrupts, importing, is_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 success, 1 not converged, 2 invalid input, 130 interrupted."""
    try:
        with importing():
            from .entry import main as run
        code = run(argv)
        if is_program():
            ignore_interrupts()
    except KeyboardInterrupt:
        return INTERRUPTED
    return code
