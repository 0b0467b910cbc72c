"""Draws the figures of the pages when the site is built: `docs/drawings`, and what the page *start* draws itself.

Each is written twice as SVG, for light and for dark pages, to docs/_generated.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
FOLDER = DOCS / "_generated"
SHARED = {
    "minimum": "#2a9d6f",
    "saddle": "#d1662b",
    "gradient": "#d1662b",
    "power": "#3a7fd5",
    "mirror descent": "#d1662b",
    "Split-Merge": "#a64ac9",
    "default": "#2a9d6f",
}
INK = {
    "light": SHARED | {"theme": "light", "paper": "#ffffff", "text": "#222222", "faint": "#b5b5b5"},
    "dark": SHARED
    | {"theme": "dark", "paper": "#131416", "text": "#e6e6e6", "faint": "#6a6a6a"}
    | {"power": "#6ea8f0", "Split-Merge": "#cb86e6"},
}
DRAWINGS = ("landscape", "step", "products", "directions", "discriminants", "ridge_path")
# pages whose last Python block leaves a figure: the name of the file that it writes
PAGES = {"start.md": "modes", "howto/spatial_filters.md": "spatial_filters"}


def setup(app: Any) -> dict[str, Any]:
    """Draw before the pages are read."""
    app.connect("builder-inited", draw_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def draw_all(app: Any) -> None:
    """Every figure, for light and dark pages."""
    import matplotlib

    matplotlib.use("svg")
    FOLDER.mkdir(exist_ok=True)
    sys.path.insert(0, str(DOCS))
    from importlib import import_module

    for theme, ink in INK.items():
        with matplotlib.rc_context(style(ink)):
            for name in DRAWINGS:
                for part, figure in import_module(f"drawings.{name}").draw(ink).items():
                    write(figure, "-".join(filter(None, (name, part, theme))))
            for page, name in PAGES.items():
                write(drawn_by(DOCS / page), f"{name}-{theme}")


def style(ink: dict[str, str]) -> dict[str, Any]:
    """Transparent, with the colour of the text for everything that is not a curve; the same bytes every time."""
    names = "text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color", "axes.titlecolor"
    colours = dict.fromkeys(names, ink["text"])
    return colours | {
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "legend.facecolor": "none",
        "legend.framealpha": 0.0,
        "legend.edgecolor": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 10,
        "axes.labelsize": 9,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "font.family": "DejaVu Sans",
        "svg.fonttype": "path",
        "svg.hashsalt": "splitmerge",
    }


def write(figure: Any, name: str) -> None:
    """The figure as a file that only changes when the figure does."""
    figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})


def drawn_by(page: Path) -> Any:
    """The figure that the Python blocks of a page draw."""
    import matplotlib.pyplot as plt

    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            exec(compile("\n".join(blocks), page.name, "exec"), {"print": lambda *_: None})
            figure = plt.gcf()
        finally:
            os.chdir(before)
    plt.close(figure)
    return figure
