"""What a method is: an immutable options object that is bound to a set-up, and by default only supplies a step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..objective.state import State, start
from ..problem.products import Products
from ..run.iteration import Iteration
from ..solvers import InnerSolver
from ..typing import Array
from .deflation import Deflation
from .setup import Setup


@dataclass(frozen=True)
class Method:
    """Solve with B by `inner`; None factorises a matrix and runs conjugate gradients on an operator.

    A method of your own implements `step`, and `setup` if its steps need something that is computed once. k pairs,
    shifts, stopping, counting and verification come from the library.
    """

    inner: InnerSolver | None = field(default=None, kw_only=True)
    # does it ever solve with B?
    solves: ClassVar[bool] = True
    # does it compute all k pairs in one subspace, rather than one after the other by deflation?
    subspace: ClassVar[bool] = False
    # does it expand its space by preconditioned residuals, so that the space is no Krylov space?
    preconditioned: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if type(self).step is Method.step and type(self).bind is Method.bind:
            raise TypeError(f"{type(self).__name__} must implement step(state), which returns the next State")
        if self.inner is not None and (isinstance(self.inner, type) or not hasattr(self.inner, "describe")):
            raise ValueError(f"inner is {self.inner!r}; give an object such as Cholesky() or ConjugateGradient(30)")

    def setup(self, products: Products, rng: np.random.Generator) -> Any:
        """Whatever the steps need and is computed once (a step size, a preconditioner): the memory of the states."""
        return None

    def first(self, products: Products, x: Array, memory: Any) -> State:
        """The state at the start x."""
        return start(products, x, memory)

    def step(self, state: State) -> State:
        """The next iterate."""
        raise NotImplementedError(f"{type(self).__name__} has no steps of its own")

    def bind(self, setup: Setup) -> Iteration:
        """The iteration for k pairs: by default one pair after the other, each found vector deflated."""
        return Deflation(self, setup)
