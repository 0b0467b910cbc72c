"""Rendering of a report as one self-contained HTML file, which loads no external resources."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from html import escape
from importlib.resources import files
from itertools import count
from os import PathLike
from typing import Any
from urllib.parse import quote

import numpy as np

from ...system.atomic_file import write_text
from ...typing import Array
from .blocks import Block, Cell, Column, Dots, Picture, Plot, Report, Section, Series, Table, Text
from .dots import dots

# Number of curve colours defined in report.css.
COLOUR_COUNT = 8
FILES = ("report.css", "report.js", "plot.js")
LONG_WORD = re.compile(r"([a-z]{7})([a-z]{6,})")
NO_SCRIPT = "This plot needs JavaScript, which is disabled; the tables are complete without it."


def html(report: Report) -> str:
    """The report as one HTML file; tables and text work without JavaScript, and all text is escaped."""
    style, *scripts = (files(__package__).joinpath(name).read_text("utf-8") for name in FILES)
    script = "\n".join(scripts)
    # the policy allows only the script with this hash, and no network requests
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(report.title)}</title>
<style>{style}</style>
<script>{script}</script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
{_header(report)}
<main id="content" tabindex="-1">
{"".join(_section(number, section) for number, section in enumerate(report.sections, 1))}
{_provenance(report.provenance) if report.provenance else ""}
</main>
</body>
</html>
"""


def write(report: Report, path: str | PathLike[str]) -> None:
    """Write the page to `path` atomically."""
    write_text(path, html(report))


def _header(report: Report) -> str:
    summary = "".join(f"<p>{escape(sentence)}</p>" for sentence in report.summary)
    links = [(f"section-{number}", section.title) for number, section in enumerate(report.sections, 1)]
    links += [("provenance", "Provenance")] if report.provenance else []
    items = "".join(f'<li><a href="#{anchor}">{escape(title)}</a></li>' for anchor, title in links)
    contents = f'<nav aria-label="Contents"><h2>Contents</h2><ol>{items}</ol></nav>' if links else ""
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in report.facts.items())
    listed = f'<dl class="facts">{facts}</dl>' if facts else ""
    return f'<header><h1>{escape(report.title)}</h1><div class="summary">{summary}</div>{listed}{contents}</header>'


def _section(number: int, section: Section) -> str:
    name = f"section-{number}"
    blocks = "\n".join(_block(block, f"{name}-{place}") for place, block in enumerate(section.blocks, 1))
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{escape(section.title)}</h2>\n{blocks}\n</section>\n'


def _block(block: Block, name: str) -> str:
    match block:
        case Text():
            return "".join(f"<p>{escape(paragraph)}</p>" for paragraph in block.paragraphs)
        case Table():
            return _table(block, name)
        case Plot():
            return _plot(block)
        case Dots():
            return dots(block)
        case Picture():
            return _picture(block)


def _table(table: Table, name: str) -> str:
    link = f'<a class="csv" href="./{quote(table.name, safe="")}.csv">CSV</a>' if table.name else ""
    head = "".join(_head(column) for column in table.columns)
    rows = "".join(f"<tr>{''.join(map(_cell, count(), table.columns, row))}</tr>\n" for row in table.rows)
    if not rows:
        rows = f'<tr><td class="none" colspan="{max(1, len(table.columns))}">no rows</td></tr>'
    # rows of tables that are mostly text are shown as cards on narrow screens
    kind = "table prose" if 2 * sum(column.numeric for column in table.columns) < len(table.columns) else "table"
    return f"""<figure class="{kind}">
<figcaption><span id="{name}">{escape(table.caption)}</span> {link}</figcaption>
<div class="sheet">
<table aria-labelledby="{name}"><thead><tr>{head}</tr></thead>
<tbody>{rows}</tbody></table></div>{_key(table)}
</figure>"""


def _key(table: Table) -> str:
    """The legend of bold and underlined figures, if the table has any."""
    marks = {cell.mark for row in table.rows for cell in row}
    words = (("best", "<strong>bold</strong>: best"), ("second", "<u>underlined</u>: second best"))
    said = ", ".join(word for mark, word in words if mark in marks)
    return f'<p class="key">{said}</p>' if said else ""


