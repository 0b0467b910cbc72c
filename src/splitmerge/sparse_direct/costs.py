"""What each backend costs, and which of those that are installed a matrix gets.

The figures are of one core and of matrices of finite elements in two dimensions (n = 100,489) and in three (50,653).
They say which backend is the faster one, and seconds within a factor of two or three.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from .protocol import Factors

# From this size on another library than SciPy's pays for being loaded, and is worth a word.
LARGE, WORTH_A_WORD = 3000, 20_000


@dataclass(frozen=True)
class Cost:
    """Seconds of a factorisation by flops and rows, of a solve by nonzeros of L and rows; bytes by nonzeros."""

    package: str
    flop: float
    row: float
    nonzero_solve: float
    row_solve: float
    nonzero_bytes: float
    kinds: str

    def factor(self, n: int, flops: float) -> float:
        """Seconds of ordering and factorising."""
        return self.flop * flops + self.row * n

    def solve(self, n: int, nonzeros: float) -> float:
        """Seconds of a solve."""
        return self.nonzero_solve * nonzeros + self.row_solve * n


COSTS = {
    "CHOLMOD": Cost("sksparse", 9e-11, 2.5e-6, 1.6e-9, 1.0e-7, 16, "dD"),
    "PARDISO": Cost("pypardiso", 8e-11, 7.0e-6, 2.6e-9, 2.0e-7, 14, "dD"),
    "MUMPS": Cost("mumps", 10e-11, 2.1e-5, 2.2e-9, 2.3e-7, 20, "d"),
    "SuperLU": Cost("scipy", 32e-11, 1.3e-5, 2.2e-9, 1.6e-7, 45, "fdFD"),
}


def recount_seconds(n: int, flops: float) -> float:
    """Seconds of an indefinite factorisation by SuperLU in an order that is known, with a look at its pivots."""
    return COSTS["SuperLU"].flop * flops + 5e-6 * n


def usual(K: Any, flops: Callable[[], float]) -> str:
    """The backend that a positive definite K gets: the fastest that is installed, where that depends by its flops."""
    n, kind = K.shape[0], K.dtype.char
    if _has("CHOLMOD", kind):
        return "CHOLMOD"
    if n >= LARGE and _has("PARDISO", kind):
        return "PARDISO"
    if n >= LARGE and _has("MUMPS", kind):
        work = flops()
        return min(("MUMPS", "SuperLU"), key=lambda name: COSTS[name].factor(n, work))
    return "SuperLU"


def _has(name: str, kind: str) -> bool:
    return kind in COSTS[name].kinds and find_spec(COSTS[name].package) is not None


def advice(factors: Factors | None = None) -> str | None:
    """What another backend would bring, in a sentence; None where nothing faster is known.

    That is to say beside these factors, or without them beside what is installed.
    """
    if _has("CHOLMOD", "d"):
        return None
    name = _installed() if factors is None else factors.name
    gain = {
        "PARDISO": "make solves with such factors about twice as fast",
        "MUMPS": "make such a factorisation about twice as fast",
        "SuperLU in an order of nested dissection": "make such a factorisation about 4 times as fast",
        "SuperLU in an order of minimum degree": "make such a factorisation 4 to 9 times as fast",
    }
    return f"Installing scikit-sparse (CHOLMOD) would {gain[name]}." if name in gain else None


def _installed() -> str:
    """The name of the factors that a large positive definite matrix gets."""
    for name in ("PARDISO", "MUMPS"):
        if _has(name, "d"):
            return name
    return f"SuperLU in an order of {'nested dissection' if find_spec('pymetis') else 'minimum degree'}"
