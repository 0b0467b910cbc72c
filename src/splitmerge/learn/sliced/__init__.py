"""Directions that explain a response: sliced inverse regression, average variance, principal Hessian directions."""

from .hessian import PrincipalHessianDirections
from .inverse import SlicedInverseRegression
from .variance import SlicedAverageVariance

__all__ = ["PrincipalHessianDirections", "SlicedAverageVariance", "SlicedInverseRegression"]
