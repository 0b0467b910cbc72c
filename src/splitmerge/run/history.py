"""The history of an iteration, column by column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..objective.state import State
from ..typing import Array
from .attribution import attributed

Row = tuple[int, int, float, float, float, int, float]


class History:
    """One row a state, in the order of time.

    pair
        The index of the pair in `Solution.eigenvalues`. A pair keeps it when others turn up before it; those that did
        not remain among the k wanted ones have the indices from k on.
    step
        The number of the step, for each run towards a pair from 0 on.
    value, f
        The eigenvalue, in the user's units, and the objective.
    residual
        Relative, as the iteration knows it. Recurrences estimate it, also far below what rounding allows: eps of the
        working precision stands for what is smaller.
    products
        Products with A and solves with A − σB of the iteration so far; the last is `Solution.counts.products`.
    seconds
        Time since the iteration began.

    >>> import splitmerge as sm
    >>> A, B = sm.gallery.synthetic_pair(300, kappa_B=10, rng=0)
    >>> sol = sm.solve(A, B, method=sm.SplitMerge(), rng=0)
    >>> len(sol.history) == sol.steps + 1, bool(sol.history.products[-1] == sol.counts.products)
    (True, True)
    """

    columns = ("pair", "step", "value", "residual", "f", "products", "seconds")

    def __init__(self) -> None:
        self._rows: list[Row] = []
        # the eigenvalues that the rows are to be attributed to, once they are known and until it is done
        self._eigenvalues: Array | None = None

    @classmethod
    def of(cls, columns: Sequence[Array]) -> History:
        """The history with these columns, which are as long as each other."""
        return cls.of_rows(list(zip(*(column.tolist() for column in columns), strict=True)))

    @classmethod
    def of_rows(cls, rows: list[Row]) -> History:
        """The history with these rows."""
        history = cls()
        history._rows = rows
        return history

    def record(self, pair: int, state: State) -> None:
        """Append the state; its numbers are known without further products."""
        products, counts = state.products, state.products.counts
        if products.pencil.inverse is None:
            made = counts.A_products + counts.K_solves
        else:
            # of the pair (B, A − σB), the second is the user's A
            made = counts.B_products + counts.B_solves
        seconds = products.budget.elapsed()
        self._rows.append((pair, state.step, state.eigenvalue, state.residual, state.f, made, seconds))

    def concluded(self, eigenvalues: Array, before: int, total: int) -> History:
        """The history of a solve with these eigenvalues, best first.

        `before` products were made by an iteration that was given up, in other coordinates, and `total` altogether:
        those after the last row went into its vectors.
        """
        history = History()
        rows = [(*row[:5], before + row[5], row[6]) for row in self._rows] if before else self._rows[:]
        if rows:
            rows[-1] = (*rows[-1][:5], total, rows[-1][6])
        history._rows, history._eigenvalues = rows, eigenvalues
        return history

    def __len__(self) -> int:
        return len(self._rows)

    def __getattr__(self, name: str) -> Array:
        if name not in History.columns:
            raise AttributeError(f"history has the columns {', '.join(History.columns)}, not {name!r}")
        if self._eigenvalues is not None:
            self._complete(self._eigenvalues)
        place = History.columns.index(name)
        return np.array([row[place] for row in self._rows])

    def _complete(self, eigenvalues: Array) -> None:
        """Number the pairs by their eigenvalues, and let eps stand for residuals that rounding hides.

        Most histories are never looked at: it is done when one is.
        """
        self._eigenvalues = None
        eps = float(np.finfo(eigenvalues.dtype).eps)
        residuals = np.where(self.residual < eps, eps, self.residual)
        pairs = attributed(self.pair, self.step, self.value, residuals, eigenvalues)
        self._rows = [
            (pair, *row[1:3], residual, *row[4:])
            for pair, residual, row in zip(pairs.tolist(), residuals.tolist(), self._rows, strict=True)
        ]

    def to_dict(self) -> dict[str, Array]:
        """All columns as arrays, ready for a data frame."""
        return {name: getattr(self, name) for name in History.columns}

    def __repr__(self) -> str:
        return f"History({len(self)} rows: {', '.join(History.columns)})"
