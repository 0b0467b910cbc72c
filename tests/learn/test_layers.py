"""Imports inside `splitmerge.learn` go one way: between its packages, and between the modules of a package."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import splitmerge.learn

ROOT = Path(splitmerge.learn.__file__).parent
# A package imports from those before it only. The estimators do not import from each other.
SHARED = ["data", "moments", "dask", "covariance"]
ESTIMATORS = ["cca", "discriminant", "sliced", "csp", "harmonic"]
MODULES = sorted(path for package in ROOT.iterdir() if package.is_dir() for path in package.glob("*.py"))


def name_of(path):
    return f"{path.parent.name}.{path.stem}"


def imports_of(path):
    """The modules of `learn` that a module imports, inside functions and for type checking, too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or not 1 <= node.level <= 2:
            continue
        package = [path.parent.name] if node.level == 1 else []
        parts = [*package, *(node.module or "").split(".")]
        yield ".".join(part for part in parts if part)


def test_every_package_has_its_place():
    folders = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()}
    assert folders == {*SHARED, *ESTIMATORS}
    assert [path.name for path in ROOT.glob("*.py")] == ["__init__.py"]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_come_from_earlier_packages(path):
    package = path.parent.name
    allowed = {package, *(SHARED if package in ESTIMATORS else SHARED[: SHARED.index(package)])}
    assert {found.partition(".")[0] for found in imports_of(path)} <= allowed


def test_modules_do_not_import_in_circles():
    graph = {name_of(path): {found for found in imports_of(path) if "." in found} for path in MODULES}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(MODULES)
