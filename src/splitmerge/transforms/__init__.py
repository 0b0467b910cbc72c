"""Spectral transformations."""

from .lumped import LumpedInverse, LumpedShiftInvert, inverse_of, is_lumped
from .protocol import Transform
from .shift_invert import MasslessShiftInvert, SemidefiniteShiftInvert, ShiftInvert
from .standard import BInner, Whitened, standard

__all__ = [
    "BInner",
    "LumpedInverse",
    "LumpedShiftInvert",
    "MasslessShiftInvert",
    "SemidefiniteShiftInvert",
    "ShiftInvert",
    "Transform",
    "Whitened",
    "inverse_of",
    "is_lumped",
    "standard",
]
