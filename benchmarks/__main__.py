"""Run the benchmarks named on the command line, or all of them."""

from __future__ import annotations

import sys
from collections.abc import Callable

from . import cca, discriminants, overhead, peers, sliced
from .sparse import parts as sparse

BENCHMARKS: dict[str, Callable[[], None]] = {
    "overhead": overhead.main,
    "peers": peers.main,
    "sparse": sparse.main,
    "cca": cca.main,
    "discriminants": discriminants.main,
    "sliced": sliced.main,
}


def main() -> None:
    names = sys.argv[1:] or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"unknown benchmark {', '.join(unknown)}; give one or more of {', '.join(BENCHMARKS)}")
    for name in names:
        BENCHMARKS[name]()


main()
