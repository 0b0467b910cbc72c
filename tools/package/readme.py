"""Execute a README from top to bottom: every Python block in one namespace, every shell line, in the order of the text.

It runs in the environment that the README is tried in, which is empty before the line that installs splitmerge. Only
the standard library is imported before that.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import re
import shlex
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.S | re.M)
INSTALLED = re.compile(r"\.(\[[\w,]+\])?")
# Lines that are not run, and why.
SKIPPED = {
    "make": "make builds an environment of its own, and is tried by itself",
    "mpiexec": "PETSc is not installed by pip; see make test-mpi",
}
MINUTES = "it takes minutes; --long runs it"
# Added to a line that would take an hour.
SHORTER: dict[tuple[str, ...], list[str]] = {("reproduce", "table1"): ["--sizes", "256", "--trials", "1"]}
# The longest that a line may take, in seconds.
TIMEOUT = 3600


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the number of the line that the text begins in."""

    language: str
    text: str
    line: int


@dataclass(frozen=True)
class Step:
    """What came of a block or a line: `state` is "run", "not run" or "failed", `why` the reason of the last two."""

    line: int
    text: str
    state: str
    why: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        told = f"{self.state:<7} {self.line:4d}  {self.text}"
        if self.state != "not run":
            told += f"  ({self.seconds:.1f} s)"
        return f"{told}: {self.why}" if self.why else told


def blocks(text: str, *languages: str) -> list[Block]:
    """The fenced blocks in these languages, in order.

    >>> blocks("# Use\\n```python\\nx = 1\\n```\\n", "python")
    [Block(language='python', text='x = 1\\n', line=3)]
    """
    found = [Block(match[1], match[2], text.count("\n", 0, match.start(2)) + 1) for match in FENCE.finditer(text)]
    return [block for block in found if block.language in languages]


def words_of(line: str) -> list[str]:
    """The words of a shell line, without the comment that follows it.

    >>> words_of("splitmerge solve K.mtx -k 2  # two values")
    ['splitmerge', 'solve', 'K.mtx', '-k', '2']
    """
    return shlex.split(line.strip().partition("  ")[0].partition(" #")[0])


def lines_of(text: str, *programs: str) -> list[str]:
    """The shell lines of a text in Markdown, without comments; only those that start one of the programs, if given."""
    lines = [shlex.join(words_of(line)) for block in blocks(text, "console") for line in block.text.splitlines()]
    return [line for line in lines if not programs or line.split(" ")[0] in programs]


def write_mikota(folder: Path, n: int = 30) -> None:
    """K.mtx and M.mtx, Mikota's chain with the eigenvalues 1, 4, …, n², and pair.npz with both, dense."""
    import numpy as np
    import scipy.io

    from splitmerge.gallery import mikota_chain

    K, M = mikota_chain(n)
    scipy.io.mmwrite(folder / "K.mtx", K, symmetry="symmetric")
    scipy.io.mmwrite(folder / "M.mtx", M, symmetry="symmetric")
    np.savez(folder / "pair.npz", K=K.toarray(), M=M.toarray())


def execute(text: str, wheel: str, *, long: bool = False) -> Iterator[Step]:
    """Run the README with the text in the current folder; `pip install .` installs the wheel."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(text, "python", "console"):
        if block.language == "python":
            yield _run_python(block, names)
            continue
        for place, line in enumerate(block.text.splitlines()):
            if words := words_of(line):
                yield _run_line(block.line + place, words, wheel, long)


def _run_python(block: Block, names: dict[str, Any]) -> Step:
    """Execute a block; line numbers in a traceback are those of the README."""
    count = len(block.text.splitlines())
    title = f"{count} line{'s' if count > 1 else ''} of Python"
    begin, printed = time.perf_counter(), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (block.line - 1) + block.text, "README.md", "exec"), names)
    except Exception:
        said = f"{printed.getvalue()}{traceback.format_exc()}"
        return Step(block.line, title, "failed", said, time.perf_counter() - begin)
    return Step(block.line, title, "run", "", time.perf_counter() - begin)


def _run_line(number: int, words: list[str], wheel: str, long: bool) -> Step:
    """Run one line of a shell, or say why it is not run."""
    text, program = shlex.join(words), words[0]
    if program in SKIPPED:
        return Step(number, text, "not run", SKIPPED[program])
    if program == "pip":
        words = [wheel + (found[1] or "") if (found := INSTALLED.fullmatch(word)) else word for word in words]
        words = [sys.executable, "-m", "pip", *words[1:], "--quiet"]
    elif program == "splitmerge":
        if words[1] == "reproduce" and "--quick" in words and not long:
            return Step(number, text, "not run", MINUTES)
        more = SHORTER.get(tuple(words[1:3]), [])
        text = shlex.join([*words, *more])
        words = [str(Path(sys.executable).with_name("splitmerge")), *words[1:], *more]
    else:
        return Step(number, text, "failed", "no program that this script knows; add it, or the reason not to run it")
    begin = time.perf_counter()
    done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=TIMEOUT)
    seconds = time.perf_counter() - begin
    if done.returncode:
        return Step(number, text, "failed", f"exit code {done.returncode}\n{done.stdout}{done.stderr}", seconds)
    if program == "pip":
        importlib.invalidate_caches()
        write_mikota(Path())
    return Step(number, text, "run", "", seconds)


def main() -> int:
    """Print a line for each step; the exit code is 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readme", type=Path, help="the README")
    parser.add_argument("wheel", type=Path, help="the wheel that `pip install .` installs")
    parser.add_argument("--folder", type=Path, default=Path(), help="the folder to run in (default: this one)")
    parser.add_argument("--long", action="store_true", help="run the lines that take minutes, too")
    args = parser.parse_args()
    text, wheel = args.readme.read_text(encoding="utf-8"), str(args.wheel.resolve())
    os.chdir(args.folder)
    steps = []
    for step in execute(text, wheel, long=args.long):
        steps.append(step)
        print(step, flush=True)
    states = [step.state for step in steps]
    print(", ".join(f"{states.count(state)} {state}" for state in ("run", "not run", "failed")))
    return int("failed" in states or "run" not in states)


if __name__ == "__main__":
    sys.exit(main())
