"""Claims of the paper, and judgements on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ..results import Results

Word = Literal["reproduced", "partly", "not reproduced", "not measured"]
MARKS: dict[Word, Any] = {"reproduced": "good", "partly": "partly", "not reproduced": "bad", "not measured": "missing"}


@dataclass(frozen=True)
class Judgement:
    """A verdict, our figures next to the paper's, and the reason."""

    word: Word
    figures: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, its place, and the function that judges it.

    `needs` names the field of `Results` that it is judged by, and `size` the n of the cells that it refers to.
    """

    statement: str
    place: str
    needs: str
    judge: Callable[[Results], Judgement]
    size: int | None = None

    def judged(self, results: Results) -> Judgement:
        """The judgement; "not measured" if the required results are missing."""
        measured = bool(getattr(results, self.needs))
        if self.size is not None:
            measured = any(n == self.size for n, _ in results.cells)
        return self.judge(results) if measured else Judgement("not measured")


def by_share(good: int, total: int) -> Word:
    """The verdict by the share of confirming cases: all, at least half, or fewer."""
    return "reproduced" if good == total else "partly" if 2 * good >= total else "not reproduced"
