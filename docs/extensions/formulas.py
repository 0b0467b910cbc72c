"""Formulas as SVG, drawn by matplotlib: MathJax would be fetched from the network, and MathML needs a font for it.

They have the colour and the size of the text around them. Of LaTeX they may use what matplotlib's mathtext knows.
"""

from __future__ import annotations

from functools import cache
from html import escape
from typing import Any

import numpy as np
from docutils import nodes
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import text_to_path
from sphinx.util import logging

LOG = logging.getLogger(__name__)
SIZE = 10.0
# how large a formula is beside the text, whose letters are as high as those of a sans-serif font
SCALE = 1.18
PADDING = 0.5
LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}
# what mathtext calls otherwise
WORDS = {r"\tfrac": r"\frac", r"\lVert": r"\Vert", r"\rVert": r"\Vert"}


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer `svg`."""
    app.add_html_math_renderer("svg", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(translator: Any, node: nodes.math) -> None:
    """A formula in a line of text."""
    translator.body.append(drawn(node))
    raise nodes.SkipNode


def display(translator: Any, node: nodes.math_block) -> None:
    r"""A formula on a line of its own; on a narrow page the parts that \qquad separates stand below each other."""
    text = node.astext().replace("\n", " ").replace(r"\frac", r"\dfrac")
    parts = "".join(f"<span>{drawn(node, part.strip())}</span>" for part in text.split(r"\qquad"))
    translator.body.append(f'<div class="formula">{parts}</div>')
    raise nodes.SkipNode


def drawn(node: nodes.Element, text: str | None = None) -> str:
    """The formula as SVG; one that cannot be drawn is a warning, and with `make docs` an error."""
    text = node.astext().replace("\n", " ") if text is None else text
    try:
        return svg(text)
    except ValueError as error:
        LOG.warning("%s: %s", text, error, location=node)
        return ""


@cache
def svg(formula: str) -> str:
    """An SVG element whose baseline is that of the text."""
    for theirs, ours in WORDS.items():
        formula = formula.replace(theirs, ours)
    font = FontProperties(size=SIZE, math_fontfamily="stix")
    width, height, depth = text_to_path.get_text_width_height_descent(f"${formula}$", font, ismath=True)
    vertices, codes = text_to_path.get_text_path(font, f"${formula}$", ismath=True)
    shape = Path(np.array(vertices) * (SIZE / text_to_path.FONT_SCALE), codes)
    width, height, depth = width + 2 * PADDING, height + 2 * PADDING, depth + PADDING
    outline = " ".join(
        LETTERS[code] + " ".join(f"{x + PADDING:.2f} {height - depth - y:.2f}" for x, y in points.reshape(-1, 2))
        if code != Path.CLOSEPOLY
        else "Z"
        for points, code in shape.iter_segments(simplify=False)
    )
    em = SCALE / SIZE
    return (
        f'<svg class="math" role="img" aria-label="{escape(formula)}" viewBox="0 0 {width:.2f} {height:.2f}" '
        f'style="width:{width * em:.3f}em;height:{height * em:.3f}em;vertical-align:{-depth * em:.3f}em">'
        f'<path d="{outline}" fill="currentColor"/></svg>'
    )
