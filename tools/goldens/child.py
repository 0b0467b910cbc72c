"""Run cases with the splitmerge found on PYTHONPATH: `python -m tools.goldens.child SRC OUT NAMES`."""

from __future__ import annotations

import pickle
import signal
import sys
import time
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

from ..base import check_source
from .looks import namespace
from .record import failure, record

# Time limit of a case.
MAX_CASE_SECONDS = 60


def outcome(expression: str, names: dict[str, Any]) -> dict[str, Any]:
    """The record of the value or exception of an expression, with the categories of its warnings."""
    signal.alarm(MAX_CASE_SECONDS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = record(eval(expression, dict(names)))
        except Exception as error:
            found = failure(error)
        finally:
            signal.alarm(0)
    return found | {"warnings": " ".join(sorted(each.category.__name__ for each in caught))}


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"more than {MAX_CASE_SECONDS} s")


def main() -> None:
    """Append one record per case to the file, so that a crash preserves the previous ones."""
    check_source()
    signal.signal(signal.SIGALRM, _too_long)
    names = namespace()
    with open(sys.argv[2], "wb") as file:
        for expression in Path(sys.argv[3]).read_text().splitlines():
            begin = time.perf_counter()
            found = outcome(expression, names)
            pickle.dump((expression, found, time.perf_counter() - begin), file)
            file.flush()


if __name__ == "__main__":
    main()
