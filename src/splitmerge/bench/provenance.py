"""Provenance of results: versions, machine, command and seed, without personal data."""

from __future__ import annotations

import os
import platform
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy


def provenance(command: str | None = None, seed: Any = None) -> dict[str, Any]:
    """Versions, BLAS library and threads, platform, processor, cores, date in UTC, command line and seed.

    Home folders in the command are replaced by ~; host and user names are not included.

    >>> sorted(provenance("splitmerge demo", 0))[:4]
    ['blas', 'command', 'cores', 'date']
    """
    from .. import __version__

    blas, threads = _blas()
    return {
        "splitmerge": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "blas": blas,
        "threads": threads,
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}".strip(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        "command": None if command is None else without_homes(command),
        "seed": seed,
    }


def without_homes(text: str) -> str:
    """The text with all home folders replaced by ~."""
    home = str(Path.home())
    if len(home) > 1:
        text = re.sub(rf"(?<![^\s='\"]){re.escape(home)}(?=/|\\|\s|['\"]|$)", "~", text)
    return re.sub(r"(?<![^\s='\"])/(?:home|Users)/[^/\s'\"]+", "~", text)


def _blas() -> tuple[str, int | None]:
    """Names and versions of the loaded BLAS libraries, and the largest number of threads among them."""
    from threadpoolctl import threadpool_info

    found = [library for library in threadpool_info() if library.get("user_api") == "blas"]
    names = {f"{library.get('internal_api')} {library.get('version') or ''}".strip() for library in found}
    threads = max((int(library["num_threads"]) for library in found), default=None)
    return ", ".join(sorted(names)) or "unknown", threads


def _processor() -> str:
    """The model name of the processor."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.lower().startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
