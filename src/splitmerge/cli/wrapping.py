"""Text, help and tables no wider than the terminal; without a terminal, text and tables are as wide as they come."""

from __future__ import annotations

import argparse
import os
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

# Columns below which nothing is wrapped any further.
MIN_COLUMNS = 30
# The last column at which the explanation of an item may begin beside it rather than below it.
MAX_ITEM_COLUMNS = 24
# An item of a list and its explanation, two or more spaces apart.
ITEM = re.compile(r"(?P<item>\s*\S+(?: \S+)*)(?P<gap> {2,})(?P<text>\S.*)")
# The words of a usage: brackets, which may hold others, or anything without a space.
USAGE = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]|\S+")


def columns() -> int | None:
    """The columns of stdout: those of a terminal, or of the variable COLUMNS; None if there is neither."""
    given = os.environ.get("COLUMNS", "")
    if given.isdigit() and int(given):
        return max(int(given), MIN_COLUMNS)
    return terminal_columns(sys.stdout)


def terminal_columns(stream: Any) -> int | None:
    """The columns of the terminal that the stream writes to; None if it is none, or one that does not know its size."""
    try:
        found = os.get_terminal_size(stream.fileno()).columns
    except (AttributeError, ValueError, OSError):
        return None
    return max(found, MIN_COLUMNS) if found else None


def wrapped(text: str, width: int | None) -> str:
    """The text with its long lines wrapped: below the explanation of an item, or two columns further in."""
    if width is None:
        return text
    return "\n".join(part for line in text.split("\n") for part in _wrap(line, width))


def _wrap(line: str, width: int, further: str = "  ") -> list[str]:
    if len(line) <= width:
        return [line]
    item = ITEM.match(line)
    if item is not None and item.start("text") <= MAX_ITEM_COLUMNS:
        first, rest, hanging = line[: item.start("text")], item["text"], " " * item.start("text")
    else:
        first = line[: len(line) - len(line.lstrip())]
        rest, hanging = line.lstrip(), first + further
    return textwrap.wrap(
        rest, width, initial_indent=first, subsequent_indent=hanging, break_on_hyphens=False, break_long_words=False
    )


def blocks(lines: Sequence[Sequence[str]], width: int | None, repeated: int = 1) -> Iterator[list[int]]:
    """The columns of each block of a table of aligned cells: all, or as many as fit beside the first `repeated`."""
    widths = [len(cell) for cell in lines[0]]
    start = sum(widths[:repeated]) + 2 * (repeated - 1)
    chosen, used = list(range(repeated)), start
    for place in range(repeated, len(widths)):
        if width is not None and used + 2 + widths[place] > width and len(chosen) > repeated:
            yield chosen
            chosen, used = list(range(repeated)), start
        chosen.append(place)
        used += 2 + widths[place]
    yield chosen


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help whose usage, descriptions and examples fit the terminal."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        sections = re.split(r"\n{2,}", text)
        return "\n\n".join(indent + "\n".join(_section(section, self._width)) for section in sections)

    def _split_lines(self, text: str, width: int) -> list[str]:
        # a name such as mirror-descent stays on one line
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _format_usage(self, *given: object, **options: object) -> str:
        narrow, self._width = self._width, sys.maxsize
        usage = super()._format_usage(*given, **options)  # type: ignore[arg-type]
        self._width = narrow
        lines, line = [], ""
        for word in USAGE.findall(usage):
            if line and len(line) + 1 + len(word) > narrow:
                lines.append(line)
                line = f"    {word}"
            else:
                line = f"{line} {word}" if line else word
        return "\n".join([*lines, line]) + "\n\n"


def _section(section: str, width: int) -> list[str]:
    """The lines of a section: commands with what they do, items with explanations, or paragraphs."""
    lines = _joined(section.split("\n"))
    narrow = any(len(line) > width for line in lines)
    found: list[str] = []
    for line in lines:
        item = ITEM.match(line)
        if narrow and item is not None and item.start("text") > MAX_ITEM_COLUMNS:
            indent = " " * (len(line) - len(line.lstrip()))
            found += [*_command(item["item"], width), *_wrap(f"{indent}    {item['text']}", width)]
        else:
            found += _command(line, width) if _is_command(line) else _wrap(line, width, "")
    return found


def _is_command(line: str) -> bool:
    return line.lstrip().startswith("splitmerge ")


def _joined(lines: list[str]) -> list[str]:
    """The lines with those of one paragraph in one; headings, commands and items stay apart."""
    found: list[str] = []
    for line in lines:
        alone = line.endswith(":") or _is_command(line) or ITEM.match(line) is not None
        last = found[-1] if found else ""
        apart = not last or last.endswith(":") or _is_command(last) or ITEM.match(last) is not None
        if alone or apart or (len(line) - len(line.lstrip())) != (len(last) - len(last.lstrip())):
            found.append(line)
        else:
            found[-1] = f"{last} {line.lstrip()}"
    return found


def _command(line: str, width: int) -> list[str]:
    """A command of several lines, joined by backslashes so that it can be copied."""
    parts = _wrap(line, width - 2)
    return [*(f"{part} \\" for part in parts[:-1]), parts[-1]]
