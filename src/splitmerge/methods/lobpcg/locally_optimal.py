"""`LocallyOptimal`: LOBPCG, the method that never solves with B."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...checks import instance, whole
from ...preconditioners import Preconditioner
from ...run.iteration import Iteration
from ..protocol import Method
from ..setup import Setup
from .iteration import Lobpcg, usual_block


@dataclass(frozen=True)
class LocallyOptimal(Method):
    """LOBPCG (Knyazev 2001): minimise f over span{X, preconditioned residuals W, conjugate directions P}.

    For a pair too large to be factorised, or known by its products alone: it multiplies by A and B and never solves.
    The `preconditioner` is for B, or for A when the smallest are wanted; chosen by a trial when not given. `block`
    vectors take part, some more than are wanted.

    >>> import numpy as np, splitmerge as sm
    >>> sol = sm.solve(np.diag(np.arange(1.0, 301)), k=2, which="smallest", method=sm.LocallyOptimal(sm.Diagonal()))
    >>> sol.eigenvalues.round(6)
    array([1., 2.])
    """

    preconditioner: Preconditioner | None = None
    block: int | None = None
    solves: ClassVar[bool] = False
    subspace: ClassVar[bool] = True
    preconditioned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.inner is not None:
            raise ValueError(f"inner is {self.inner!r}, but LocallyOptimal never solves with B; give a preconditioner")
        if self.preconditioner is not None:
            instance(self.preconditioner, "preconditioner", Preconditioner, "an object such as MultiGrid(), or None")
        if self.block is not None:
            whole(self.block, "block", 1)

    def bind(self, setup: Setup) -> Iteration:
        """The iteration for all k pairs."""
        return Lobpcg(setup, max(self.block or usual_block(setup.k), setup.width))
