"""Small solves by the working tree and by another commit, from interleaved timings with one thread.

Each version runs in a separate process. The processes wait for requests of the parent, so that only one is active at a
time. CPU time is measured, because other load affects it least.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from tools.base import ROOT, check_source, source_of, started

# Process starts, because memory alignment changes the speed of BLAS, and timing rounds per start.
PROCESS_STARTS, TIMING_ROUNDS = 6, 8
# Approximate seconds per timing request, and the maximum number of runs in it.
SECONDS_PER_REQUEST, MAX_RUNS_PER_REQUEST = 0.03, 200
# Ratio of the new to the old time from which a case is reported as slower.
MAX_TIME_RATIO = 1.05

Sample = dict[str, list[float]]


def cases() -> dict[str, Callable[[], Any]]:
    """The timed calls by name, including set-up."""
    import splitmerge as sm

    found: dict[str, Callable[[], Any]] = {}
    for n in (8, 64, 256, 300):
        A, B = sm.gallery.synthetic_pair(n, 10, rng=0)
        for k in (1, 5):
            found[f"dense n={n} k={k}"] = partial(sm.solve, A, B, k, rng=0)
        if n == 256:
            found["dense n=256 k=1 SplitMerge"] = partial(sm.solve, A, B, method=sm.SplitMerge(), rng=0, tol=1e-6)
    K, M = sm.gallery.stencil_cube(11)
    for target in ({"which": "smallest"}, {"which": "largest"}, {"sigma": 100.0}):
        found[f"sparse n=1000 k=5 {next(iter(target.values()))}"] = partial(sm.solve, K, M, 5, rng=0, **target)
    return found


def child() -> None:
    """Answer each request, a case and a number of runs in JSON, with the seconds of the runs."""
    check_source()
    known = cases()
    gc.disable()
    for line in sys.stdin:
        name, runs = json.loads(line)
        gc.collect()
        seconds = []
        for _ in range(runs):
            begin = time.process_time()
            known[name]()
            seconds.append(time.process_time() - begin)
        print(json.dumps(seconds), flush=True)


def ask(process: subprocess.Popen[str], name: str, runs: int) -> list[float]:
    """Request the seconds of some runs from a child process."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps([name, runs]) + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise SystemExit(f"the child process ended with exit code {process.wait()}")
    seconds: list[float] = json.loads(answer)
    return seconds


def measure(sources: list[Path], names: list[str], samples: list[Sample], *, swap: bool) -> None:
    """Start a process for each version and add their alternating measurements to the samples."""
    with ExitStack() as stack:
        processes = []
        for source in reversed(sources) if swap else sources:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            processes.append(stack.enter_context(started(source, "benchmarks.since", **pipes)))
            stack.callback(processes[-1].kill)
        sides = list(zip(processes, reversed(samples) if swap else samples, strict=True))
        for name in names:
            # warm up: the first call includes imports and caches
            warm = max(ask(process, name, 3)[-1] for process, _ in sides)
            runs = min(max(round(SECONDS_PER_REQUEST / warm), 1), MAX_RUNS_PER_REQUEST)
            for turn in range(TIMING_ROUNDS):
                for process, sample in sides if turn % 2 else reversed(sides):
                    sample[name] += ask(process, name, runs)


def show(names: list[str], old: Sample, new: Sample) -> int:
    """Print one row per case, and return the number of slower cases."""
    print(f"  {'case':28} {'base':>10} {'now':>10} {'of minima':>10} {'of medians':>11}")
    slower = 0
    for name in names:
        least, median = (stat(new[name]) / stat(old[name]) for stat in (min, statistics.median))
        slower += least > MAX_TIME_RATIO
        flag = f"  > {MAX_TIME_RATIO}" if least > MAX_TIME_RATIO else ""
        milliseconds = " ".join(f"{1e3 * min(side[name]):7.3f} ms" for side in (old, new))
        print(f"  {name:28} {milliseconds} {least:10.3f} {median:11.3f}{flag}")
    return slower


def main(base: str, only: str = "") -> int:
    """Compare with the commit; returns 1 if a case became slower."""
    names = [name for name in cases() if only in name]
    old, new = ({name: [] for name in names} for _ in range(2))
    print(f"Solves by the working tree and by {base}, one thread (minimum times, and ratios now / base)")
    if os.getloadavg()[0] > 1:
        print(f"  the machine is busy (load {os.getloadavg()[0]:.1f}): expect errors of some per cent in the ratios")
    with source_of(base) as source:
        for turn in range(PROCESS_STARTS):
            measure([source, ROOT / "src"], names, [old, new], swap=bool(turn % 2))
    return 1 if show(names, old, new) else 0


if __name__ == "__main__":
    child()
