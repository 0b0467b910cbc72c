"""Reports: what they consist of, and the page that shows it."""

from .blocks import Block, Cell, Column, Picture, Plot, Report, Section, Series, Table, Text
from .page import html, write

__all__ = [
    "Block",
    "Cell",
    "Column",
    "Picture",
    "Plot",
    "Report",
    "Section",
    "Series",
    "Table",
    "Text",
    "html",
    "write",
]
