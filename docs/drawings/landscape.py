"""The landscape of f for a pair of size 2."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from . import plane

# whose markers are drawn how: the column of the stationary points, and the shape
KINDS = (("minimum", 1, "o"), ("saddle", 0, "s"))


def draw(ink: dict[str, str]) -> dict[str, Figure]:
    """Level lines of f with its stationary points, and f along the circle of directions."""
    return {"plane": in_the_plane(ink), "lines": on_lines(ink)}


def in_the_plane(ink: dict[str, str]) -> Figure:
    """Level lines."""
    figure = Figure(figsize=(3.6, 3.4), layout="constrained")
    axes = figure.subplots()
    _, points = plane.stationary()
    x = np.linspace(-1.35, 1.35, 301)
    heights = np.arange(-0.98, 0.9, 0.12)
    low, high = (0.35, 1.0) if ink["theme"] == "dark" else (0.0, 0.9)
    colours = colormaps["viridis"](np.linspace(low, high, len(heights)))
    axes.contour(x, x, plane.f(*np.meshgrid(x, x)), levels=heights, linewidths=0.8, colors=colours, linestyles="solid")
    for name, i, marker in KINDS:
        for u in (points[:, i], -points[:, i]):
            axes.plot(*u, marker, color=ink[name], zorder=3)
    axes.plot(0, 0, "x", color=ink["text"])
    _note(axes, -points[:, 1], r"$u_1$: minimum", ink["minimum"], (-38, 9), ink)
    _note(axes, points[:, 1], r"$-u_1$: minimum", ink["minimum"], (-24, -16), ink)
    _note(axes, points[:, 0], r"$u_2$: saddle", ink["saddle"], (-20, -16), ink)
    _note(axes, -points[:, 0], r"$-u_2$: saddle", ink["saddle"], (-40, 9), ink)
    axes.set(aspect="equal", xlabel="first entry of x", ylabel="second entry of x", title="f in the plane")
    return figure


def on_lines(ink: dict[str, str]) -> Figure:
    """The least value of f on each line through 0."""
    figure = Figure(figsize=(3.6, 3.4), layout="constrained")
    axes = figure.subplots()
    values, points = plane.stationary()
    angles = np.linspace(0, 2 * np.pi, 721)
    axes.plot(np.degrees(angles), [_least(np.array([np.cos(a), np.sin(a)])) for a in angles], color=ink["text"])
    for name, i, marker in KINDS:
        direction = np.degrees(np.arctan2(points[1, i], points[0, i])) % 180
        axes.plot([direction, direction + 180], 2 * [-values[i] / 4], marker, color=ink[name])
        axes.axhline(-values[i] / 4, color=ink[name], linewidth=0.8, linestyle=":")
        beside = (direction + 90) % 180
        axes.text(beside, -values[i] / 4, rf"$-\lambda_{2 - i}/4$", color=ink[name], ha="center", va="bottom")
    axes.set(xlabel="direction of x in degrees", ylabel="least f on the line", title="f on each line through 0")
    axes.set_xticks([0, 90, 180, 270, 360])
    return figure


def _note(axes: Any, point: Any, text: str, colour: str, offset: tuple[int, int], ink: dict[str, str]) -> None:
    halo = [withStroke(linewidth=3, foreground=ink["paper"])]
    axes.annotate(text, point, offset, textcoords="offset points", color=colour, fontsize=9, path_effects=halo)


def _least(x: Any) -> float:
    """The least value of f over the multiples of x: −¼ of the Rayleigh quotient."""
    return float(-(x @ plane.A @ x) / (x @ plane.B @ x) / 4)
