"""The parts of a saved solution that its writing and its reading have in common."""

from __future__ import annotations

FORMAT = "splitmerge solution"
VERSION = 1
ARRAYS = ("eigenvalues", "eigenvectors", "residuals", "error_bounds", "angle_bounds", "clusters")
OPTIONS = ("method", "stop", "preconditioner")
WORDS = ("k", "which", "sigma", "tol", "max_steps", "b_policy", "certify", "interval")
