"""The collected measurements of a reproduction, complete or partial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..summary import Stat
from . import lapla, table1

# Starts per cell of a quick run.
QUICK_STARTS = 2


@dataclass(frozen=True)
class Results:
    """Statistics of the cells of table 1 and of the clustered pairs, with curves, solve times, and theorem checks."""

    cells: table1.Summary = field(default_factory=dict)
    pairs: Mapping[str, Mapping[str, Stat]] = field(default_factory=dict)
    curves: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    factors: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    theory: Mapping[str, Any] = field(default_factory=dict)
    contests: Sequence[Mapping[str, Any]] = ()

    def starts(self, needs: str) -> int:
        """The starts behind every mean of the cells or the pairs; 0 if there are none."""
        measured: list[Mapping[str, Stat]] = []
        if needs in ("cells", "pairs"):
            measured = list(getattr(self, needs).values())
        return min((stat.count for stats in measured for stat in stats.values()), default=0)

    @property
    def quick(self) -> bool:
        """Is this a quick run, of so few starts that most verdicts cannot be given?"""
        made = [starts for needs in ("cells", "pairs") if (starts := self.starts(needs))]
        return bool(made) and min(made) <= QUICK_STARTS

    @classmethod
    def of(cls, parts: Sequence[Mapping[str, Any]]) -> Results:
        """The results from the saved jobs, grouped by key."""

        def chosen(prefix: str) -> list[Mapping[str, Any]]:
            return [part for part in parts if part["key"].startswith(prefix)]

        theory = chosen("theory")
        return cls(
            table1.summarise(chosen("table1-")),
            lapla.summarise(chosen("figure2-")),
            {part["data"]["case"]: part["data"] for part in chosen("figure3-")},
            {part["data"]["case"]: part["data"] for part in chosen("factors-")},
            theory[0]["data"] if theory else {},
            [part["data"] for part in chosen("rivals-")],
        )
