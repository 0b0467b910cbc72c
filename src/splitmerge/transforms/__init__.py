"""Spectral transformations."""

from .protocol import Transform
from .shift_invert import SemidefiniteShiftInvert, ShiftInvert
from .standard import BInner, Whitened, standard

__all__ = ["BInner", "SemidefiniteShiftInvert", "ShiftInvert", "Transform", "Whitened", "standard"]
