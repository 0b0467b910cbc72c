"""Solvers in separate processes: SLEPc, which may need another Python, and runs with time or memory limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_info

from .race import Absent, Task, Timed

HERE = Path(__file__).resolve().parent
# Time limit per run.
MAX_SECONDS = 900
# Default Python interpreter with slepc4py; the environment variable SLEPC_PYTHON overrides it.
DEBIAN = "/usr/bin/python3"
PARTS = ("data", "indices", "indptr")


def environment() -> dict[str, str]:
    """The environment of this process, with its current thread limits."""
    threads = str(max((info["num_threads"] for info in threadpool_info()), default=1))
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    return {**os.environ, **dict.fromkeys(names, threads)}


def write_pair(path: Path, A: sp.csr_array, B: sp.csr_array) -> None:
    parts = {f"{letter}_{part}": getattr(X, part) for letter, X in zip("AB", (A, B), strict=True) for part in PARTS}
    np.savez(path, **parts)


def read_pair(path: str) -> tuple[sp.csr_array, sp.csr_array]:
    with np.load(path) as pair:
        A, B = (sp.csr_array(tuple(pair[f"{letter}_{part}"] for part in PARTS)) for letter in "AB")
    return A, B


@cache
def slepc_settings() -> dict[str, str] | None:
    """PETSC_DIR and SLEPC_DIR, which Debian's packages need; None if SLEPc is not installed."""
    settings = {}
    for name in ("petsc", "slepc"):
        found = sorted(Path(f"/usr/lib/{name}dir").glob(f"{name}*/*-real"))
        if found:
            settings[f"{name.upper()}_DIR"] = str(found[-1])
    settings |= {name: os.environ[name] for name in ("PETSC_DIR", "SLEPC_DIR") if name in os.environ}
    try:
        test = [os.environ.get("SLEPC_PYTHON", DEBIAN), "-c", "import numpy, petsc4py, slepc4py.SLEPc"]
        done = subprocess.run(test, env={**bare(), **settings}, capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return settings if done.returncode == 0 else None


def bare() -> dict[str, str]:
    """The environment without the variables of this Python."""
    return {name: value for name, value in environment().items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


class Elsewhere:
    """Runs of one task in other processes; the pair is written once, outside the timed region."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.folder = tempfile.TemporaryDirectory()

    def files(self) -> tuple[Path, Path]:
        """The files of the pair and of the answer."""
        source, target = (Path(self.folder.name) / name for name in ("pair.npz", "out.npz"))
        if not source.exists():
            write_pair(source, self.task.A, self.task.B)
        target.unlink(missing_ok=True)
        return source, target

    def slepc(self, way: str, tol: float) -> Timed:
        settings = slepc_settings()
        if settings is None:
            raise Absent("slepc4py is not installed")
        source, target = self.files()
        python = os.environ.get("SLEPC_PYTHON", DEBIAN)
        command = [python, str(HERE / "slepc_child.py"), str(source), str(target), way, str(self.task.k), str(tol)]
        env = {**bare(), **settings}
        try:
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=MAX_SECONDS)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"> {MAX_SECONDS} s") from None
        if not target.exists():
            raise RuntimeError((done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1])
        with np.load(target) as out:
            return Timed((out["values"], out["vectors"]), float(out["seconds"]))

    def eigsh(self, tol: float) -> Timed:
        """Default eigsh with a time limit, because SuperLU's default ordering can be very slow in 3D."""
        source, target = self.files()
        threads = max(info["num_threads"] for info in threadpool_info())
        job = {"side": "eigsh", "pair": str(source), "k": self.task.k, "tol": tol, "threads": threads}
        answer = child({**job, "out": str(target)}, MAX_SECONDS)
        if answer.get("failed"):
            raise RuntimeError(answer["failed"])
        with np.load(target) as out:
            return Timed((out["values"], out["vectors"]), answer["seconds"])


def child(job: dict[str, Any], limit: float) -> dict[str, Any]:
    """The answer of `benchmarks.sparse.child` to a job; "failed" gives the reason of a failure."""
    command = [sys.executable, "-m", "benchmarks.sparse.child", json.dumps(job)]
    try:
        done = subprocess.run(
            command, env=environment(), cwd=HERE.parents[1], capture_output=True, text=True, check=False, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"> {limit:.0f} s", "timeout": True}
    try:
        answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        last = (done.stderr.strip().splitlines() or [""])[-1][:120]
        killed = f"killed by signal {-done.returncode}" if done.returncode < 0 else f"ended with {done.returncode}"
        return {"failed": f"{killed}: {last}" if last else killed}
    return answer
