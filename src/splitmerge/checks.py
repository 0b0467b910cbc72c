"""Checks of single arguments: each error names the argument, what is wrong and what to give."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np


def whole(value: Any, name: str, least: int, most: int | None = None) -> int:
    """A whole number from `least` to `most`; a bool or a float is none."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} is {value!r}; give a whole number") from None
    if number < least or (most is not None and number > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} is {number}; give a whole number {limits}")
    return number


def real(
    value: Any, name: str, *, least: float | None = None, below: float = math.inf, most: float = math.inf
) -> float:
    """A finite real number: positive, or at least `least`; smaller than `below` and at most `most`."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))
    low_enough = is_number and math.isfinite(value) and value < below and value <= most
    if not low_enough or not (value > 0 if least is None else value >= least):
        limits = [f"below {below:g}"] * math.isfinite(below) + [f"of at most {most:g}"] * math.isfinite(most)
        limits = ([f"of at least {least:g}"] if least is not None and math.isfinite(least) else []) + limits
        what = "a positive number" if least is None else "a number" if limits else "a finite real number"
        raise ValueError(f"{name} is {value!r}; give {' '.join([what, ' and '.join(limits)]).strip()}")
    return float(value)


def instance(value: Any, name: str, kind: type | tuple[type, ...], advice: str) -> None:
    """An object of the right kind, not its class and not its name."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} is {value!r}; give {advice}")
