"""Writes the help of every command to docs/_generated, for the page about the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from splitmerge.cli.entry import COMMANDS

FOLDER = Path(__file__).resolve().parents[1] / "_generated"


def setup(app: Any) -> dict[str, Any]:
    """Write before the pages are read."""
    app.connect("builder-inited", write_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_all(app: Any) -> None:
    """One file per command."""
    FOLDER.mkdir(exist_ok=True)
    for name in [module.__name__.rpartition(".")[2] for module in COMMANDS]:
        command = [sys.executable, "-m", "splitmerge", name, "--help"]
        environment = os.environ | {"COLUMNS": "88", "NO_COLOR": "1"}
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True, env=environment)
        (FOLDER / f"help-{name}.txt").write_text(done.stdout, encoding="utf-8")
