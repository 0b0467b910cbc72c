"""One job in a separate process with limited address space: `python -m benchmarks.sparse.child JOB`, JOB in JSON.

A job names a `side` (solver) and either a `pair` (file) or `n` and `kappa` for a matrix-free B. The answer, in JSON,
has the seconds (without building the pair), the largest residual, the eigenvalues and the peak memory; eigenpairs are
written to the file `out` if given.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh, lobpcg
from threadpoolctl import threadpool_limits

import splitmerge as sm

from ..rivals import primme
from . import fem
from .processes import read_pair
from .race import RESIDUAL_TOLERANCE, Side, Task, attempt
from .solvers import lobpcg_sides, ours, shift_invert

BYTES_PER_GIB = 2**30
# A run shorter than this is a warm-up and is repeated.
WARM_UP_SECONDS = 5.0


def peak() -> float:
    """Peak resident memory in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def operator_side(name: str, task: Task, counter: list[int]) -> Side:
    """A solver of the largest eigenpair with a matrix-free B that is applied to single vectors."""
    A, B, n = task.A, task.B, task.n

    def times(x: np.ndarray) -> np.ndarray:
        counter[0] += 1
        return B @ x

    op = LinearOperator((n, n), matvec=times, dtype=np.float64)
    rng = np.random.default_rng(1)
    v0 = rng.standard_normal(n)
    if name == "primme" and primme is None:
        raise SystemExit("PRIMME is not installed")
    runs: dict[str, Any] = {
        "ours": lambda _: sm.solve(A, op, 1, tol=RESIDUAL_TOLERANCE, rng=0),
        "eigsh": lambda tol: eigsh(A, 1, M=op, which="LA", v0=v0, tol=tol),
        "lobpcg": lambda tol: lobpcg(A, v0[:, None].copy(), B=op, tol=tol, maxiter=20_000),
        "primme": lambda tol: primme.eigsh(A, 1, M=op, which="LA", tol=tol),
    }
    return Side(name, "", runs[name])


def pair_side(name: str, task: Task) -> Side:
    if name == "ours":
        return ours(task)
    return shift_invert(task)[0] if name == "eigsh" else lobpcg_sides(task)[0]


def main() -> None:
    job = json.loads(sys.argv[1])
    counter = [0]
    if "kappa" in job:
        task = Task(*fem.conditioned(job["n"], job["kappa"]), 1, "largest")
        side = operator_side(job["side"], task, counter)
    else:
        task = Task(*read_pair(job["pair"]), job["k"], "smallest")
        side = pair_side(job["side"], task)
    before = peak()
    if job.get("gib"):
        # the limit includes shared libraries and thread stacks
        resource.setrlimit(resource.RLIMIT_AS, (int(job["gib"] * BYTES_PER_GIB), resource.RLIM_INFINITY))
    with threadpool_limits(job["threads"]):
        seconds, error, pairs = attempt(side, task, job["tol"])
        if seconds < WARM_UP_SECONDS and pairs is not None:
            counter[0] = 0
            seconds, error, pairs = attempt(side, task, job["tol"])
    answer = {
        "seconds": seconds,
        "residual": error if np.isfinite(error) else None,
        "values": None if pairs is None else [float(value) for value in pairs[0]],
        "products": counter[0],
        "peak_gib": peak(),
        "pair_gib": before,
        "explained": side.explained,
    }
    if "out" in job and pairs is not None:
        np.savez(job["out"], values=pairs[0], vectors=pairs[1])
    if pairs is None or not np.isfinite(error):
        answer["failed"] = "; ".join(side.notes) or "no pairs"
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
