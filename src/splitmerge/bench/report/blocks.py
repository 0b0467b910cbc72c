"""Building blocks of a report: sections of text, tables, interactive plots and pictures.

They are plain data, independent of their rendering as HTML.
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
    """A table cell: `text`, with `below` in small print under it and `why` as a tooltip.

    Rows are sorted by `key`, a number or a string; None is last in both directions.
    """

    text: str
    key: float | str | None = None
    mark: Mark = ""
    below: str = ""
    why: str = ""


@dataclass(frozen=True)
class Column:
    """A column heading, with `why` as a tooltip."""

    name: str
    why: str = ""
    numeric: bool = True


@dataclass(frozen=True)
class Table:
    """A table that can be sorted by any column; `name` is the stem of the CSV file with the same data."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    name: str = ""

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"the table {self.caption!r} has {len(self.columns)} columns, but a row does not")


@dataclass(frozen=True, eq=False)
class Series:
    """A curve; curves of one `group` share a colour, and `dashed` and `dotted` distinguish them.

    `colour` is the number of a colour of the page, which is then the same in all its plots.
    """

    name: str
    x: Array
    y: Array
    dashed: bool = False
    group: str = ""
    dotted: bool = False
    colour: int | None = None

    def __post_init__(self) -> None:
        if np.shape(self.x) != np.shape(self.y):
            raise ValueError(f"the series {self.name!r} has {np.size(self.x)} x and {np.size(self.y)} y values")


@dataclass(frozen=True, eq=False)
class Plot:
    """Curves on common axes; `line` is the level of a horizontal line, such as a tolerance.

    `x_ticks` are the values to be named on the x axis, instead of round ones.
    """

    caption: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    log_x: bool = False
    log_y: bool = True
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    line: float | None = None
    x_ticks: tuple[float, ...] = ()


@dataclass(frozen=True)
class Dot:
    """A positive value with its deviation, as a point with a whisker: filled, or `hollow`."""

    value: float
    told: str
    deviation: float = 0.0
    colour: int = 0
    hollow: bool = False


@dataclass(frozen=True)
class Dots:
    """Points on a logarithmic axis named `label`, in rows with names; `key` says what filled and hollow ones are."""

    caption: str
    label: str
    rows: tuple[tuple[str, tuple[Dot, ...]], ...]
    key: tuple[str, str]


@dataclass(frozen=True)
class Picture:
    """An SVG image with an alternative text for screen readers."""

    caption: str
    svg: str = field(repr=False)
    alt: str


Block: TypeAlias = Text | Table | Plot | Dots | Picture


@dataclass(frozen=True, eq=False)
class Section:
    """A heading and its blocks."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, eq=False)
class Report:
    """A page, with a `summary` of a few sentences first and the `provenance` of the results last.

    `facts` are what a reader must know of the results before reading them, by name, such as the machine.
    """

    title: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...]
    provenance: Mapping[str, Any]
    facts: Mapping[str, str] = field(default_factory=dict)
