"""The pages in docs/ and their code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sources import ROOT

DOCS = ROOT / "docs"
# what Sphinx writes below docs/
GENERATED = ("_generated", "gallery", "api/generated")
BLOCK = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```$", re.S | re.M)
REASON = re.compile(r"<!-- not run: (.+) -->\n$")


class Block(NamedTuple):
    """A fenced block: its kind, its text, its first line in the page, the reason not to run it, what it prints."""

    kind: str
    text: str
    line: int
    reason: str | None
    output: str | None

    @property
    def runs(self) -> bool:
        return self.kind != "text" and self.reason is None


def pages() -> list[str]:
    """The pages that are written by hand."""
    found = [path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md"))]
    return [name for name in found if not name.startswith(GENERATED)]


def blocks_of(name: str) -> Iterator[Block]:
    """The blocks of a page, without directives of Sphinx."""
    text = (DOCS / name).read_text(encoding="utf-8")
    found = list(BLOCK.finditer(text))
    for i, match in enumerate(found):
        if match["kind"].startswith("{"):
            continue
        next_one = found[i + 1] if i + 1 < len(found) else None
        printed = next_one and next_one["kind"] == "text" and not text[match.end() : next_one.start()].strip()
        reason = REASON.search(text[: match.start()])
        line = text.count("\n", 0, match.start()) + 2
        yield Block(match["kind"], match["body"], line, reason and reason[1], next_one["body"] if printed else None)
