"""Available memory."""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path


def free_memory() -> float:
    """Bytes available under the limits of the machine, the process and its cgroup; infinite if unknown."""
    return min(_of_the_machine(), _of_the_process(), _of_the_group())


def _of_the_machine() -> float:
    with contextlib.suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    with contextlib.suppress(AttributeError, ValueError, OSError):
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return math.inf


def _of_the_process() -> float:
    try:
        import resource
    except ImportError:
        # the `resource` module is Unix-only
        return math.inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return math.inf
    with contextlib.suppress(OSError):
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        return float(max(limit - taken, 0))
    return float(limit)


def _of_the_group() -> float:
    with contextlib.suppress(OSError, ValueError):
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        return float(max(limit - int(Path("/sys/fs/cgroup/memory.current").read_text()), 0))
    return math.inf
