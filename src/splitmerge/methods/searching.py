"""What the methods that seek several pairs at once have in common."""

from __future__ import annotations

from typing import Any

from ..objective.state import State
from ..problem.pencil import Pencil
from ..typing import Array
from .protocol import Method


class Searching(Method):
    """A step lets the search, which is the memory of the states, advance; a state is one of its pairs."""

    def first(self, pencil: Pencil, x: Array | None, memory: Any) -> State:
        """The state at the start x; without one, the search goes on where it is."""
        if x is not None:
            memory.start(x[:, None] if x.ndim == 1 else x)
        state: State = memory.pair(memory.index)
        return state

    def step(self, state: State) -> State:
        """More of the space, and the minimum of f over it."""
        state.memory.advance()
        following: State = state.memory.pair(state.memory.index)
        return following
