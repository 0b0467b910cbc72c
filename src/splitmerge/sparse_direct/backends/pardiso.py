"""PARDISO from Intel MKL via pypardiso: definite and indefinite, real and complex matrices, multithreaded."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...linalg.rounding import pivot_threshold
from ...typing import Array

# PARDISO phases: analysis and factorisation, solve, release of the memory.
FACTORISE_PHASE, SOLVE_PHASE, RELEASE_PHASE = 12, 33, -1
# PARDISO error code for insufficient memory; other codes report zero pivots, or negative ones of a definite matrix.
OUT_OF_MEMORY_ERROR_CODE = -2


class Pardiso:
    """PARDISO factors of K; only their diagonal is accessible."""

    name = "PARDISO"

    def __init__(self, library: Any, K: Any, *, definite: bool) -> None:
        self.system = _System(library, K, (2 if definite else -2) * (2 if K.dtype.kind == "c" else 1))
        weakref.finalize(self, self.system.run, RELEASE_PHASE)
        empty = np.zeros(K.shape[0], K.dtype)
        self.error = self.system.run(FACTORISE_PHASE, empty, empty)
        # if PARDISO has perturbed small pivots, the inertia of the factors is not that of K
        self.sound = self.error == 0 and self.system.parameters[13] == 0
        self.negative = int(self.system.parameters[22])

    @property
    def least(self) -> float:
        """The smallest ratio of a pivot to its diagonal entry of K."""
        pivots, diagonal = self.system.diagonals()
        return float((pivots.real / diagonal.real).min())

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        b = np.asarray(b, self.system.upper.dtype, order="F")
        w = np.empty_like(b)
        error = self.system.run(SOLVE_PHASE, b, w)
        if error:
            raise RuntimeError(f"PARDISO failed to solve with its factors (error code {error})")
        return w


class _System:
    """The matrix, and the state that PARDISO keeps between calls."""

    def __init__(self, library: Any, K: Any, kind: int) -> None:
        self.library, self.kind = library, ctypes.c_int32(kind)
        self.upper = _upper(K)
        self.pointers, self.columns = (x.astype(np.int32) for x in (self.upper.indptr, self.upper.indices))
        self.handle, self.parameters = np.zeros(64, np.int64), np.zeros(64, np.int32)
        # no default parameters; METIS ordering; perturb pivots below 1e-8; keep the diagonal; zero-based indices
        self.parameters[[0, 1, 9, 55, 34]] = 1, 2, 8, 1, 1
        # 2×2 pivots, except for complex matrices, where PARDISO then does not report the inertia
        self.parameters[20] = K.dtype.kind != "c"

    def run(self, phase: int, b: Array | None = None, w: Array | None = None) -> int:
        """Call PARDISO with right-hand sides b and solutions w; returns its error code, 0 on success."""
        one, error = ctypes.c_int32(1), ctypes.c_int32(0)
        integers, handle = ctypes.POINTER(ctypes.c_int32), ctypes.POINTER(ctypes.c_int64)
        self.library.pardiso(
            self.handle.ctypes.data_as(handle),
            one,
            one,
            self.kind,
            ctypes.c_int32(phase),
            ctypes.c_int32(self.upper.shape[0]),
            self.upper.data.ctypes.data,
            self.pointers.ctypes.data_as(integers),
            self.columns.ctypes.data_as(integers),
            None,
            ctypes.c_int32(1 if b is None or b.ndim == 1 else b.shape[1]),
            self.parameters.ctypes.data_as(integers),
            ctypes.c_int32(0),
            None if b is None else b.ctypes.data,
            None if w is None else w.ctypes.data,
            error,
        )
        if error.value == OUT_OF_MEMORY_ERROR_CODE:
            raise MemoryError("not enough memory for the PARDISO factors")
        return error.value

    def diagonals(self) -> tuple[Array, Array]:
        """The pivots and the diagonal of K, both in elimination order."""
        pivots, diagonal = (np.zeros(self.upper.shape[0], self.upper.dtype) for _ in range(2))
        error = ctypes.c_int32(0)
        arguments = (ctypes.c_void_p(x.ctypes.data) for x in (self.handle, pivots, diagonal))
        self.library.pardiso_getdiag(*arguments, ctypes.byref(ctypes.c_int32(1)), ctypes.byref(error))
        if error.value:
            raise RuntimeError(f"PARDISO failed to return its pivots (error code {error.value})")
        return pivots, diagonal


def _upper(K: Any) -> sp.csr_array:
    """The upper triangle in CSR format, with all diagonal entries stored explicitly."""
    triangle, every = sp.triu(K, format="coo"), np.arange(K.shape[0])
    rows, columns = (np.concatenate([x, every]) for x in triangle.coords)
    values = np.concatenate([triangle.data, np.zeros(every.size, K.dtype)])
    upper = sp.csr_array(sp.coo_array((values, (rows, columns)), shape=K.shape))
    upper.sort_indices()
    return upper


def definite(B: Any) -> Pardiso | None:
    """Factors of B; None if B is not clearly positive definite or pypardiso is not installed."""
    library = _library()
    if library is None or not (B.diagonal().real > 0).all():
        return None
    factors = Pardiso(library, B, definite=True)
    clear = factors.sound and factors.least > pivot_threshold(B.shape[0], B.dtype)
    return factors if clear else None


def indefinite(K: Any) -> Pardiso | None:
    """Factors of K; None if their inertia is unreliable or pypardiso is not installed."""
    library = _library()
    factors = None if library is None else Pardiso(library, K, definite=False)
    return factors if factors is not None and factors.sound else None


def _library() -> Any | None:
    """The MKL library, if pypardiso is installed and finds it."""
    try:
        from pypardiso import ps
    except ImportError:
        return None
    return ps.libmkl
