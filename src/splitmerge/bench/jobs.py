"""Resumable jobs: each result is saved to disk on completion, so that an interrupted run can be continued.

The jobs run in worker processes with a fixed number of BLAS threads each.
"""

from __future__ import annotations

import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, connection, get_context, parent_process
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits
from tqdm import tqdm

from ..system.atomic_file import write_text


@dataclass(frozen=True)
class Job:
    """A job: `function(*arguments)` returns a JSON-serialisable result. `weight` is its approximate relative cost.

    The result depends on `settings`; a saved result is reused only if its settings are the same.
    """

    key: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    settings: Mapping[str, Any]
    weight: float = 1.0


class Store:
    """A folder with one file per completed job."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, job: Job) -> dict[str, Any] | None:
        """The saved result {"data", "provenance", …}; None if there is none with the same settings."""
        try:
            kept: dict[str, Any] = json.loads(self._path(job).read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return kept if kept.get("settings") == dict(job.settings) else None

    def put(self, job: Job, data: Any, provenance: Mapping[str, Any]) -> dict[str, Any]:
        """Save the result of the job."""
        kept = {"key": job.key, "settings": dict(job.settings), "provenance": dict(provenance), "data": data}
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self._path(job), json.dumps(finite(kept), indent=1))
        return kept

    def _path(self, job: Job) -> Path:
        return self.folder / f"{job.key}.json"


def finite(value: Any) -> Any:
    """The value with NaN and infinity replaced by None, because JSON cannot represent them."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def carry_out(
    jobs: Sequence[Job],
    store: Store,
    provenance: Mapping[str, Any],
    *,
    processes: int,
    threads: int = 1,
    title: str = "",
    tell: Callable[[str], None] | None = None,
) -> list[dict[str, Any]]:
    """Run the jobs without a saved result, the longest first, and return all results in the order of `jobs`.

    `tell` is called with a line for every completed job where there is no terminal to show a bar on.
    """
    kept = {job.key: store.get(job) for job in jobs}
    missing = sorted((job for job in jobs if kept[job.key] is None), key=lambda job: -job.weight)
    total = sum(job.weight for job in jobs)
    form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"
    with tqdm(desc=title, total=total, disable=None, leave=False, bar_format=form) as bar:
        bar.update(total - sum(job.weight for job in missing))
        tell = tell if bar.disable else None
        begin, done = time.monotonic(), len(jobs) - len(missing)
        if tell is not None and done:
            tell(f"{title}: {done} of {len(jobs)} parts are there already")
        if missing:
            with _workers(min(processes, len(missing)), threads) as pool:
                for job, data in _results(pool, missing):
                    kept[job.key] = store.put(job, data, provenance)
                    bar.set_postfix_str(job.key, refresh=False)
                    bar.update(job.weight)
                    done += 1
                    if tell is not None:
                        tell(f"{title}: {done} of {len(jobs)} parts, {time.monotonic() - begin:.0f} s: {job.key}")
    return [part for job in jobs if (part := kept[job.key]) is not None]


def _results(pool: ProcessPoolExecutor, jobs: Sequence[Job]) -> Iterator[tuple[Job, Any]]:
    """Each job with its result as it completes, several in their order; a failure is raised behind the others."""
    running: dict[Future[Any], Job] = {pool.submit(job.function, *job.arguments): job for job in jobs}
    while running:
        complete, _ = wait(running, return_when=FIRST_COMPLETED)
        done = [future for future in running if future in complete]
        for future in sorted(done, key=lambda future: future.exception() is not None):
            yield running.pop(future), future.result()


@contextmanager
def _workers(count: int, threads: int) -> Iterator[ProcessPoolExecutor]:
    """A process pool that is shut down at the end of the block, and terminated at once on an exception."""
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_settle, initargs=(threads,))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in active_children():
            process.terminate()
        raise
    pool.shutdown()


def _settle(threads: int) -> None:
    """Initialise a worker: limit its BLAS threads, ignore SIGINT, and exit when the parent process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(threads)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        # the parent has ended, so the result cannot be delivered
        os._exit(1)
