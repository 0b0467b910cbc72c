"""`Task`: the problem given to an external solver, with operators that count products and solves if requested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, splu

from ..typing import Array


@dataclass(frozen=True, eq=False)
class Task:
    """A problem for an external solver; with `tally`, its operators count their applications in that dict."""

    A: Any
    B: Any
    k: int
    largest: bool
    tol: float
    x0: Array | None
    tally: dict[str, int] | None

    def given(self, letter: Literal["A", "B"]) -> Any:
        """The matrix A or B, or an operator that counts the columns it is applied to."""
        X = self.A if letter == "A" else self.B
        return X if self.tally is None or X is None else self._counting(X.__matmul__, f"{letter}_products")

    def inverse(self, letter: Literal["A", "B"]) -> LinearOperator | None:
        """A⁻¹ or B⁻¹ as an operator, by a SciPy factorisation; None for the identity."""
        X = self.A if letter == "A" else self.B
        if X is None:
            return None
        return self._counting(_sparse_solve(X) if sp.issparse(X) else _dense_solve(X), f"{letter}_solves")

    def start(self) -> Array:
        """A start block of k columns: those of `x0`, completed by fixed random ones."""
        X = np.random.default_rng(0).standard_normal((self.A.shape[0], self.k))
        if self.x0 is not None:
            own = self.x0.reshape(len(X), -1)[:, : self.k]
            X = np.column_stack([own, X[:, own.shape[1] :]])
        return X

    def _counting(self, apply: Callable[[Array], Array], name: str) -> LinearOperator:
        tally, n = self.tally, self.A.shape[0]

        def counted(X: Array) -> Array:
            if tally is not None:
                tally[name] = tally.get(name, 0) + X.size // n
            return apply(X)

        return LinearOperator((n, n), matvec=counted, matmat=counted, dtype=self.A.dtype)


def _sparse_solve(X: Any) -> Callable[[Array], Array]:
    options: dict[str, Any] = {"SymmetricMode": True}
    return splu(sp.csc_array(X), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).solve


def _dense_solve(X: Array) -> Callable[[Array], Array]:
    factor = scipy.linalg.cho_factor(X)
    return lambda b: np.asarray(scipy.linalg.cho_solve(factor, b))
