"""Claims of the paper, and judgements on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ..results import Results

Word = Literal["reproduced", "partly", "not reproduced", "not enough starts", "not measured"]
MARKS: dict[Word, Any] = {
    "reproduced": "good",
    "partly": "partly",
    "not reproduced": "bad",
    "not enough starts": "missing",
    "not measured": "missing",
}
# The starts that a verdict needs: on mean times, whose deviation is a tenth and more, and on shares of the starts,
# of which the paper's smallest failure is one in a hundred.
STARTS_FOR_MEANS, STARTS_FOR_SHARES = 10, 100


@dataclass(frozen=True)
class Judgement:
    """A verdict, our figures next to the paper's, and the reason."""

    word: Word
    figures: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, its place, and the function that judges it.

    `needs` names the field of `Results` that it is judged by, and `size` the n of the cells that it refers to. `starts`
    is the least number of starts that support a verdict; 0 if starts play no part.
    """

    statement: str
    place: str
    needs: str
    judge: Callable[[Results], Judgement]
    size: int | None = None
    starts: int = STARTS_FOR_MEANS

    def judged(self, results: Results) -> Judgement:
        """The judgement; "not measured" if the required results are missing."""
        measured = bool(getattr(results, self.needs))
        if self.size is not None:
            measured = any(n == self.size for n, _ in results.cells)
        if not measured:
            return Judgement("not measured")
        found, made = self.judge(results), results.starts(self.needs)
        if made >= self.starts or found.word == "not measured":
            return found
        return Judgement("not enough starts", found.figures, f"needs {self.starts} starts; here are {made}")

    def beside(self, results: Results) -> str:
        """What the verdict rests on, to be said beside it."""
        made = results.starts(self.needs)
        quick = "quick run, " if results.quick else ""
        if not self.starts:
            return f"{quick}but starts play no part" if quick else ""
        return f"{quick}{made} start{'s' * (made != 1)}"


def by_share(good: int, total: int) -> Word:
    """The verdict by the share of confirming cases: all, at least half, or fewer."""
    return "reproduced" if good == total else "partly" if 2 * good >= total else "not reproduced"
