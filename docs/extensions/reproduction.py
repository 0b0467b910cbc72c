"""Makes the report that the page *reproduction* shows: one size of table 1, two starts.

A second build of the site goes on from the parts of the first and measures nothing again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from sphinx.util import logging

LOG = logging.getLogger(__name__)
COMMAND = ("reproduce", "table1", "--quick", "--sizes", "256", "--processes", "1")


def setup(app: Any) -> dict[str, Any]:
    """Measure when the pages are written."""
    app.connect("build-finished", measure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def measure(app: Any, error: Exception | None) -> None:
    """Write `report.html` beside the pages."""
    if error is not None or app.builder.name != "html":
        return
    folder = Path(app.outdir).parent / "reproduction"
    command = [sys.executable, "-m", "splitmerge", *COMMAND, "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        LOG.warning("splitmerge %s: %s", " ".join(COMMAND), done.stderr)
        return
    shutil.copy(folder / "report.html", Path(app.outdir) / "report.html")
