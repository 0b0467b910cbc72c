"""The outcome of a campaign: a line for every finding, and the counts at the end."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from .run import SOFT, Outcome

CRASHES = ("crash", "warning", "message", "harness")


@dataclass
class Tally:
    """Counts of outcomes and findings."""

    begin: float = field(default_factory=time.monotonic)
    statuses: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    counted: int = 0
    gave_up: int = 0

    def add(self, outcome: Outcome) -> None:
        """Count an outcome."""
        self.statuses[outcome.status] += 1
        self.kinds.update({finding.kind for finding in outcome.findings})
        self.counted += outcome.counted
        self.gave_up += outcome.gave_up

    @property
    def silent(self) -> Counter[str]:
        """Wrong answers by kind."""
        return Counter({k: v for k, v in self.kinds.items() if k not in (*CRASHES, *SOFT, "hang")})

    @property
    def failed(self) -> bool:
        """Is there any silent failure, crash or hang?"""
        return any(kind not in SOFT for kind in self.kinds)

    def summary(self) -> str:
        """The line at the end."""
        cases, seconds = self.statuses.total(), time.monotonic() - self.begin
        crashes = {kind: self.kinds[kind] for kind in CRASHES if self.kinds[kind]}
        soft = {kind: self.kinds[kind] for kind in SOFT if self.kinds[kind]}
        return (
            f"{cases} cases in {seconds:.0f} s: {self.silent.total()} silent failures {_words(self.silent)}, "
            f"{sum(crashes.values())} crashes {_words(crashes)}, {self.kinds['hang']} hangs; "
            f"{self.statuses['answer']} answers, {self.statuses['sentence']} sentences, "
            f"{self.statuses['gave up']} not converged, {self.statuses['interrupted']} interrupted; "
            f"default solves of good pairs that give up: {self.gave_up} of {self.counted} "
            f"({100 * self.gave_up / max(1, self.counted):.2f} %); remarks {_words(soft)}; "
            f"{cases / max(seconds, 1e-9):.1f} cases/s"
        )


def _words(counts: dict[str, int]) -> str:
    return "(" + ", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items(), key=lambda x: -x[1])) + ")"


def line(outcome: Outcome) -> str:
    """A finding or a give-up in a few lines; empty if all is well."""
    if not outcome.findings and not outcome.gave_up:
        return ""
    label = "gives up" if outcome.gave_up else outcome.status
    head = f"--case {outcome.number} [{label}] {outcome.text}"
    return "\n".join([head, *(f"    {finding.kind}: {finding.text}" for finding in outcome.findings)])
