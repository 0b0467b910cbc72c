"""Every code block of the pages in docs/ runs, and prints what the page says that it prints.

The Python blocks of a page share their names; the lines of console blocks are run in a folder with K.mtx, M.mtx and
pair.npz. A block `text` that directly follows is the expected output, in which … stands for anything. A block that
cannot run is marked by a comment `<!-- not run: the reason -->` above it.
"""

import contextlib
import io
import re

import pytest
from tools.package.readme import words_of

from pages import DOCS, blocks_of, pages
from splitmerge.cli import main

# Blocks that are marked as not run. Change it with the pages: what is not run is not known to work.
NOT_RUN = {"start.md": 1, "mpi.md": 1, "reproduction.md": 1, "howto/coming_from.md": 3}


def printed_by(block, name, names):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        if block.kind == "python":
            # with the line numbers of the page, for tracebacks
            exec(compile("\n" * (block.line - 1) + block.text, str(DOCS / name), "exec"), names)
        else:
            for line in block.text.splitlines():
                assert line.startswith("splitmerge "), f"{name}: {line!r} is not run by this test; mark the block"
                assert main(words_of(line)[1:]) == 0, line
    return printed.getvalue()


def pattern_of(output):
    """The expected output as a regular expression."""
    return ".*".join(map(re.escape, output.strip().split("…")))


@pytest.mark.parametrize("name", [name for name in pages() if any(block.runs for block in blocks_of(name))])
def test_blocks_run(name, here, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    names = {"__name__": "page"}
    for block in blocks_of(name):
        if not block.runs:
            continue
        printed = printed_by(block, name, names)
        if block.output is not None:
            assert re.fullmatch(pattern_of(block.output), printed.strip(), re.S), f"{name}:{block.line}\n{printed}"


def test_blocks_are_of_a_known_kind():
    assert {block.kind for name in pages() for block in blocks_of(name)} == {"python", "console", "text"}


def test_blocks_that_are_not_run_are_counted():
    counts = {name: sum(block.reason is not None for block in blocks_of(name)) for name in pages()}
    assert {name: count for name, count in counts.items() if count} == NOT_RUN


def test_there_are_blocks_to_run():
    assert sum(block.runs for name in pages() for block in blocks_of(name)) >= 45
