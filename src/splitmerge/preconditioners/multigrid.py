"""Algebraic multigrid: V-cycles on a PyAMG hierarchy, for blocks of vectors in single precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import NotPositiveDefinite
from ..linalg.lanczos import PlainLanczos
from ..linalg.reductions import column_norms
from ..problem.pencil import Pencil
from ..problem.products import Products
from ..typing import Array
from .base import Preconditioner, Prepared
from .diagonal import root_of_diagonal

# Rows of the coarsest level, which is solved by its dense inverse.
COARSEST_LEVEL_MAX_ROWS = 300

# Chebyshev smoother: polynomial degree, and the ratio of the largest to the smallest damped eigenvalue of D⁻¹A.
CHEBYSHEV_DEGREE, CHEBYSHEV_EIGENVALUE_RATIO = 3, 10.0

# Lanczos steps for the largest eigenvalue of D⁻¹A, and the safety factor of that estimate from below.
EIGENVALUE_LANCZOS_STEPS, EIGENVALUE_SAFETY_FACTOR = 10, 1.05

# A negative eigenvalue of the coarsest matrix beyond this fraction of the largest is no rounding error.
INDEFINITE_FRACTION = 1e-8


@dataclass(frozen=True)
class MultiGrid(Preconditioner):
    """A smoothed aggregation V-cycle, for a sparse B from an elliptic partial differential equation.

    `near_null` holds near-nullspace vectors of B as columns, shape (n, r): by default the constants; for elasticity,
    the rigid body modes. The cost is O(n), against O(n²) for a sparse factorisation of a three-dimensional problem.
    """

    near_null: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.near_null is not None and np.ndim(self.near_null) != 2:
            raise ValueError(f"near_null has shape {np.shape(self.near_null)}; give an array of shape (n, r)")

    def _prepare(self, pencil: Products) -> Prepared:
        assert pencil.B is not None
        root_of_diagonal(pencil)
        from pyamg import smoothed_aggregation_solver  # imported here because the import is slow

        if pencil.B.kind != "sparse":
            raise ValueError("MultiGrid needs a sparse matrix, but this one is dense; use Exact() or Diagonal()")
        vectors = self.near_null
        if vectors is not None:
            vectors = pencil.pencil.from_vectors(np.asarray(vectors, dtype=pencil.dtype))
            if vectors.shape[0] != pencil.n:
                raise ValueError(f"near_null has shape {vectors.shape}; give an array with {pencil.n} rows")
        matrix = sp.csr_matrix(pencil.B.matrix / pencil.B.size)
        with _seeded():
            solver = smoothed_aggregation_solver(matrix, B=vectors, max_coarse=COARSEST_LEVEL_MAX_ROWS)
        coarsest = _inverse(solver.levels[-1].A.toarray())
        return _Cycle([_Level(level) for level in solver.levels[:-1]], coarsest, pencil.B.size)

    def _prepare_distributed(self, pencil: Products) -> Prepared:
        """A cycle of the multigrid of the library that holds the matrix."""
        assert pencil.B is not None
        assert pencil.B.entries is not None
        root_of_diagonal(pencil)
        return _Foreign(pencil.B.entries.multigrid(self.near_null))


class _Foreign(Prepared):
    """A multigrid cycle that another library applies."""

    def __init__(self, cycle: Callable[[Array], Array]) -> None:
        self.cycle = cycle

    def gram_solve(self, b: Array) -> Array:
        """One cycle."""
        return self.cycle(b)


@contextmanager
def _seeded() -> Iterator[None]:
    """Seed NumPy's global generator, which PyAMG draws from, and restore its state afterwards."""
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002


