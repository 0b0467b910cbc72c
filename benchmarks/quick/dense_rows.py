"""Sections `dense` (the paper's synthetic pairs), `tiny` and `import`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh

import splitmerge as sm

from ..rivals import Whitened
from .contest import TOLERANCE, Contest, Row, Side, Wanted
from .operator_rows import by_primme
from .sparse_rows import at_end, ours, start

QUICK_KAPPAS, LARGE_KAPPAS = (3, 10, 50, 100), (3, 50)
LARGE_SIZES, LARGE_SIZES_LONG = (2048,), (2048, 4096)
# Up to this size all eigenpairs by LAPACK are a peer of their own.
MAX_FULL_SIZE = 300
START_KAPPA, START_ERROR = 10, 1e-6
TINY_SIZES, TINY_COUNTS, TINY_KAPPA = (8, 32, 64, 128, 300), (1, 5), 10
COUNTS = (1, 10)


@lru_cache(maxsize=1)
def cell(n: int, kappa: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The pair, and its ten largest eigenvalues and their vectors by LAPACK."""
    A, B = sm.gallery.synthetic_pair(n, kappa, rng=n + kappa)
    values, vectors = scipy.linalg.eigh(A, B, subset_by_index=[max(n - max(COUNTS), 0), n - 1])
    return A, B, values, vectors


def peers(A: np.ndarray, B: np.ndarray, k: int) -> list[Side]:
    """The ways to the k largest with SciPy, the last ones written by hand; and PRIMME."""
    n = len(A)
    v0, last = start(n), [n - k, n - 1]

    def with_solves(tol: float) -> Any:
        factor = scipy.linalg.cho_factor(B)
        Minv = LinearOperator(B.shape, matvec=lambda x: scipy.linalg.cho_solve(factor, x), dtype=np.float64)
        return eigsh(A, k, M=B, Minv=Minv, which="LA", v0=v0, tol=tol)

    def by_hand(tol: float) -> Any:
        op = Whitened(A, B)
        return op.back(eigsh(op.operator(), k, which="LA", v0=v0, tol=tol))

    def full(_: float) -> Any:
        values, vectors = scipy.linalg.eigh(A, B)
        return values[-k:], vectors[:, -k:]

    return [
        at_end("eigsh", A, B, k, "LA"),
        Side("eigsh Minv", with_solves),
        Side("eigsh by hand", by_hand),
        Side("eigh", lambda _: scipy.linalg.eigh(A, B, subset_by_index=last), by_tol=False),
        *([Side("eigh all", full, by_tol=False)] if n <= MAX_FULL_SIZE else []),
        by_primme(A, B, k, "LA"),
    ]


def largest(n: int, kappa: float, k: int) -> Contest:
    A, B, values, _ = cell(n, kappa)
    wanted = Wanted(k, "largest")
    return Contest(wanted, [ours(A, B, wanted), *peers(A, B, k)], A, B, known=values)


def started(n: int, error: float | None) -> Contest:
    """Our solve with a start, random or near the eigenvector, against the same without; `eigsh` has the same start."""
    A, B, values, vectors = cell(n, START_KAPPA)
    x0, wanted = start(n), Wanted(1, "largest")
    if error is not None:
        u = vectors[:, -1]
        x0 = u + error * np.linalg.norm(u) * x0 / np.linalg.norm(x0)
    sides = [
        Side("ours", lambda _: sm.solve(A, B, tol=TOLERANCE, rng=0, x0=x0), by_tol=False),
        Side("no start", lambda _: sm.solve(A, B, tol=TOLERANCE, rng=0), by_tol=False),
        Side("eigsh", lambda tol: eigsh(A, 1, M=B, which="LA", v0=x0, tol=tol)),
    ]
    return Contest(wanted, sides, A, B, plain="no start", counted=("no start",), known=values)


def cells(long: bool) -> list[tuple[int, int]]:
    kappas = sm.gallery.KAPPA_B if long else QUICK_KAPPAS
    large = LARGE_SIZES_LONG if long else LARGE_SIZES
    return [(n, kappa) for n in sm.gallery.SIZES for kappa in kappas] + [
        (n, kappa) for n in large for kappa in LARGE_KAPPAS
    ]


def rows(long: bool) -> Iterator[Row]:
    for n, kappa in cells(long):
        for k in COUNTS:
            yield Row("dense", f"n={n} κ={kappa}", f"largest {k}", partial(largest, n, kappa, k))
    for n in sm.gallery.SIZES:
        yield Row("dense", f"n={n} κ={START_KAPPA}", "random start", partial(started, n, None))
        yield Row("dense", f"n={n} κ={START_KAPPA}", "near start", partial(started, n, START_ERROR))


def tiny(n: int, k: int) -> Contest:
    """LAPACK with one evaluation of the residuals, as we do it."""
    A, B = sm.gallery.synthetic_pair(n, TINY_KAPPA, rng=n)
    wanted = Wanted(k, "largest")

    def lapack(_: float) -> Any:
        values, X = scipy.linalg.eigh(A, B, subset_by_index=[n - k, n - 1])
        BX = B @ X
        residuals = np.linalg.norm(A @ X - BX * values, axis=0) / (np.abs(values) * np.linalg.norm(BX, axis=0))
        assert residuals.max() < TOLERANCE
        return values, X

    return Contest(wanted, [ours(A, B, wanted), Side("eigh", lapack, by_tol=False)], A, B, plain="eigh")


def tiny_rows(long: bool) -> Iterator[Row]:
    for n in TINY_SIZES:
        for k in TINY_COUNTS:
            yield Row("tiny", f"n={n}", f"largest {k}", partial(tiny, n, k))


def compiled() -> dict[str, str]:
    """An environment in which all modules have been compiled."""
    unset = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = unset | {"PYTHONPYCACHEPREFIX": tempfile.mkdtemp(prefix="modules-")}
    subprocess.run([sys.executable, "-c", "import splitmerge"], check=True, env=environment)
    return environment


def imports() -> Contest:
    """Fresh processes, with the start of the interpreter; as after installation, modules have been compiled before."""

    environment = compiled()

    def fresh(code: str) -> Any:
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
        return ()

    sides = [
        Side("ours", lambda _: fresh("import splitmerge"), by_tol=False),
        Side("scipy", lambda _: fresh("import scipy.sparse.linalg, scipy.linalg"), by_tol=False),
    ]
    return Contest(Wanted(0, "largest"), sides, plain="scipy")


def import_rows(long: bool) -> Iterator[Row]:
    yield Row("import", "fresh process", "import", imports)
