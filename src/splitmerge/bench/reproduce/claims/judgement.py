"""What a claim is, and what a judgement on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from .results import Results

Word = Literal["reproduced", "partly", "not reproduced", "not measured"]
MARKS: dict[Word, Any] = {"reproduced": "good", "partly": "partly", "not reproduced": "bad", "not measured": "missing"}


@dataclass(frozen=True)
class Judgement:
    """The word, our figures beside the paper's, and the reason."""

    word: Word
    figures: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Claim:
    """What the paper states, in our words, where, and how it is judged; `size` is the n of the cells it is about."""

    statement: str
    place: str
    needs: str
    judge: Callable[[Results], Judgement]
    size: int | None = None

    def judged(self, results: Results) -> Judgement:
        """The judgement, unless what it needs was not measured."""
        measured = bool(getattr(results, self.needs))
        if self.size is not None:
            measured = any(n == self.size for n, _ in results.cells)
        return self.judge(results) if measured else Judgement("not measured")


def by_share(good: int, total: int) -> Word:
    """All, at least half, or less."""
    return "reproduced" if good == total else "partly" if 2 * good >= total else "not reproduced"
