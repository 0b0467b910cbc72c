"""Every public name has an entry in docs/api and an example that runs, and every page is in a table of contents."""

import inspect
import posixpath
import re

import pytest

import splitmerge as sm
import splitmerge.learn
from pages import DOCS, blocks_of, pages

MODULES = {module.__name__: module for module in (sm, sm.gallery, splitmerge.learn)}
PUBLIC = [(home, name) for home, module in MODULES.items() for name in module.__all__]
ENTRY = re.compile(r"\.\. data:: (\w+)|^   (\w+)$")


def entries():
    """The names that the pages in docs/api list, with their modules."""
    for page in sorted((DOCS / "api").glob("*.md")):
        home = None
        for line in page.read_text(encoding="utf-8").splitlines():
            if module := re.match(r"\.\. (?:current)?module:: ([\w.]+)", line):
                home = module[1]
                if line.startswith(".. module") and home.count("."):
                    yield tuple(home.rsplit(".", 1))
            elif entry := ENTRY.match(line):
                yield home, entry[1] or entry[2]


def examples():
    """All Python code of the pages that is run."""
    return "\n".join(
        block.text for name in pages() for block in blocks_of(name) if block.kind == "python" and block.runs
    )


def test_every_public_name_has_one_entry():
    assert sorted(entries()) == sorted(PUBLIC)


@pytest.mark.parametrize(("home", "name"), PUBLIC)
def test_every_public_name_has_an_example(home, name):
    thing = getattr(MODULES[home], name)
    in_docstring = ">>>" in (inspect.getdoc(thing) or "")
    assert in_docstring or re.search(rf"\b{name}\b", examples()), f"{home}.{name} has no example that is run"


def test_every_page_is_in_a_table_of_contents():
    listed = {"index.md"}
    for name in pages():
        text = (DOCS / name).read_text(encoding="utf-8")
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```$", text, re.S | re.M):
            entries = [line.strip() for line in block.splitlines() if line.strip() and not line.startswith(":")]
            listed |= {posixpath.normpath(posixpath.join(posixpath.dirname(name), entry)) + ".md" for entry in entries}
    assert set(pages()) <= listed
