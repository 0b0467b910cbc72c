"""Peak memory of `sm.solve` in vectors of length n."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import scipy.sparse as sp

import splitmerge as sm

from .rivals import PAIR_COUNT


def grid(m: int) -> tuple[sp.csr_array, sp.csr_array]:
    """Stiffness and mass matrices of bilinear elements on an m × m grid with slightly oblong cells."""
    ones = np.ones(m)
    K1 = sp.diags_array([-ones[1:], 2 * ones, -ones[1:]], offsets=[-1, 0, 1])
    M1 = sp.diags_array([ones[1:], 4 * ones, ones[1:]], offsets=[-1, 0, 1]) / 6
    return sp.csr_array(sp.kron(K1, M1) + 1.1 * sp.kron(M1, K1)), sp.csr_array(sp.kron(M1, M1))


def workspace(A: Any, B: Any, k: int) -> float:
    """Peak allocation of Python and NumPy in vectors of length n, excluding the inputs and a dense factor of B."""
    n = A.shape[0]
    tracemalloc.start()
    try:
        sm.solve(A, B, k, rng=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return peak / (8 * n) - (0 if sp.issparse(B) else n)


def memory(mode: str) -> list[dict[str, Any]]:
    """The workspace of dense and sparse pairs for k = 1 and 10; memory inside SuperLU is not traced."""
    sizes, m = ((160,), 20) if mode == "tiny" else ((1024, 2048), 200)
    pairs = [(f"dense, n = {n}", *sm.gallery.synthetic_pair(n, 3, rng=0)) for n in sizes]
    pairs.append((f"sparse, n = {m * m}", *grid(m)))
    rows = []
    print("\nPeak workspace beyond inputs and factor, in vectors of length n")
    for text, A, B in pairs:
        for k in (1, PAIR_COUNT):
            used, allowed = workspace(A, B, k), 4 * k + 60
            rows.append({"pair": text, "k": k, "vectors": used, "allowed": allowed})
            word = "" if used <= allowed else "  EXCEEDED"
            print(f"  {text}, k = {k:2}: {used:8.1f}, allowed 4k + 60 = {allowed}{word}", flush=True)
    return rows
