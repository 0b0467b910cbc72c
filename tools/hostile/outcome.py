"""What became of a file: read in a process of its own, with limits of time and memory."""

from __future__ import annotations

import gzip
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.io import petsc
from splitmerge.solution.store.guard import UnreadableFile

from .cases import Case

SECONDS = 20.0
# What a file may take besides the matrices that it really holds.
MEMORY_RATIO, MEMORY_BYTES = 10, 100_000_000
# A matrix is converted to rows, and a complex one put together from its parts.
ANSWER_RATIO = 4
GOOD = ("answer", "sentence")


@dataclass(frozen=True)
class Outcome:
    """One of answer, sentence, traceback, crash, hang and memory; `peak` and `allowed` are bytes beyond the start."""

    word: str
    text: str
    peak: int
    allowed: int
    seconds: float

    @property
    def good(self) -> bool:
        """Is it what a user should see?"""
        return self.word in GOOD


def read(case: Case) -> tuple[str, str, int]:
    """Read the file as its kind asks for: the outcome, what was said, and the bytes of what was read."""
    try:
        if case.path.name == "solution":
            solution = sm.load(case.path)
            solution.explain()
            repr(solution)
            return "answer", solution.summary(), sum(_bytes(x) for x in vars(solution).values())
        if case.path.suffix == ".petsc":
            _read_some_rows(case.path)
        A, B = sm.read_pair(case.path)
        for M in (A, B):
            if M is not None:
                # a product goes through all entries and indices
                M @ np.ones(M.shape[1], M.dtype)
        return "answer", f"{type(A).__name__} of shape {A.shape}", _bytes(A) + _bytes(B)
    except UnreadableFile as error:
        said = str(error)
        whole = said.isprintable() and len(said) < 2000 and str(case.path) in said
        return ("sentence" if whole else "traceback"), said, 0
    except OSError as error:
        # load leaves these to the caller, as open does
        return ("sentence" if case.path.name == "solution" else "traceback"), str(error), 0
    except BaseException:
        return "traceback", traceback.format_exc(), 0


def _read_some_rows(path: Path) -> None:
    """Read a range of rows, which checks less than reading them all does."""
    with suppress(UnreadableFile):
        rows, columns = petsc.size(path)
        indptr, indices, data = petsc.read_rows(path, rows // 3, rows - rows // 3)
        assert indptr[-1] == indices.size == data.size
        assert not indices.size or (indices.min() >= 0 and indices.max() < columns)


def _bytes(value: Any) -> int:
    if sp.issparse(value):
        return sum(_bytes(part) for part in vars(value).values())
    return int(value.nbytes) if isinstance(value, np.ndarray) else 0


def judged(case: Case, base: int) -> Outcome:
    """Read the file in a child process; `base` is the memory of a child that reads nothing."""
    start = time.perf_counter()
    said, status, usage = _in_child(case)
    seconds = time.perf_counter() - start
    peak = max(0, 1024 * usage.ru_maxrss - base)
    allowed = MEMORY_RATIO * case.size + MEMORY_BYTES
    if said is None:
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        word = "hang" if number == signal.SIGKILL and seconds >= SECONDS else "crash"
        return Outcome(word, f"status {status}, signal {number}", peak, allowed, seconds)
    word, text, size = said
    allowed += ANSWER_RATIO * size
    if word == "answer" and case.path.suffix == ".gz":
        # entries that the text really holds, though they may be added up to a few
        allowed += MEMORY_RATIO * _inflated_size(case.path)
    if word in GOOD and peak > allowed:
        word, text = "memory", f"{peak / 1e6:.0f} MB, and {allowed / 1e6:.0f} MB are allowed; {text}"
    return Outcome(word, text, peak, allowed, seconds)


def _inflated_size(path: Path) -> int:
    with gzip.open(path) as file:
        return file.seek(0, os.SEEK_END)


def _in_child(case: Case | None) -> tuple[Any, int, Any]:
    """What the child says, its exit status and its resources; nothing is said after a crash or the time limit."""
    ours, theirs = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _child(case, theirs)
    os.close(theirs)
    data, deadline = b"", time.perf_counter() + SECONDS
    while True:
        ready, _, _ = select.select([ours], [], [], max(0.0, deadline - time.perf_counter()))
        piece = os.read(ours, 65_536) if ready else b""
        data += piece
        if not piece:
            break
    if not data:
        # it is gone, or it will not come
        os.kill(child, signal.SIGKILL)
    os.close(ours)
    _, status, usage = os.wait4(child, 0)
    return (json.loads(data) if data else None), status, usage


def _child(case: Case | None, pipe: int) -> None:
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        os.write(pipe, json.dumps(("answer", "", 0) if case is None else read(case)).encode()[:60_000])
    finally:
        os._exit(0)


def base_memory() -> int:
    """The peak memory of a child that reads nothing."""
    return 1024 * int(_in_child(None)[2].ru_maxrss)


def folder_of(root: Path, number: int) -> Path:
    """A new folder for a case."""
    folder = root / str(number)
    folder.mkdir()
    return folder
