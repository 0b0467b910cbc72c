"""Checkout of another commit in a worktree, and processes that import splitmerge from a given source tree."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def source_of(commit: str) -> Iterator[Path]:
    """The folder `src` of a commit, in a git worktree that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "base"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            yield tree / "src"
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def started(source: Path, module: str, *words: str, **pipes: Any) -> subprocess.Popen[str]:
    """Start `python -m module SOURCE WORDS`, with splitmerge imported from `source` and one BLAS thread."""
    env = {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": str(source), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", module, str(source), *words]
    return subprocess.Popen(command, env=env, cwd=ROOT, text=True, **pipes)


def check_source() -> None:
    """Exit if splitmerge was not imported from the source tree given as first argument."""
    import splitmerge

    source = Path(sys.argv[1]).resolve()
    if source not in Path(splitmerge.__file__).resolve().parents:
        sys.exit(f"splitmerge was imported from {splitmerge.__file__}, not from {source}")