class _Level:
    """One level in single precision: matrix, smoother, prolongation and restriction."""

    def __init__(self, level: Any) -> None:
        A = sp.csr_array(level.A)
        narrow = np.complex64 if A.dtype.kind == "c" else np.float32
        diagonal = A.diagonal().real
        self.inverse = np.where(diagonal > 0, 1 / np.where(diagonal > 0, diagonal, 1.0), 0.0).astype(np.float32)
        self.A = A.astype(narrow)
        self.P, self.R = (sp.csr_array(transfer).astype(narrow) for transfer in (level.P, level.R))
        root = np.sqrt(self.inverse.astype(np.float64))
        x = np.random.default_rng(0).standard_normal(A.shape[0]).astype(A.dtype)
        process = PlainLanczos(lambda v: root * (A @ (root * v)), x)
        while process.steps < EIGENVALUE_LANCZOS_STEPS and not process.exhausted:
            process.extend()
        self.largest = EIGENVALUE_SAFETY_FACTOR * float(process.ritz(process.steps - 1, process.steps - 1)[0][0])

    def smooth(self, r: Array, *, last: bool = False) -> tuple[Array, Array]:
        """Chebyshev smoothing: the correction x for the residual r, and the updated residual, skipped if `last`."""
        least = self.largest / CHEBYSHEV_EIGENVALUE_RATIO
        centre, half = (self.largest + least) / 2, (self.largest - least) / 2
        inverse = self.inverse if r.ndim == 1 else self.inverse[:, None]
        p = inverse * np.float32(1 / centre) * r
        x = p.copy()
        ratio = half / centre
        for step in range(CHEBYSHEV_DEGREE):
            if step == CHEBYSHEV_DEGREE - 1 and last:
                break
            Ap = self.A @ p
            r = np.subtract(r, Ap, out=Ap)
            if step == CHEBYSHEV_DEGREE - 1:
                break
            ratio, before = 1 / (2 * centre / half - ratio), ratio
            p *= np.float32(ratio * before)
            p += inverse * np.float32(2 * ratio / half) * r
            x += p
        return x, r


def _inverse(A: Array) -> Array:
    """The inverse of the coarsest matrix; zero eigenvalues (rigid body modes) are replaced by the smallest positive."""
    values, vectors = np.linalg.eigh((A + A.conj().T) / 2)
    if values[0] < -INDEFINITE_FRACTION * max(values[-1], 0.0):
        raise NotPositiveDefinite(
            f"B is not positive definite: on the coarsest grid it has the eigenvalue {values[0]:.3g}"
        )
    # the entries are scaled to at most 1, so an absolute floor is meaningful
    floor = values[values > 1e-10 * max(values[-1], 1e-6)].min(initial=1.0)
    inverse = (vectors / np.maximum(values, floor)) @ vectors.conj().T
    return np.asarray(inverse.astype(np.complex64 if inverse.dtype.kind == "c" else np.float32))


class _Cycle(Prepared):
    """The V-cycle; symmetric positive definite, because the same symmetric smoother is applied before and after."""

    def __init__(self, levels: list[_Level], coarsest: Array, size: float) -> None:
        self.levels, self.coarsest, self.size = levels, coarsest, size

    def coarser(self, pencil: Pencil) -> tuple[Pencil, Prepared, Any] | None:
        """The Galerkin pair PᴴAP, PᴴBP on the next level."""
        if len(self.levels) < 2 or not pencil.has_entries:
            return None
        P = self.levels[0].P.astype(pencil.dtype)
        matrices = (pencil.A.matrix, sp.eye_array(pencil.n) if pencil.B is None else pencil.B.matrix)
        products = [sp.csr_array(P.conj().T @ M @ P) for M in matrices]
        pair = Pencil(*((M + M.conj().T) / 2 for M in products))
        return pair, _Cycle(self.levels[1:], self.coarsest, self.size), P

    @property
    def work(self) -> float:
        """Multiplications per vector."""
        return float(sum((2 * CHEBYSHEV_DEGREE + 1) * level.A.nnz + 2 * level.P.nnz for level in self.levels))

    def gram_solve(self, b: Array) -> Array:
        """One V-cycle for a vector."""
        return self.gram_block(b[:, None])[:, 0]

    def gram_block(self, R: Array) -> Array:
        """One V-cycle for a block of columns, each scaled to norm 1 to stay in the range of single precision."""
        norms = column_norms(R)
        norms[norms == 0] = 1.0
        narrow = np.ascontiguousarray(R / norms, dtype=self.coarsest.dtype)
        X = self._cycle(narrow[:, 0], 0)[:, None] if R.shape[1] == 1 else self._cycle(narrow, 0)
        return np.asarray(X.astype(R.dtype) * (norms / self.size).astype(norms.dtype))

    def _cycle(self, b: Array, depth: int) -> Array:
        if depth == len(self.levels):
            return self.coarsest @ b
        level = self.levels[depth]
        x, r = level.smooth(b)
        y = level.P @ self._cycle(level.R @ r, depth + 1)
        x += y
        r -= level.A @ y
        x += level.smooth(r, last=True)[0]
        return x
