"""Output of text, JSON and error messages, robust against closed pipes."""

from __future__ import annotations

import io
import json
import math
import os
import sys
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from .startup import launched
from .wrapping import terminal_columns, wrapped


def prepare_streams() -> None:
    """Replace characters that a stream cannot encode by "?", e.g. Greek letters or undecodable file names."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def say(text: str) -> None:
    """Print to stdout, on one of several processes; a pipe closed by its reader, e.g. `| head`, is not an error."""
    if launched()[0]:
        return
    try:
        print(text, flush=True)
    except BrokenPipeError:
        _silence()
    except OSError:
        # otherwise flushing the buffer would fail again at exit
        _silence()
        raise


def complain(text: str, kind: str = "error: ") -> None:
    """Print a message to stderr, on one of several processes; in one line, or wrapped on a terminal."""
    if launched()[0]:
        return
    with suppress(OSError):
        print(wrapped(f"splitmerge: {kind}{text}", terminal_columns(sys.stderr)), file=sys.stderr, flush=True)


def say_json(content: Any) -> None:
    """Print one JSON object, with NaN and infinity as null."""
    say(json.dumps(plain(content), indent=1, ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """Convert a value to types that JSON can represent."""
    if value is None or isinstance(value, (bool, int, float, str, Enum)):
        return _scalar(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return repr(value)


def _scalar(value: Any) -> Any:
    """Convert a scalar: enumerations to their names, subclasses of str to str, NaN and infinity to None."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, str):
        return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _silence() -> None:
    """Redirect stdout to the null device."""
    with suppress(OSError, ValueError, io.UnsupportedOperation):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
