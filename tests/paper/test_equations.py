"""Every numbered equation of the paper has one home, which says so, and a row in docs/theory.md."""

from __future__ import annotations

import ast
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "splitmerge"
THEORY = ROOT / "docs" / "theory.md"
TAG = re.compile(r"\(equation (\d+\.\d+)\)")
# how many equations the sections of the paper number
NUMBERED = {1: 1, 2: 5, 3: 10, 4: 7}


class Row(NamedTuple):
    """A row of a table: the equation (or what is stated), the home and the test."""

    what: str
    home: str
    test: str


def rows() -> list[Row]:
    """The rows of both tables."""
    lines = [line.strip("| ").split(" | ") for line in THEORY.read_text().splitlines() if line.startswith("|")]
    cells = [line for line in lines if line[-1].startswith("`test_")]
    return [Row(line[0], line[-2].strip("`"), line[-1].strip("`")) for line in cells]


def equations() -> list[Row]:
    return [row for row in rows() if re.fullmatch(r"\d+\.\d+", row.what)]


@cache
def tags() -> list[tuple[str, str]]:
    """Each tag in a docstring, with the dotted name of what the docstring belongs to."""
    found: list[tuple[str, str]] = []
    for path in sorted(SOURCE.rglob("*.py")):
        if TAG.search(text := path.read_text()):
            found += tags_in(ast.parse(text), ".".join(path.relative_to(SOURCE).with_suffix("").parts))
    return found


def tags_in(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        for equation in TAG.findall(ast.get_docstring(node) or ""):
            yield equation, name
    for child in ast.iter_child_nodes(node):
        inner = getattr(child, "name", None)
        yield from tags_in(child, f"{name}.{inner}" if inner else name)


def resolved(home: str) -> Any:
    """The object of this dotted name below `splitmerge`."""
    return pkgutil.resolve_name(f"splitmerge.{home}")


def test_table_lists_every_equation_of_the_paper() -> None:
    expected = [f"{section}.{number}" for section, last in NUMBERED.items() for number in range(1, last + 1)]
    assert [row.what for row in equations()] == expected


def test_tags_and_table_agree() -> None:
    assert sorted(tags()) == sorted((row.what, row.home) for row in equations())


def test_each_equation_has_one_home() -> None:
    homes = Counter(equation for equation, _ in tags())
    assert {equation: count for equation, count in homes.items() if count != 1} == {}
    assert all(home.startswith(("objective.", "methods.")) for _, home in tags())


def test_tags_are_in_docstrings() -> None:
    """A tag in a comment, or worded in another way, would go unnoticed above."""
    text = "".join(path.read_text() for path in SOURCE.rglob("*.py"))
    assert len(TAG.findall(text)) == len(tags())
    assert re.findall(r"\(?\b[Ee]q(?:uation|n|\.)?s? \(?\d+\.\d+", TAG.sub("", text)) == ["equation 3.10"]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.what)
def test_homes_and_tests_exist(row: Row) -> None:
    assert callable(resolved(row.home)) or isinstance(resolved(row.home), property)
    file, name = row.test.split("::")
    tree = ast.parse((Path(__file__).parent / file).read_text())
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_objective_imports_only_what_is_below_it() -> None:
    for path in (SOURCE / "objective").glob("*.py"):
        tree = ast.parse(path.read_text())
        above = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 2}
        roots = {(module or "").split(".")[0] for module in above}
        assert roots <= {"checks", "linalg", "preconditioners", "problem", "typing"}, path.name
