"""Covariance matrices: solving and whitening, forming them or not, shrinkage, and pairs of them."""

from .pair import ViewPair, view_pair

__all__ = ["ViewPair", "view_pair"]
