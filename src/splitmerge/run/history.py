"""The history of an iteration, column by column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..objective.state import State
from ..typing import Array


class History:
    """One row a state: pair, step, value (the eigenvalue), residual, f, products (with A, so far) and seconds."""

    columns = ("pair", "step", "value", "residual", "f", "products", "seconds")

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, float, float, float, int, float]] = []

    @classmethod
    def of(cls, columns: Sequence[Array]) -> History:
        """The history with these columns, which are as long as each other."""
        history = cls()
        history._rows = list(zip(*(column.tolist() for column in columns), strict=True))
        return history

    def record(self, pair: int, state: State) -> None:
        """Append the state; its numbers are known without further products."""
        products = state.products.counts.A_products
        seconds = state.products.budget.elapsed()
        self._rows.append((pair, state.step, state.eigenvalue, state.residual, state.f, products, seconds))

    def __len__(self) -> int:
        return len(self._rows)

    def __getattr__(self, name: str) -> Array:
        if name not in History.columns:
            raise AttributeError(f"history has the columns {', '.join(History.columns)}, not {name!r}")
        place = History.columns.index(name)
        return np.array([row[place] for row in self._rows])

    def to_dict(self) -> dict[str, Array]:
        """All columns as arrays, ready for a data frame."""
        return {name: getattr(self, name) for name in History.columns}

    def __repr__(self) -> str:
        return f"History({len(self)} rows: {', '.join(History.columns)})"