def _head(column: Column) -> str:
    numeric = ' class="numeric"' if column.numeric else ""
    # a long word may be broken in the middle, so that it does not make its column wide
    name = LONG_WORD.sub("\\1\u00ad\\2", column.name)
    return f'<th scope="col"{numeric}>{_explained(escape(name), column.why)}</th>'


def _cell(place: int, column: Column, cell: Cell) -> str:
    body = escape(cell.text or ("—" if cell.mark == "missing" else ""))
    if cell.mark:
        element = {"best": "strong", "second": "u"}.get(cell.mark, "span")
        body = f'<{element} class="mark {cell.mark}">{body}</{element}>'
    body = _explained(body, cell.why) + (f"<small>{escape(cell.below)}</small>" if cell.below else "")
    attributes = f' data-head="{escape(column.name)}"' + (' class="numeric"' if column.numeric else "")
    # the sort key; none for None and for non-finite numbers
    if isinstance(cell.key, str):
        attributes += f' data-word="{escape(cell.key)}"'
    elif cell.key is not None and math.isfinite(cell.key):
        attributes += f' data-number="{float(cell.key)!r}"'
    return f"<td{attributes}>{body}</td>" if place else f'<th scope="row"{attributes}>{body}</th>'


def _explained(body: str, why: str) -> str:
    return f'<span class="why" title="{escape(why)}">{body}</span>' if why else body


def _plot(plot: Plot) -> str:
    data = {
        "labels": [plot.x_label, plot.y_label],
        "log": [plot.log_x, plot.log_y],
        "ranges": [_range(plot.x_range, plot.log_x), _range(plot.y_range, plot.log_y)],
        "ticks": [] if not plot.x_ticks else _numbers(list(plot.x_ticks), plot.log_x),
        "line": None if plot.line is None else _numbers([plot.line], plot.log_y)[0],
        "series": [
            {"name": each.name, "style": "dotted" if each.dotted else "dashed" if each.dashed else "", "colour": colour}
            | {"x": _numbers(each.x, plot.log_x), "y": _numbers(each.y, plot.log_y)}
            for each, colour in zip(plot.series, _colours(plot.series), strict=True)
        ],
    }
    # escape `<`, which could end the element or open a comment inside a string
    text = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return f"""<figure class="plot"><figcaption>{escape(plot.caption)}</figcaption>
<script type="application/json">{text}</script><noscript><p class="key">{NO_SCRIPT}</p></noscript></figure>"""


def _colours(series: tuple[Series, ...]) -> list[int]:
    """The colours that are given; otherwise curves of one group share one, and every other curve has its own."""
    groups = [each.group or place for place, each in enumerate(series)]
    own = {group: colour % COLOUR_COUNT for colour, group in enumerate(dict.fromkeys(groups))}
    return [own[group] if each.colour is None else each.colour for each, group in zip(series, groups, strict=True)]


def _numbers(values: Array | list[float], log: bool) -> list[float | None]:
    """The values for JSON with nine digits; None for values that cannot be shown on the axis."""
    places = np.asarray(values, float).ravel()
    shown = np.isfinite(places) & ((places > 0) | (not log))
    return [float(f"{place:.9g}") if good else None for place, good in zip(places.tolist(), shown, strict=True)]


def _range(span: tuple[float, float] | None, log: bool) -> list[float | None] | None:
    ends = _numbers(list(span or ()), log)
    return ends if len({*ends} - {None}) == 2 else None


def _picture(picture: Picture) -> str:
    # embedded as a separate image, because the ids of two SVG documents could clash
    source = base64.b64encode(picture.svg.encode("utf-8", "replace")).decode()
    return f"""<figure class="picture"><figcaption>{escape(picture.caption)}</figcaption>
<img src="data:image/svg+xml;base64,{source}" alt="{escape(picture.alt)}"></figure>"""


def _provenance(provenance: Mapping[str, Any]) -> str:
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in _flat(provenance))
    return f'<section aria-labelledby="provenance"><h2 id="provenance">Provenance</h2><dl>{items}</dl></section>'


def _flat(mapping: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for name, value in mapping.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name} / ")
        else:
            several = isinstance(value, list | tuple)
            yield f"{above}{name}", ", ".join(map(str, value)) if several else "—" if value is None else str(value)
