"""The order of the packages: nothing imports from a later layer, and no modules import each other in a circle."""

import ast

import pytest

from sources import PATHS, imports_in, imports_of

# From the ground up. The empty name is the package itself, with the public names.
LAYERS = (
    ("typing", "errors", "checks", "system"),
    ("linalg",),
    ("sparse_direct",),
    ("problem",),
    ("preconditioners",),
    ("solvers",),
    ("transforms",),
    ("objective",),
    ("run",),
    ("methods",),
    ("planning",),
    ("preparation",),
    ("verification",),
    ("solution",),
    ("slicing", "distributed"),
    ("arguments", "express", "solve", "iterates", "eigsh_request", "eigsh", "scikit_fem", "versions"),
    ("io",),
    ("gallery",),
    ("",),
    ("learn",),
    ("bench",),
    ("cli", "__main__"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

# Imports that are made when a method of `Solution` is called, and why they cannot be made before.
EXCEPTIONS = {
    ("solution.resume", "solve"): "to go on from a solution is to solve again, and solve makes solutions",
    ("solution.solution", "solution.resume"): "Solution.resume is a method, and what it calls makes another Solution",
    (
        "solution.solution",
        "solution.store",
    ): "Solution.save is a method, and a file knows what a Solution is made of",
}


def short(name):
    return name.removeprefix("splitmerge").removeprefix(".")


GRAPH = {short(name): tuple((short(target), line) for target, line in imports_of(name)) for name in PATHS}


def level(name):
    return LEVEL[name.split(".")[0]]


def upward(graph):
    return {
        (name, target)
        for name, targets in graph.items()
        for target, _ in targets
        if name and level(target) > level(name)
    }


def cycles(edges):
    """The strongly connected parts of more than one module (Tarjan)."""
    number, lowest, stack, found = {}, {}, [], []

    def visit(name):
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for target in edges.get(name, ()):
            if target not in number:
                visit(target)
            if target in stack:
                lowest[name] = min(lowest[name], lowest[target])
        if lowest[name] == number[name]:
            at = stack.index(name)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for name in edges:
        if name not in number:
            visit(name)
    return [part for part in found if len(part) > 1 or part[0] in edges.get(part[0], ())]


def test_every_module_has_a_layer():
    unplaced = sorted({name.split(".")[0] for name in GRAPH} - LEVEL.keys())
    assert not unplaced, f"not in LAYERS: {unplaced}"
    missing = sorted(LEVEL.keys() - {name.split(".")[0] for name in GRAPH})
    assert not missing, f"in LAYERS, but not in the package: {missing}"


def test_nothing_imports_from_a_later_layer():
    lines = {(name, target): line for name, targets in GRAPH.items() for target, line in targets}
    wrong = sorted(upward(GRAPH) - EXCEPTIONS.keys())
    told = [f"{name}:{lines[name, target]} imports {target or 'splitmerge'}" for name, target in wrong]
    assert not wrong, "\n".join(told)


def test_no_modules_import_each_other_in_a_circle():
    edges = {
        name: [target for target, _ in targets if (name, target) not in EXCEPTIONS] for name, targets in GRAPH.items()
    }
    circles = cycles(edges)
    assert not circles, "\n".join(" ↔ ".join(circle) for circle in circles)


@pytest.mark.parametrize("edge", EXCEPTIONS, ids="→".join)
def test_an_exception_is_needed_and_made_in_a_function(edge):
    name, target = edge
    assert target in [found for found, _ in GRAPH[name]], "this exception is not needed any more"
    tree = ast.parse(PATHS[f"splitmerge.{name}"].read_text(encoding="utf-8"))
    at_once = ast.Module([node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))], [])
    found = imports_in(at_once, f"splitmerge.{name}", PATHS, is_package=False)
    assert f"splitmerge.{target}" not in [module for module, _ in found], "it is imported with the module"


class TestTheTestItself:
    SOURCE = """
import numpy
import splitmerge.solve
from typing import TYPE_CHECKING
from ..methods import deflation, Method
from . import protocol
if TYPE_CHECKING:
    from ..solution.solution import Solution
def late():
    from ..run.loop import march
"""
    MODULES = (
        *("splitmerge.solve", "splitmerge.methods", "splitmerge.methods.deflation", "splitmerge.run.loop"),
        *("splitmerge.linalg.protocol", "splitmerge.solution.solution", "splitmerge.linalg"),
    )

    def test_imports(self):
        found = dict(imports_in(ast.parse(self.SOURCE), "splitmerge.linalg.blas", self.MODULES, is_package=False))
        wanted = {
            *("splitmerge.solve", "splitmerge.methods", "splitmerge.methods.deflation"),
            *("splitmerge.linalg.protocol", "splitmerge.run.loop"),
        }
        assert found.keys() == wanted
        inside = imports_in(ast.parse("from .blas import dot"), "splitmerge.linalg", PATHS, is_package=True)
        assert [target for target, _ in inside] == ["splitmerge.linalg.blas"]

    def test_upward(self):
        graph = {"linalg.blas": (("solve", 1),), "solve": (("linalg.blas", 1),), "cli.info": (("", 1),)}
        assert upward(graph) == {("linalg.blas", "solve")}
        assert upward({"linalg.blas": (("", 3),)}) == {("linalg.blas", "")}, "the public names are above the ground"

    def test_cycles(self):
        assert cycles({"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": []}) == [["a", "b", "c"]]
        assert cycles({"a": ["b", "c"], "b": ["c"], "c": []}) == []
        assert cycles({"a": ["a"]}) == [["a"]]
