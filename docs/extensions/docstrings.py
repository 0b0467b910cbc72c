"""Docstrings are written for `help()`: single backquotes for code, and |λ| for a modulus. Sphinx reads them as RST."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import Any

from sphinx.util import logging

import splitmerge
import splitmerge.gallery
import splitmerge.learn

LOG = logging.getLogger(__name__)

CODE = re.compile(r"(?<![`:])`([^`]+)`(?!`)")
# what reStructuredText would take for a substitution or a reference
MARKUP = re.compile(r"(\||\w_(?=\W|$))")


def setup(app: Any) -> dict[str, Any]:
    """Rewrite docstrings before Sphinx parses them."""
    app.connect("autodoc-process-docstring", rewrite)
    app.connect("autodoc-skip-member", is_foreign)
    app.connect("env-check-consistency", complain_about_missing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def rewrite(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Turn every line of a docstring but the examples into reStructuredText."""
    lines[:] = _joined(lines)
    # lines of examples (>>> and ...), and the directives that napoleon makes
    kept = (">>>", "..")
    lines[:] = [line if line.lstrip().startswith(kept) else worded(line) for line in lines]


def is_foreign(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Is it inherited from another library, which documents it? None leaves the decision to autodoc."""
    thing = thing.fget if isinstance(thing, property) else thing
    module = getattr(inspect.unwrap(thing), "__module__", None) if callable(thing) else None
    return True if module and not module.startswith("splitmerge") else None


def complain_about_missing(app: Any, env: Any) -> None:
    """Warn, which ends `make docs`, about a public name without an entry."""
    entries = env.get_domain("py").objects
    for name, home in public().items():
        if f"{home}.{name}" not in entries:
            LOG.warning("%s.%s has no entry; add it to a page of docs/api", home, name)


def _joined(lines: list[str]) -> list[str]:
    """The lines, without a backquoted text that continues on the next line."""
    joined: list[str] = []
    for line in lines:
        if joined and joined[-1].replace("``", "").count("`") % 2:
            joined[-1] += " " + line.strip()
        else:
            joined.append(line)
    return joined


def worded(line: str) -> str:
    """A line with its code marked as code, and linked where it is a public name."""
    parts = CODE.split(line)
    parts[::2] = [part if "``" in part or ":`" in part else MARKUP.sub(_escaped, part) for part in parts[::2]]
    parts[1::2] = [_linked(part) for part in parts[1::2]]
    return "".join(parts)


def _escaped(match: re.Match[str]) -> str:
    text = match.group()
    return f"{text[:-1]}\\{text[-1]}"


def _linked(code: str) -> str:
    name = code.removeprefix("splitmerge.").partition("(")[0]
    home = public().get(name)
    return f":py:obj:`{code} <{home}.{name}>`" if home and "(" not in code else f"``{code}``"


@cache
def public() -> dict[str, str]:
    """The module of every public name."""
    modules = splitmerge.gallery, splitmerge.learn, splitmerge
    return {name: module.__name__ for module in modules for name in module.__all__ if name != "gallery"}
