"""The tables of docs/howto/coming_from.md: another library on the left, ours on the right."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from pages import DOCS, blocks_of

PAGE = "howto/coming_from.md"
Function = TypeVar("Function", bound=Callable[..., Any])


def code(cell: str) -> str:
    """The first code span of a cell."""
    found = re.search(r"`([^`]+)`", cell)
    assert found is not None, f"no code in {cell!r}"
    return found[1]


class Table:
    """The table below a heading. Tests say which rows they check, so that a row without a test is found."""

    def __init__(self, heading: str) -> None:
        text = (DOCS / PAGE).read_text(encoding="utf-8")
        start = text.index(f"\n## {heading}\n")
        end = text.find("\n## ", start + 1)
        self._section = text[start : None if end < 0 else end]
        self._first_line = text.count("\n", 0, start) + 1
        # past the head of the table and the line below it
        rows = re.findall(r"^\| (.+?) \| (.+) \|$", self._section, re.M)[1:]
        self.right = dict(rows)
        assert len(self.right) == len(rows) > 0, f"two rows of {heading} have the same left side"
        self.untested = list(self.right)

    def checks(self, *lefts: str) -> Callable[[Function], Function]:
        """Decorates a test of these rows."""
        for left in lefts:
            assert left in self.right, f"{left} is not a row of the table"
            self.untested = [row for row in self.untested if row != left]
        return lambda function: function

    def pairs(self, *lefts: str) -> list[tuple[str, str]]:
        """The first code spans of both sides of each row, as arguments for parametrize."""
        self.checks(*lefts)
        return [(code(left), code(self.right[left])) for left in lefts]

    def block(self, number: int = 0) -> str:
        """A Python block of the section."""
        last = self._first_line + self._section.count("\n")
        blocks = [b for b in blocks_of(PAGE) if b.kind == "python" and self._first_line < b.line <= last]
        return blocks[number].text
