"""`Decision`: what was decided and the figures behind it. `solution/explain.py` puts it into words."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any


class Choice(Enum):
    """What a decision is about."""

    WANTED = auto()
    FAR_SHIFT = auto()
    WARM_START = auto()
    RESUMED = auto()
    B_POLICY = auto()
    EQUILIBRATED = auto()
    SCALED = auto()
    LAPACK = auto()
    NEGATED = auto()
    UNFACTORISED = auto()
    GIVEN_UP = auto()
    PREDICTED = auto()
    SWAPPED = auto()
    SHIFT_INVERT = auto()
    COUNTED = auto()
    SLICED = auto()
    FORMED_A = auto()
    FORMED_B = auto()
    IDENTITY = auto()
    SOLVER = auto()
    CONJUGATE_GRADIENTS = auto()
    TRIAL = auto()
    MATRIX_FREE = auto()
    UNUSED_PRECONDITIONER = auto()
    MIXED_PRECISION = auto()
    REFINEMENT = auto()
    EXPLICIT = auto()
    DEFLATION = auto()
    SHIFTED = auto()
    ITERATION = auto()
    STOP = auto()
    BACKEND_ADVICE = auto()
    CHECKPOINT = auto()


@dataclass(frozen=True)
class Decision:
    """A choice with the figures behind it, by name."""

    choice: Choice
    figures: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.figures[name]


def decided(choice: Choice, **figures: Any) -> Decision:
    """The decision with these figures."""
    return Decision(choice, figures)
