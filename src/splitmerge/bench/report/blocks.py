"""What a report consists of: sections of texts, tables, interactive plots and pictures.

Plain data, so that whoever measures need not know how a page is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from ...typing import Array

Mark: TypeAlias = Literal["", "best", "second", "good", "partly", "bad", "missing"]


@dataclass(frozen=True)
class Text:
    """Paragraphs of plain text."""

    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """What a table shows in one place: `below` in small print under it, `why` when one points at it.

    Rows are sorted by `key`: a number, or a text; None goes last in either direction.
    """

    text: str
    key: float | str | None = None
    mark: Mark = ""
    below: str = ""
    why: str = ""


@dataclass(frozen=True)
class Column:
    """The head of a column; `why` explains it when one points at it."""

    name: str
    why: str = ""
    numeric: bool = True


@dataclass(frozen=True)
class Table:
    """A table that sorts by any column; `name` is its file name without suffix, where the same is kept as CSV."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    name: str = ""

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"the table {self.caption!r} has {len(self.columns)} columns and a row that has not")


@dataclass(frozen=True, eq=False)
class Series:
    """A curve; `dashed` tells curves of one colour apart, `group` gives curves one colour."""

    name: str
    x: Array
    y: Array
    dashed: bool = False
    group: str = ""

    def __post_init__(self) -> None:
        if np.shape(self.x) != np.shape(self.y):
            raise ValueError(f"the series {self.name!r} has {np.size(self.x)} places and {np.size(self.y)} values")


@dataclass(frozen=True, eq=False)
class Plot:
    """Curves over common axes; `line` is a level to draw across, such as a tolerance."""

    caption: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    log_x: bool = False
    log_y: bool = True
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    line: float | None = None


@dataclass(frozen=True)
class Picture:
    """A drawing as SVG, with what it shows in words for those who do not see it."""

    caption: str
    svg: str = field(repr=False)
    alt: str


Block: TypeAlias = Text | Table | Plot | Picture


@dataclass(frozen=True, eq=False)
class Section:
    """A heading with what belongs to it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, eq=False)
class Report:
    """A page: `summary` in a few sentences first, `provenance` (machine, versions, seed, command) last."""

    title: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...]
    provenance: Mapping[str, Any]
