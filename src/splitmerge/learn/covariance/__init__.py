"""Covariance matrices: solving with them, forming them or not, shrinkage, and pairs of them."""
