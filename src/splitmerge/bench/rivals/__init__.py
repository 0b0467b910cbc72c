"""The algorithms that the paper compares itself with in words, each from its published description, one file each.

They are methods like any other: `sm.solve(A, B, method=rivals.JacobiDavidson())`.
"""
