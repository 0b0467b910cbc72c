"""Formulas as MathML, which browsers draw by themselves: MathJax would be fetched from the network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

LOG = logging.getLogger(__name__)


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(translator: Any, node: nodes.math) -> None:
    """A formula in a line of text."""
    translator.body.append(drawn(node))
    raise nodes.SkipNode


def display(translator: Any, node: nodes.math_block) -> None:
    """A formula on a line of its own, which can be scrolled where the page is narrow."""
    translator.body.append(f'<div class="math-block">{drawn(node, as_block=True)}</div>')
    raise nodes.SkipNode


def drawn(node: nodes.Element, **options: Any) -> str:
    """The formula as MathML; one that cannot be translated is a warning, and with `make docs` an error."""
    try:
        return str(tex2mathml(node.astext(), **options))
    except MathError as error:
        LOG.warning("%s: %s", node.astext(), error, location=node)
        return ""
