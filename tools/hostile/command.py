"""The same files given to the command line, as a user would."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from ..base import ROOT
from .cases import Case
from .outcome import SECONDS, Outcome

COMMANDS = (("info",), ("solve", "-k", "1", "--max-seconds", "5"))
# 0 is success, 1 a pair that did not converge, 2 a file or a pair that was refused
KNOWN_CODES = (0, 1, 2)


def commanded(case: Case) -> Outcome:
    """Run `info` or `solve` on the file: exit code 2 comes with one line on stderr, and nothing else is a traceback."""
    words = COMMANDS[case.number % len(COMMANDS)]
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    start = time.perf_counter()
    command = [sys.executable, "-m", "splitmerge", words[0], str(case.path), *words[1:]]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            env=os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        return Outcome("hang", " ".join(command), 0, 1, SECONDS)
    seconds = time.perf_counter() - start
    said = done.stderr.decode("utf-8", "replace")
    text = f"{words[0]}: exit code {done.returncode}, {said or 'nothing on stderr'}"
    if done.returncode not in KNOWN_CODES:
        return Outcome("crash", text, 0, 1, seconds)
    lines = said.count("\n")
    expected = 1 if done.returncode else 0
    if lines != expected or (done.returncode == 2 and not said.startswith("splitmerge: error: ")):
        return Outcome("traceback", text, 0, 1, seconds)
    return Outcome("sentence" if done.returncode else "answer", text, 0, 1, seconds)
