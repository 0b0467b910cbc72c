"""Auchmuty's quartic, and its exact line search."""

from __future__ import annotations

import math

from ...objective.state import State
from .direction import Direction


def quartic(state: State) -> float:
    """G(x) = ¼(xᴴBx)² − ½xᴴAx, stationary where Ax = (xᴴBx)Bx."""
    return state.b**2 / 4 - state.s / 2


def line_search(state: State, along: Direction, slope: float) -> float:
    """The t that minimises G(x + td), a root of a cubic; `slope` is −dᴴ∇G(x)."""
    dot = state.products.kernels.dot
    xBd, dBd, dAd = dot(state.x, along.Bd), dot(along.d, along.Bd), dot(along.d, along.Ad)
    if not dBd > 0:
        return 0.0
    # d/dτ G(x + τd/‖d‖_B) = τ³ + 3aτ² + bτ + c
    length = math.sqrt(dBd)
    a, b, c = xBd / length, (2 * xBd**2 - dAd) / dBd + state.b, -slope / length

    def gain(t: float) -> float:
        return -t * (c + t * (b / 2 + t * (a + t / 4)))

    return max(_roots(a, b, c), key=gain) / length


def _roots(a: float, b: float, c: float) -> list[float]:
    """The real roots of τ³ + 3aτ² + bτ + c, from those of u³ + 3pu + 2q with u = τ + a."""
    p, q = b / 3 - a * a, a**3 - a * b / 2 + c / 2
    square = q * q + p**3
    if square > 0:
        u = math.cbrt(math.sqrt(square) + abs(q))
        roots = [math.copysign(1.0, q) * (p / u - u)]
    else:
        angle = math.acos(max(-1.0, min(1.0, -q / (-p) ** 1.5))) if p else 0.0
        roots = [2 * math.sqrt(-p) * math.cos((angle + 2 * math.pi * k) / 3) for k in range(3)]
    return [_polished(u - a, a, b, c) for u in roots]


def _polished(t: float, a: float, b: float, c: float) -> float:
    """Two Newton steps: close to an eigenvector one root is tiny, and subtracting a cancels its digits."""
    for _ in range(2):
        derivative = b + t * (6 * a + 3 * t)
        if derivative:
            t -= (c + t * (b + t * (3 * a + t))) / derivative
    return t
