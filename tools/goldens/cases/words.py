"""Expressions shared by the cases."""

from __future__ import annotations

TARGETS = ("", "which='smallest'", "sigma={sigma}", "which='magnitude'", "which='ends'")
# Sparse pairs with 992, 210 and 56 unknowns, and one with B = I and 360 unknowns.
FINE = "gallery.element_laplacian((33, 32))"
MIDDLE = "gallery.element_laplacian((16, 15))"
COARSE = "gallery.element_laplacian((9, 8))"
GRID = "gallery.grid_laplacian((20, 18))"


def solve(pair: str, *options: str) -> str:
    """A call of `solve` for a pair, with seed 0."""
    return f"solve({', '.join((f'*{pair}', *filter(None, options), 'rng=0'))})"
