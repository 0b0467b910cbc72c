"""Cost model of the sparse direct backends, and selection of the fastest installed one.

The coefficients were fitted on one core to finite element matrices in two (n = 100,489) and three dimensions
(n = 50,653). They rank the backends reliably; absolute times are accurate to a factor of two or three.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from .fill.plane import has_sparse_factors
from .protocol import Factors

# Rows from which loading PARDISO or MUMPS instead of using SciPy's SuperLU pays.
EXTERNAL_BACKEND_MIN_ROWS = 3000
# Backends without pivoting, which factorise definite and indefinite matrices alike.
UNPIVOTED = ("QDLDL", "SuperLU")
# Rows from which `explain` recommends installing a faster backend.
WORTH_A_WORD = 20_000


@dataclass(frozen=True)
class Cost:
    """Cost coefficients: seconds per flop and row of a factorisation, per nonzero of L and row of a solve; bytes.

    `nonzero_bytes` is the memory per nonzero of L, and `kinds` lists the supported dtype characters. With a known
    ordering, a factorisation takes `recount_row` seconds per row beside its flops.
    """

    package: str
    flop: float
    row: float
    nonzero_solve: float
    row_solve: float
    nonzero_bytes: float
    kinds: str
    recount_row: float = 5e-6

    def factor(self, n: int, flops: float) -> float:
        """Seconds of an ordering and factorisation."""
        return self.flop * flops + self.row * n

    def solve(self, n: int, nonzeros: float) -> float:
        """Seconds of one solve."""
        return self.nonzero_solve * nonzeros + self.row_solve * n


COSTS = {
    "CHOLMOD": Cost("sksparse", 9e-11, 2.5e-6, 1.6e-9, 1.0e-7, 16, "dD"),
    "PARDISO": Cost("pypardiso", 8e-11, 7.0e-6, 2.6e-9, 2.0e-7, 14, "dD"),
    "MUMPS": Cost("mumps", 10e-11, 2.1e-5, 2.2e-9, 2.3e-7, 20, "d"),
    "QDLDL": Cost("qdldl", 47e-11, 1.2e-6, 2.2e-9, 2e-8, 40, "d", 4e-7),
    "SuperLU": Cost("scipy", 32e-11, 1.3e-5, 2.2e-9, 1.6e-7, 45, "fdFD"),
}


def recount_seconds(n: int, flops: float, backend: str) -> float:
    """Seconds of an inertia count: an indefinite factorisation with a known ordering, and its pivots."""
    cost = COSTS[backend if backend in UNPIVOTED else "SuperLU"]
    return cost.flop * flops + cost.recount_row * n


def recount_is_cheap(factors: Factors, n: int, solves: float) -> bool:
    """Is an inertia count cheaper than this number of solves with these factors of a matrix of the same pattern?"""
    backend, nonzeros = factors.name if factors.name in UNPIVOTED else "SuperLU", getattr(factors, "nonzeros", 0)
    # the most operations are those of a dense triangle, which meshes in space come close to
    flops = getattr(factors, "flops", (2 * nonzeros) ** 1.5 / 3)
    return recount_seconds(n, flops, backend) < solves * COSTS[backend].solve(n, nonzeros)


def solve_seconds(factors: Factors | None, n: int) -> float:
    """Seconds of a solve with these factors; 0 where it is not known how large they are."""
    nonzeros = getattr(factors, "nonzeros", 0)
    if factors is None or nonzeros == 0:
        return 0.0
    return COSTS[factors.name if factors.name in UNPIVOTED else "SuperLU"].solve(n, nonzeros)


def usual(K: Any, flops: Callable[[], float], sparse: bool | None = None) -> str:
    """The fastest installed backend for a positive definite K; calls `flops` only if the choice depends on it.

    `sparse` says whether its factors are expected to be sparse, if that is known.
    """
    n, kind = K.shape[0], K.dtype.char
    if _has("CHOLMOD", kind):
        return "CHOLMOD"
    if n >= EXTERNAL_BACKEND_MIN_ROWS and _has("PARDISO", kind):
        return "PARDISO"
    if n >= EXTERNAL_BACKEND_MIN_ROWS and _has("MUMPS", kind):
        work = flops()
        return min(("MUMPS", unpivoted(K, sparse)), key=lambda name: COSTS[name].factor(n, work))
    return unpivoted(K, sparse)


def unpivoted(K: Any, sparse: bool | None = None) -> str:
    """The faster backend of those without pivoting."""
    if not _has("QDLDL", K.dtype.char):
        return "SuperLU"
    return "QDLDL" if (has_sparse_factors(K) if sparse is None else sparse) else "SuperLU"


def _has(name: str, kind: str) -> bool:
    return kind in COSTS[name].kinds and _is_installed(COSTS[name].package)


@lru_cache
def _is_installed(package: str) -> bool:
    """Can the package be imported? A search of the module path takes as long as a small factorisation."""
    return find_spec(package) is not None


def advice(factors: Factors | None = None) -> str | None:
    """A sentence on the gain from installing CHOLMOD; None if no faster backend is known.

    The gain is relative to `factors`, or to the fastest installed backend if they are not given.
    """
    if _has("CHOLMOD", "d"):
        return None
    name = _installed() if factors is None else factors.name
    gain = {
        "PARDISO": "make solves with these factors about twice as fast",
        "MUMPS": "make this factorisation about twice as fast",
        "SuperLU (nested dissection)": "make this factorisation about 4 times as fast",
        "SuperLU (minimum degree)": "make this factorisation 4 to 9 times as fast",
        "QDLDL": "make this factorisation 2 to 6 times as fast",
    }
    return f"Installing scikit-sparse (CHOLMOD) would {gain[name]}." if name in gain else None


def _installed() -> str:
    """The name of the backend that is selected for a large positive definite matrix."""
    for name in ("PARDISO", "MUMPS", "QDLDL"):
        if _has(name, "d"):
            return name
    return f"SuperLU ({'nested dissection' if find_spec('pymetis') else 'minimum degree'})"
