"""Linear discriminant analysis."""

from .discriminant import LinearDiscriminantAnalysis

__all__ = ["LinearDiscriminantAnalysis"]
