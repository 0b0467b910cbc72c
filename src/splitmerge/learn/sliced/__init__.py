"""Sliced inverse regression and sliced average variance estimation."""

from .sliced import SlicedAverageVariance, SlicedInverseRegression

__all__ = ["SlicedAverageVariance", "SlicedInverseRegression"]
