"""Comparison of two records of a case: bit-equal, equal to rounding, or different."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from .record import Close, Prose

# Relative to the largest entry, for double precision; scaled by eps for single precision.
RELATIVE_TOLERANCE = 1e-13
# Exceptions that a valid case may raise.
EXPECTED = ("NotConverged", "ArpackNoConvergence")


class Class(Enum):
    """The degree of agreement of two records, best first."""

    EQUAL = "bit-equal"
    CLOSE = "equal to 1e-13 with the same counts"
    DIFFERENT = "DIFFERENT"


def compare(base: dict[str, Any] | None, now: dict[str, Any] | None, *, refused: bool) -> tuple[Class, list[str]]:
    """The class of agreement, and a list of the differences."""
    if base is None or now is None:
        return Class.DIFFERENT, [f"no result of {'the base' if base is None else 'the working tree'}"]
    raised = base.get("raised")
    if refused != (raised is not None and raised not in EXPECTED) and base.keys() == now.keys():
        what = f"raised {raised} ({base['message'].text})" if raised else "refused nothing"
        return Class.DIFFERENT, [f"the case is broken: the base {what}"]
    worst, notes = Class.EQUAL, []
    for path in dict.fromkeys((*base, *now)):
        if path not in base or path not in now:
            text = _text(base.get(path, now.get(path)))
            if isinstance(base.get(path, now.get(path)), Prose):
                continue
            worst = Class.DIFFERENT
            notes.append(f"{path}: only {'the base' if path in base else 'the working tree'} has it ({text})")
            continue
        each, note = _leaf(base[path], now[path])
        if each is not Class.EQUAL:
            notes.append(f"{path}: {note}")
            worst = each if worst is Class.EQUAL or each is Class.DIFFERENT else worst
    return worst, notes


def reworded(base: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """The paths of sentences that differ."""
    return [path for path, text in base.items() if isinstance(text, Prose) and now.get(path) != text]


def _leaf(a: Any, b: Any) -> tuple[Class, str]:
    if isinstance(a, Prose) and isinstance(b, Prose):
        return Class.EQUAL, ""
    if isinstance(a, Close) and isinstance(b, Close):
        return _numbers(a, b)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        same = a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)
    else:
        same = type(a) is type(b) and a == b
    return (Class.EQUAL, "") if same else (Class.DIFFERENT, f"{_text(a)} became {_text(b)}")


def _numbers(a: Close, b: Close) -> tuple[Class, str]:
    x, y = a.data, b.data
    if x.dtype != y.dtype or x.shape != y.shape:
        return Class.DIFFERENT, f"{x.dtype} {x.shape} became {y.dtype} {y.shape}"
    if np.array_equal(x, y, equal_nan=True):
        return Class.EQUAL, ""
    finite = np.isfinite(x)
    if not np.array_equal(finite, np.isfinite(y)) or not np.array_equal(x[~finite], y[~finite], equal_nan=True):
        return Class.DIFFERENT, f"{_text(a)} became {_text(b)}"
    with np.errstate(over="ignore"):
        error = float(np.abs(x[finite] / a.scale - y[finite] / a.scale).max()) if a.scale else np.inf
    allowed = RELATIVE_TOLERANCE * float(np.finfo(x.dtype).eps) / float(np.finfo(np.float64).eps)
    note = f"off by {error:.1e} of {a.scale:.3g}"
    return (Class.CLOSE if error <= allowed else Class.DIFFERENT), note


def _text(value: Any) -> str:
    data = value.data if isinstance(value, Close) else value
    text = " ".join((np.array2string(data, threshold=6) if isinstance(data, np.ndarray) else repr(data)).split())
    return text if len(text) <= 100 else f"{text[:97]}..."
