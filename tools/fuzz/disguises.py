"""The same matrix in many forms: arrays, sparse formats, operators, and operators that lie."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from .matrices import Rng
from .precise import Array

MAX_LIST = 40


@dataclass
class Disguise:
    """What is given to the library; it must not write to it, nor to the matrix behind an operator."""

    kind: str
    given: Any
    entries: bool = True
    lie: str = ""
    undocumented: bool = False
    behind: Array | None = None
    again: Callable[[], Any] | None = None

    def bytes(self) -> list[bytes]:
        """The contents of the buffers."""
        return [np.asarray(buffer).tobytes() for buffer in _buffers(self.given if self.behind is None else self.behind)]

    def fresh(self) -> Any:
        """What is given, with the state of a lie at its beginning."""
        return self.given if self.again is None else self.again()


class Bare:
    """Nothing but a shape, a type and `@`."""

    def __init__(self, M: Array) -> None:
        self.matrix, self.shape, self.dtype = M, M.shape, M.dtype

    def __matmul__(self, x: Any) -> Any:
        return self.matrix @ x


class Nameless:
    """Nothing but a shape and `@`."""

    def __init__(self, M: Array) -> None:
        self.matrix, self.shape = M, M.shape

    def __matmul__(self, x: Any) -> Any:
        return self.matrix @ x


def _strided(M: Array) -> Array:
    return np.repeat(np.repeat(M, 2, axis=0), 3, axis=1)[::2, ::3]


def _locked(M: Array) -> Array:
    M = M.copy()
    M.flags.writeable = False
    return M


def _frame(M: Array) -> Any:
    try:
        import pandas as pd
    except ImportError:
        return M
    return pd.DataFrame(M)


DENSE: dict[str, Callable[[Array], Any]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": _strided,
    "readonly": _locked,
    "reversed": lambda M: M[::-1, ::-1].copy()[::-1, ::-1],
    "matrix": np.asmatrix,
    "list": lambda M: M.tolist(),
    "frame": _frame,
}


def _halves(M: Array) -> Any:
    """Every entry twice, half each."""
    S = sp.coo_array(M)
    twice = (np.r_[S.data / 2, S.data / 2], (np.r_[S.row, S.row], np.r_[S.col, S.col]))
    return sp.coo_array(twice, shape=M.shape)


def _halves_csr(M: Array) -> Any:
    """A CSR array with unsorted indices and every entry twice."""
    S = sp.csr_array(M)
    rows = [np.r_[S.indptr[i] : S.indptr[i + 1]][::-1] for i in range(len(M))]
    order = np.concatenate([np.r_[row, row] for row in rows]).astype(int)
    return sp.csr_array((S.data[order] / 2, S.indices[order], 2 * S.indptr), shape=M.shape)


def _padded(M: Array) -> Any:
    """A CSC array with zeros stored."""
    n = len(M)
    rows, columns = np.indices((n, n)).reshape(2, -1)
    return sp.csc_array((M[rows, columns], (rows, columns)), shape=M.shape)


SPARSE: dict[str, Callable[[Array], Any]] = {
    **{f"{name}_array": getattr(sp, f"{name}_array") for name in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")},
    **{f"{name}_matrix": getattr(sp, f"{name}_matrix") for name in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")},
    "duplicates": _halves,
    "unsorted": _halves_csr,
    "stored zeros": _padded,
}

OPERATORS: dict[str, Callable[[Array], Any]] = {
    "LinearOperator": lambda M: LinearOperator(M.shape, matvec=lambda x: M @ x, dtype=M.dtype),
    "aslinearoperator": aslinearoperator,
    "bare": Bare,
    "nameless": Nameless,
}


class Liar:
    """An operator that misbehaves from its `after`-th product on."""

    def __init__(self, M: Array, kind: str, after: int, seed: int) -> None:
        self.matrix, self.kind, self.after = M, kind, after
        self.shape, self.dtype = M.shape, M.dtype
        self.count, self.rng = 0, np.random.default_rng(seed)
        self.buffer = np.zeros(0)

    def __matmul__(self, x: Any) -> Any:
        self.count += 1
        y = self.matrix @ x
        late = self.count > self.after
        if self.kind == "buffer":
            if self.buffer.shape != y.shape or self.buffer.dtype != y.dtype:
                self.buffer = np.empty_like(y)
            self.buffer[...] = y
            return self.buffer
        if self.kind == "noise":
            # scaled, as squares of large numbers overflow
            largest = np.abs(y).max(initial=0.0) or 1.0
            return y + 1e-6 * largest * np.linalg.norm(y / largest) / len(y) ** 0.5 * self.rng.normal(size=y.shape)
        return getattr(self, f"_{self.kind}")(x, y) if late else y

    def _nonsymmetric(self, x: Any, y: Any) -> Any:
        return y

    def _shape(self, x: Any, y: Any) -> Any:
        return y[:-1] if self.count % 2 else np.atleast_1d(y)[None]

    def _nan(self, x: Any, y: Any) -> Any:
        return y * np.nan

    def _raises(self, x: Any, y: Any) -> Any:
        raise LiarError("the operator fails")

    def _overwrites(self, x: Any, y: Any) -> Any:
        with contextlib.suppress(ValueError):  # the library may protect its vector
            x[...] = 0
        return y

    def _interrupt(self, x: Any, y: Any) -> Any:
        if self.count == self.after + 1:
            signal.raise_signal(signal.SIGINT)
        return y


class LiarError(RuntimeError):
    """An error of the user's own operator, which the library is to let through."""


