"""One step of gradient descent, of the power method and of Split-Merge, and the surrogates that they minimise."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from . import plane

NAMES = ("gradient", "power", "Split-Merge")
LABELS = {
    "gradient": r"Hessian $L_+I$: gradient",
    "power": r"Hessian $2B$: power",
    "Split-Merge": r"$H_x$: Split-Merge",
}


def start() -> np.ndarray:
    """A point near the saddle, at the multiple where f is least."""
    values, points = plane.stationary()
    u = -2 * points / np.sqrt(values)
    x = np.cos(0.5) * u[:, 1] + np.sin(0.5) * u[:, 0]
    return np.asarray(x * np.sqrt(x @ plane.A @ x) / (2 * x @ plane.B @ x))


def draw(ink: dict[str, str]) -> Figure:
    """Left the steps on the level lines of f, right f and the surrogates along the way of Split-Merge."""
    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    level, along = figure.subplots(1, 2)
    taken = plane.steps(start())
    x = np.linspace(-0.25, 1.25, 301)
    grid = np.meshgrid(x, x)
    heights = np.arange(-0.99, 0.3, 0.06)
    level.contour(*grid, plane.f(*grid), levels=heights, linewidths=0.5, colors=ink["faint"], linestyles="solid")
    offsets = np.stack(grid) - taken.x[:, None, None]
    for name in NAMES:
        hessian, end = taken.hessians[name], taken.ends[name]
        bowl = np.einsum("i,i...->...", taken.slope, offsets)
        bowl += np.einsum("i...,ij,j...->...", offsets, hessian, offsets) / 2
        lowest = -(taken.slope @ np.linalg.solve(hessian, taken.slope)) / 2
        level.contour(*grid, bowl, levels=[lowest * 0.85], colors=[ink[name]], linewidths=0.9, linestyles="--")
        arrow = {"arrowstyle": "-|>", "color": ink[name], "shrinkA": 0, "shrinkB": 0}
        level.annotate("", end, taken.x, arrowprops=arrow)
    _, points = plane.stationary()
    level.plot(*-points[:, 1], "*", color=ink["minimum"], markersize=11)
    level.plot(*taken.x, "o", color=ink["text"])
    level.annotate("x", taken.x, (-12, 2), textcoords="offset points", color=ink["text"])
    level.annotate(r"$u_1$", -points[:, 1], (-16, -12), textcoords="offset points", color=ink["minimum"])
    level.set(aspect="equal", xlabel="first entry", ylabel="second entry", title="One step from x")

    d = taken.ends["Split-Merge"] - taken.x
    t = np.linspace(-0.25, 1.6, 200)
    along.plot(t, plane.f(*(taken.x[:, None] + np.outer(d, t))), color=ink["text"], label="f", linewidth=2)
    for name in NAMES:
        hessian = taken.hessians[name]
        surrogate = plane.f(*taken.x) + t * (taken.slope @ d) + t**2 * (d @ hessian @ d) / 2
        along.plot(t, surrogate, "--", color=ink[name], label=LABELS[name])
    along.set(xlabel="t in x + t d, d the Split-Merge step", ylabel="value", title="f and its surrogates")
    along.set(ylim=(-1.06, -0.55))
    along.legend(fontsize=8, loc="upper center")
    return figure
