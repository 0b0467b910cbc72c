"""Weighted means, co-moments and scatter matrices that are updated and merged."""

from .moments import Comoments, Moments

__all__ = ["Comoments", "Moments"]
