"""Canonical correlation analysis of two and of several views."""

from .cca import CCA
from .mcca import MCCA

__all__ = ["CCA", "MCCA"]
