"""`LocallyOptimal`, the method that never solves with B."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...checks import instance, whole
from ...preconditioners import Preconditioner
from ...problem.pencil import Pencil
from ..searching import Searching
from .search import LocalSearch


@dataclass(frozen=True)
class LocallyOptimal(Searching):
    """Minimise f over span{X, preconditioned gradients of X, what X moved by last}; products with A and B only.

    For a pair too large to be factorised, or known by its products alone. The `preconditioner` is for B, or for A when
    the smallest are wanted: chosen by a trial when not given. `block` vectors take part, some more than are wanted.

    >>> import numpy as np, splitmerge as sm
    >>> sol = sm.solve(np.diag(np.arange(1.0, 301)), k=2, which="smallest", method=sm.LocallyOptimal(sm.Diagonal()))
    >>> sol.eigenvalues.round(6)
    array([1., 2.])
    """

    preconditioner: Preconditioner | None = None
    block: int | None = None
    solves: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.inner is not None:
            raise ValueError(f"inner is {self.inner!r}, but LocallyOptimal never solves with B; give a preconditioner")
        if self.preconditioner is not None:
            instance(self.preconditioner, "preconditioner", Preconditioner, "an object such as MultiGrid(), or None")
        if self.block is not None:
            whole(self.block, "block", 1)

    def setup(self, pencil: Pencil, rng: np.random.Generator) -> Any:
        """A search for the leading pair."""
        P = None if self.preconditioner is None else self.preconditioner.prepare(pencil)
        return LocalSearch(pencil, 1, P, rng, block=self.block)
