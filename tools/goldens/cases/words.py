"""What the expressions have in common."""

from __future__ import annotations

TARGETS = ("", "which='smallest'", "sigma={sigma}", "which='magnitude'", "which='ends'")
# sparse pairs of 992, 210 and 56 unknowns, and one without B of 360
FINE = "gallery.element_laplacian((33, 32))"
MIDDLE = "gallery.element_laplacian((16, 15))"
COARSE = "gallery.element_laplacian((9, 8))"
GRID = "gallery.grid_laplacian((20, 18))"


def solve(pair: str, *options: str) -> str:
    """`solve` of a pair; the seed is always 0."""
    return f"solve({', '.join((f'*{pair}', *filter(None, options), 'rng=0'))})"