LIES = ("nonsymmetric", "shape", "nan", "raises", "overwrites", "buffer", "noise", "interrupt")


def lying(rng: Rng, M: Array) -> tuple[Disguise, Array]:
    """An operator that lies, and the matrix it stands for."""
    lie, after, seed = str(rng.choice(LIES)), int(rng.choice([0, 5, 40])), int(rng.integers(2**31))
    if lie == "nonsymmetric":
        M = M + np.triu(rng.normal(size=M.shape), 1) * abs(M).max(initial=1e-300)
    make = lambda: Liar(M, lie, after, seed)  # noqa: E731
    return Disguise(f"liar({lie} after {after})", make(), entries=False, lie=lie, behind=M, again=make), M


def _buffers(given: Any) -> list[Array]:
    """The arrays that hold a matrix; for formats without arrays, its entries."""
    if sp.issparse(given):
        parts = [getattr(given, name, None) for name in ("data", "indices", "indptr", "row", "col", "offsets")]
        arrays = [part for part in parts if isinstance(part, np.ndarray) and part.dtype != object]
        return arrays if arrays else [given.toarray()]
    return [np.asarray(given)]


def disguise(rng: Rng, M: Array, *, lumped: bool = False) -> Disguise:
    """A random form of the matrix; a diagonal one as a vector sometimes, where `lumped`."""
    if lumped and rng.random() < 0.15 and not np.any(M - np.diag(np.diagonal(M))):
        d = np.diagonal(M).copy()
        return Disguise("vector", d, undocumented=True)
    chance = rng.random()
    if chance < 0.45:
        kind = str(rng.choice(list(DENSE)))
        kind = "C" if kind == "list" and len(M) > MAX_LIST else kind
        given = DENSE[kind](M)
        return Disguise(kind, given)
    if chance < 0.82 and M.dtype != bool:
        kind = str(rng.choice(list(SPARSE)))
        if M.dtype.kind == "i" and kind in ("duplicates", "unsorted"):
            kind = "csr_array"
        given = SPARSE[kind](M)
        return Disguise(kind, given)
    kind = str(rng.choice(list(OPERATORS)))
    return Disguise(kind, OPERATORS[kind](M), entries=False, behind=M)
