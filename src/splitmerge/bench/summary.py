"""Statistics over the trials of each method."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


def milliseconds(seconds: float) -> str:
    """Seconds as milliseconds with three digits.

    >>> milliseconds(0.0482), milliseconds(4.82), milliseconds(1.5e-5)
    ('48.2', '4,820', '0.015')
    """
    if not math.isfinite(seconds):
        return "–"
    value = 1e3 * seconds
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.{0 if rounded >= 100 else 1 if rounded >= 10 else 2 if rounded >= 1 else 3}f}"


@dataclass(frozen=True)
class Stat:
    """Means over the successful trials, as in the paper; infinite seconds if no trial succeeded."""

    count: int
    successes: int
    seconds: float
    deviation: float
    setup: float
    steps: float
    A_products: float
    B_products: float
    B_solves: float
    P_solves: float

    @property
    def solves(self) -> float:
        """The number of solves with B, or with an exact P (PᴴP = B) instead."""
        return self.B_solves or self.P_solves

    @property
    def share(self) -> float:
        """The share of successful trials."""
        return self.successes / self.count if self.count else 0.0

    @property
    def whole(self) -> float:
        """Total seconds of set-up and iteration."""
        return self.setup + self.seconds


def statistics(trials: Iterable[Mapping[str, Any]]) -> dict[str, Stat]:
    """The statistics of each method, by name."""
    sorted_out: dict[str, list[Mapping[str, Any]]] = {}
    for trial in trials:
        sorted_out.setdefault(trial["method"], []).append(trial)
    return {name: _stat(own) for name, own in sorted_out.items()}


def _stat(trials: list[Mapping[str, Any]]) -> Stat:
    good = [trial for trial in trials if trial["success"]]
    if not good:
        return Stat(len(trials), 0, math.inf, *[math.nan] * 7)

    def mean(name: str) -> float:
        return float(np.mean([trial[name] for trial in good]))

    return Stat(
        len(trials),
        len(good),
        mean("seconds"),
        float(np.std([trial["seconds"] for trial in good])),
        mean("setup"),
        mean("steps"),
        mean("A_products"),
        mean("B_products"),
        mean("B_solves"),
        mean("P_solves"),
    )
