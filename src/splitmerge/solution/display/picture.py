"""Convergence as an SVG picture of some kilobytes, for notebooks: it needs no script and no other file."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from .curves import Curve

# They have a contrast of 3 or more with white and with black; text and axes take the colour of the page.
COLOURS = ("#3d85d6", "#c8741a", "#2f9e5f", "#d45555", "#8f72cc", "#a07a4f", "#c966a6", "#82902a")
WIDTH, HEIGHT = 420, 220
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 12, 36
# Points of a curve that are drawn, up to how many of them are marked, and labels of the axis of residuals.
MAX_POINTS, MAX_MARKED, MAX_DECADES = 120, 24, 6


def colour_of(pair: int) -> str:
    """The colour of a pair."""
    return COLOURS[pair % len(COLOURS)]


def picture(curves: Sequence[Curve], x_label: str, tol: float | None) -> str:
    """The SVG element: lines are residuals of the iteration, rings those recomputed from A and B."""
    levels = [float(level) for curve in curves for level in (*curve.y.tolist(), curve.confirmed, tol) if level]
    levels = [math.log10(level) for level in levels if 0 < level < math.inf] or [0.0]
    first, last = math.floor(min(levels)), max(math.ceil(max(levels)), math.floor(min(levels)) + 1)
    most = max(max(curve.end, float(curve.x.max(initial=0.0))) for curve in curves) or 1.0
    to_x = (WIDTH - LEFT - RIGHT) / most
    to_y = (HEIGHT - TOP - BOTTOM) / (last - first)

    def place(x: float, y: float) -> tuple[float, float]:
        height = last - math.log10(y) if y > 0 else last - first
        return LEFT + to_x * x, TOP + to_y * min(max(height, 0.0), last - first)

    parts = _axes(first, last, to_y, f"{most:,.4g}", x_label)
    if tol is not None and tol > 0:
        height = place(0.0, tol)[1]
        parts.append(_line(LEFT, height, WIDTH - RIGHT, height, 'stroke-dasharray="4 3" stroke-opacity=".7"'))
    parts += [_curve(curve, place) for curve in curves]
    label = f"Residuals of {len(curves)} pairs against {x_label}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" style="max-width:100%;height:auto;color:inherit" font-size="11" '
        f'font-family="sans-serif" fill="currentColor">{"".join(parts)}</svg>'
    )


def _axes(first: int, last: int, to_y: float, most: str, x_label: str) -> list[str]:
    bottom, stride = HEIGHT - BOTTOM, max(1, math.ceil((last - first) / MAX_DECADES))
    parts = []
    for decade in range(last, first - 1, -stride):
        height = TOP + to_y * (last - decade)
        parts.append(_line(LEFT, height, WIDTH - RIGHT, height, 'stroke-opacity=".18"'))
        parts.append(f'<text x="{LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">1e{decade}</text>')
    middle = (LEFT + WIDTH - RIGHT) // 2
    parts.append(_line(LEFT, bottom, WIDTH - RIGHT, bottom, 'stroke-opacity=".6"'))
    for x, anchor, text in ((LEFT, "start", "0"), (middle, "middle", x_label), (WIDTH - RIGHT, "end", most)):
        parts.append(f'<text x="{x}" y="{bottom + 18}" text-anchor="{anchor}">{text}</text>')
    return parts


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line x1="{x1}" y1="{y1:.1f}" x2="{x2}" y2="{y2:.1f}" stroke="currentColor" {style}/>'


def _curve(curve: Curve, place: Callable[[float, float], tuple[float, float]]) -> str:
    colour = colour_of(curve.pair) if curve.wanted else "currentColor"
    faint = "" if curve.wanted else ' opacity=".5"'
    chosen = np.unique(np.linspace(0, curve.x.size - 1, min(curve.x.size, MAX_POINTS)).astype(int))
    points = list(map(place, curve.x[chosen].tolist(), curve.y[chosen].tolist()))
    drawn = f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" stroke-width="1.6"/>'
    if len(points) <= MAX_MARKED:
        drawn += "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.8" fill="{colour}"/>' for x, y in points)
    if curve.confirmed is not None and math.isfinite(curve.confirmed):
        x, y = place(curve.end, curve.confirmed)
        drawn += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="none" stroke-width="1.6"/>'
    return f'<g stroke="{colour}"{faint}>{drawn}</g>'
