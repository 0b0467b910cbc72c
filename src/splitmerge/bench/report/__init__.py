"""HTML reports: their building blocks and their rendering."""

from .blocks import Block, Cell, Column, Dot, Dots, Picture, Plot, Report, Section, Series, Table, Text
from .csv_file import table_as_csv
from .page import html, write

__all__ = [
    "Block",
    "Cell",
    "Column",
    "Dot",
    "Dots",
    "Picture",
    "Plot",
    "Report",
    "Section",
    "Series",
    "Table",
    "Text",
    "html",
    "table_as_csv",
    "write",
]
