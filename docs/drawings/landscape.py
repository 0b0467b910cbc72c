"""The landscape of f for a pair of size 2."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from . import plane


def draw(ink: dict[str, str]) -> Figure:
    """Level lines of f with its stationary points, and f along the circle of directions."""
    figure = Figure(figsize=(7.2, 3.5), layout="constrained")
    level, profile = figure.subplots(1, 2, width_ratios=(1, 1.1))
    values, points = plane.stationary()
    x = np.linspace(-1.35, 1.35, 301)
    heights = np.arange(-0.98, 0.9, 0.12)
    low, high = (0.35, 1.0) if ink["theme"] == "dark" else (0.0, 0.9)
    colours = colormaps["viridis"](np.linspace(low, high, len(heights)))
    level.contour(x, x, plane.f(*np.meshgrid(x, x)), levels=heights, linewidths=0.8, colors=colours, linestyles="solid")
    for i, name in ((1, "minimum"), (0, "saddle")):
        for sign in (1, -1):
            u = sign * points[:, i]
            level.plot(*u, "o" if i else "s", color=ink[name], zorder=3)
    level.plot(0, 0, "x", color=ink["text"])
    _note(level, points[:, 1], r"$u_1$: minimum", ink["minimum"], (-6, -16))
    _note(level, -points[:, 1], r"$-u_1$: minimum", ink["minimum"], (-40, 10))
    _note(level, points[:, 0], r"$u_2$: saddle", ink["saddle"], (-4, -16))
    level.set(aspect="equal", xlabel="first entry of x", ylabel="second entry of x", title="f in the plane")

    angles = np.linspace(0, 2 * np.pi, 721)
    least = [_best(np.array([np.cos(a), np.sin(a)])) for a in angles]
    profile.plot(np.degrees(angles), least, color=ink["text"])
    for i, name in ((1, "minimum"), (0, "saddle")):
        direction = np.degrees(np.arctan2(points[1, i], points[0, i])) % 180
        profile.plot([direction, direction + 180], 2 * [-values[i] / 4], "o" if i else "s", color=ink[name])
        profile.axhline(-values[i] / 4, color=ink[name], linewidth=0.8, linestyle=":")
        profile.text(359, -values[i] / 4, rf"$-\lambda_{2 - i}/4$", color=ink[name], ha="right", va="bottom")
    profile.set(xlabel="direction of x in degrees", ylabel="least f on the line", title="f on each line through 0")
    profile.set_xticks([0, 90, 180, 270, 360])
    return figure


def _note(axes: Any, point: Any, text: str, colour: str, offset: tuple[int, int]) -> None:
    axes.annotate(text, point, offset, textcoords="offset points", color=colour, fontsize=9)


def _best(x: Any) -> float:
    """The least value of f over the multiples of x: −¼ of the Rayleigh quotient."""
    return float(-(x @ plane.A @ x) / (x @ plane.B @ x) / 4)
