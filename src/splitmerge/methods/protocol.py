"""What a method is: an immutable options object with a set-up, a first state and a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..objective.state import State, start
from ..problem.pencil import Pencil
from ..solvers.protocol import InnerSolver
from ..typing import Array


@dataclass(frozen=True)
class Method(ABC):
    """Solve with B by `inner`; None factorises a matrix and runs conjugate gradients on an operator."""

    inner: InnerSolver | None = field(default=None, kw_only=True)
    # does it ever solve with B?
    solves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.inner is not None and (isinstance(self.inner, type) or not hasattr(self.inner, "describe")):
            raise ValueError(f"inner is {self.inner!r}; give an object such as Cholesky() or ConjugateGradient(30)")

    def setup(self, pencil: Pencil, rng: np.random.Generator) -> Any:
        """Whatever the steps need and is computed once: a step size, a preconditioner."""
        return None

    def first(self, pencil: Pencil, x: Array | None, memory: Any) -> State:
        """The state at the start x; only a method that keeps a memory of its own goes on without one."""
        assert x is not None
        return start(pencil, x, memory)

    @abstractmethod
    def step(self, state: State) -> State:
        """The next iterate."""
