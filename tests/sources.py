"""The modules of the package as syntax trees, for the tests that look at the source and not at what it computes."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"
PACKAGE = SRC / "splitmerge"


def name_of(path):
    """The dotted name of a module or package."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def tree_of(name):
    return ast.parse(PATHS[name].read_text(encoding="utf-8"))


def _typing_only(tree):
    """Every node below an `if TYPE_CHECKING:`."""
    return {
        id(below)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for child in node.body
        for below in ast.walk(child)
    }


def imports_in(tree, name, modules, *, is_package):
    """The modules among `modules` that one imports anywhere, but not for type checkers only, and in which line."""
    ignored = _typing_only(tree)
    here = name.split(".")[: None if is_package else -1]
    for node in ast.walk(tree):
        if id(node) in ignored:
            continue
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = here[: len(here) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            # `from package import module` imports the module
            found = [f"{base}.{alias.name}" for alias in node.names]
            found = [target if target in modules else base for target in found]
        else:
            continue
        yield from ((target, node.lineno) for target in found if target in modules)


@cache
def imports_of(name):
    return tuple(imports_in(tree_of(name), name, PATHS, is_package=PATHS[name].name == "__init__.py"))


def functions_in(tree):
    """Every function and method with its qualified name, nested ones included."""
    found = []

    def visit(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.append((f"{prefix}{child.name}", child))
            inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            visit(child, f"{prefix}{child.name}." if inside else prefix)

    visit(tree, "")
    return found


@cache
def functions_of(name):
    return functions_in(tree_of(name))


@cache
def _calls(name):
    """Every call in a module with the innermost function around it."""
    calls = [node for node in ast.walk(tree_of(name)) if isinstance(node, ast.Call)]

    def around(node):
        found = [f for f, where in functions_of(name) if where.lineno <= node.lineno <= where.end_lineno]
        return found[-1] if found else ""

    return [(around(node), node.func) for node in calls]


def calls_of(wanted):
    """Where `wanted(…)` and `….wanted(…)` are called: (module, function, the object as it is written or None)."""
    for name in PATHS:
        for function, called in _calls(name):
            if isinstance(called, ast.Attribute) and called.attr == wanted:
                yield name, function, ast.unparse(called.value)
            if isinstance(called, ast.Name) and called.id == wanted:
                yield name, function, None
