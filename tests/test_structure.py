"""How large a folder, a file and a function may become, and how many ways may lead through a function."""

import ast

import pytest

from sources import PACKAGE, PATHS, functions_in, functions_of

# Modules in the package itself and in every folder below it; `__init__.py` is not counted.
MAX_FLAT, MAX_MODULES = 12, 10
MAX_FILE_LINES, MAX_FUNCTION_LINES, MAX_COMPLEXITY = 330, 45, 12

BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of(function):
    """Lines from `def` to the end, without those of the docstring."""
    first = function.body[0]
    has_docstring = ast.get_docstring(function, clean=False) is not None
    docstring = first.end_lineno - first.lineno + 1 if has_docstring else 0
    return function.end_lineno - function.lineno + 1 - docstring


def complexity_of(function):
    """Cyclomatic complexity: 1, and 1 for every way to branch.

    That is every `if`, `elif`, conditional expression, `for`, `while`, `except`, `case` and `if` of a comprehension,
    and every `and` or `or` (two in `a and b and c`). `with`, `else`, `finally`, `assert` and the `for` of a
    comprehension do not count. A nested function counts by itself, a lambda to the function around it.
    """
    count = 1

    def visit(node):
        nonlocal count
        for child in ast.iter_child_nodes(node):
            if isinstance(child, FUNCTIONS):
                continue
            count += isinstance(child, BRANCHES)
            if isinstance(child, ast.BoolOp):
                count += len(child.values) - 1
            if isinstance(child, ast.comprehension):
                count += len(child.ifs)
            visit(child)

    visit(function)
    return count


def over(limit, numbers):
    """The offenders, the worst first."""
    return [f"{number:5d} {name}" for number, name in sorted(numbers, reverse=True) if number > limit]


def every_function():
    return [(f"{name}:{function}", node) for name in PATHS for function, node in functions_of(name)]


def modules_in(folder):
    return sum(path.name != "__init__.py" for path in folder.glob("*.py"))


def test_folders():
    folders = [folder for folder in PACKAGE.rglob("*") if folder.is_dir() and modules_in(folder)]
    offenders = over(MAX_MODULES, [(modules_in(folder), str(folder.relative_to(PACKAGE))) for folder in folders])
    offenders += over(MAX_FLAT, [(modules_in(PACKAGE), "splitmerge itself")])
    assert not offenders, f"folders with more than {MAX_MODULES} modules:\n" + "\n".join(offenders)


def test_files():
    numbers = [(len(path.read_text(encoding="utf-8").splitlines()), name) for name, path in PATHS.items()]
    offenders = over(MAX_FILE_LINES, numbers)
    assert not offenders, f"files of more than {MAX_FILE_LINES} lines:\n" + "\n".join(offenders)


def test_function_lines():
    offenders = over(MAX_FUNCTION_LINES, [(lines_of(node), name) for name, node in every_function()])
    assert not offenders, f"functions of more than {MAX_FUNCTION_LINES} lines:\n" + "\n".join(offenders)


def test_complexity():
    offenders = over(MAX_COMPLEXITY, [(complexity_of(node), name) for name, node in every_function()])
    assert not offenders, f"functions with a complexity above {MAX_COMPLEXITY}:\n" + "\n".join(offenders)


class TestTheTestItself:
    @pytest.mark.parametrize(
        ("body", "complexity"),
        [
            ("pass", 1),
            ("if a: pass", 2),
            ("if a: pass\n elif b: pass\n else: pass", 3),
            ("return a if b else c", 2),
            ("return a and b and c or d", 4),
            ("for a in b: pass\n else: pass", 2),
            ("while a: pass", 2),
            ("try: pass\n except A: pass\n except B: pass\n finally: pass", 3),
            ("with a: pass", 1),
            ("assert a", 1),
            ("return [a for a in b if c if d]", 3),
            ("return [a for a in b for c in d]", 1),
            ("match a:\n  case 1: pass\n  case _: pass", 3),
            ("def g():\n  if a: pass", 1),
            ("return lambda a: a or 1", 2),
        ],
    )
    def test_complexity_of(self, body, complexity):
        assert complexity_of(ast.parse(f"def f():\n {body}").body[0]) == complexity

    def test_lines_of(self):
        lines = [lines_of(f) for f in ast.parse('def f():\n  """One\n  two."""\n\n  return 1\ndef g(): pass').body]
        assert lines == [3, 1]

    def test_functions_are_found_wherever_they_are(self):
        source = "class C:\n  def f(self):\n    def g(): pass\nif 1:\n  def h(): pass"
        assert [name for name, _ in functions_in(ast.parse(source))] == ["C.f", "C.f.g", "h"]
