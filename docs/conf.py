"""Settings of Sphinx; `make docs` builds the site into out/docs/html."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "extensions"))

from pygments.lexers.shell import BashLexer  # noqa: E402

import splitmerge  # noqa: E402

project = "splitmerge"
author = "The splitmerge developers"
copyright = "the splitmerge developers, BSD-3-Clause"
version = release = splitmerge.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    # ours, from docs/extensions
    "docstrings",
    "figures",
    "formulas",
    "help_texts",
    "reproduction",
]
templates_path = ["_templates"]

# MyST
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_block", "attrs_inline"]
myst_heading_anchors = 3
html_math_renderer = "svg"

# API
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
python_maximum_signature_line_length = 88
toc_object_entries = False

# HTML: nothing is fetched from the network, neither while building nor while reading
html_theme = "furo"
html_title = "splitmerge"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
# excerpts are fetched by the page, which a browser refuses to pages from disk
html_show_search_summary = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Gallery: what an earlier build left does not count
exclude_patterns: list[str] = []
GALLERY = ROOT / "examples" / "gallery"
if any(GALLERY.glob("plot_*.py")):
    extensions.append("sphinx_gallery.gen_gallery")
    sphinx_gallery_conf = {
        "examples_dirs": [str(GALLERY)],
        "gallery_dirs": ["gallery"],
        "filename_pattern": r"/plot_",
        "abort_on_example_error": True,
        "download_all_examples": False,
        "plot_gallery": True,
        "remove_config_comments": True,
        "show_memory": False,
        "show_signature": False,
        "write_computation_times": False,
    }
else:
    exclude_patterns.append("gallery")


def setup(app: Any) -> None:
    """Commands have no prompt; and pages do without links to the gallery, where there is none."""
    app.add_lexer("console", BashLexer)
    if "sphinx_gallery.gen_gallery" not in extensions:
        app.connect("source-read", without_gallery)


def without_gallery(app: Any, name: str, source: list[str]) -> None:
    """Remove the lines that lead to it."""
    source[0] = "\n".join(line for line in source[0].split("\n") if "gallery/index" not in line)
