"""Spectral transformations."""

from .protocol import Transform
from .shift_invert import MasslessShiftInvert, SemidefiniteShiftInvert, ShiftInvert
from .standard import BInner, Whitened, standard

__all__ = [
    "BInner",
    "MasslessShiftInvert",
    "SemidefiniteShiftInvert",
    "ShiftInvert",
    "Transform",
    "Whitened",
    "standard",
]
