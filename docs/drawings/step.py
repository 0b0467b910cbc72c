"""One step of gradient descent, of the power method and of Split-Merge, and the surrogates that they minimise."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from . import plane

LABELS = {
    "gradient": r"Hessian $L_+I$: gradient",
    "power": r"Hessian $2B$: power",
    "Split-Merge": r"$H_x(u, v)$: Split-Merge",
}


def start() -> np.ndarray:
    """A point between the saddle and the minimum, at the multiple where f is least."""
    values, points = plane.stationary()
    u = -2 * points / np.sqrt(values)
    x = np.cos(0.5) * u[:, 1] + np.sin(0.5) * u[:, 0]
    return np.asarray(x * np.sqrt(x @ plane.A @ x) / (2 * x @ plane.B @ x))


def draw(ink: dict[str, str]) -> dict[str, Figure]:
    """The steps on the level lines of f; f and the surrogates along the step of Split-Merge."""
    taken = plane.steps(start())
    return {"plane": in_the_plane(taken, ink), "curves": along_the_step(taken, ink)}


def in_the_plane(taken: plane.Steps, ink: dict[str, str]) -> Figure:
    """An arrow for each step, and a level line of the surrogate that it minimises."""
    figure = Figure(figsize=(3.6, 3.5), layout="constrained")
    axes = figure.subplots()
    x = np.linspace(-0.25, 1.25, 301)
    grid = np.meshgrid(x, x)
    heights = np.arange(-0.99, 0.3, 0.06)
    axes.contour(*grid, plane.f(*grid), levels=heights, linewidths=0.5, colors=ink["faint"], linestyles="solid")
    offsets = np.stack(grid) - taken.x[:, None, None]
    for name in LABELS:
        hessian = taken.hessians[name]
        bowl = np.einsum("i,i...->...", taken.slope, offsets)
        bowl += np.einsum("i...,ij,j...->...", offsets, hessian, offsets) / 2
        lowest = -(taken.slope @ np.linalg.solve(hessian, taken.slope)) / 2
        axes.contour(*grid, bowl, levels=[lowest * 0.85], colors=[ink[name]], linewidths=0.9, linestyles="--")
        arrow = {"arrowstyle": "-|>", "color": ink[name], "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", taken.ends[name], taken.x, arrowprops=arrow)
    _, points = plane.stationary()
    axes.plot(*-points[:, 1], "*", color=ink["minimum"], markersize=11)
    axes.plot(*taken.x, "o", color=ink["text"])
    axes.annotate("x", taken.x, (-12, 2), textcoords="offset points", color=ink["text"])
    axes.annotate(r"$u_1$", -points[:, 1], (-16, -12), textcoords="offset points", color=ink["minimum"])
    axes.set(aspect="equal", xlabel="first entry", ylabel="second entry", title="One step from x")
    return figure


def along_the_step(taken: plane.Steps, ink: dict[str, str]) -> Figure:
    """f and the three surrogates as functions of the length of the step."""
    figure = Figure(figsize=(3.6, 3.5), layout="constrained")
    axes = figure.subplots()
    d = taken.ends["Split-Merge"] - taken.x
    t = np.linspace(-0.25, 1.6, 200)
    axes.plot(t, plane.f(*(taken.x[:, None] + np.outer(d, t))), color=ink["text"], label="f", linewidth=2)
    for name, label in LABELS.items():
        surrogate = plane.f(*taken.x) + t * (taken.slope @ d) + t**2 * (d @ taken.hessians[name] @ d) / 2
        # the space above is for the legend
        shown = surrogate < -0.68
        axes.plot(t[shown], surrogate[shown], "--", color=ink[name], label=label)
    axes.set(xlabel="t in x + t d, d the Split-Merge step", ylabel="value", title="f and its surrogates")
    axes.set(ylim=(-1.06, -0.5))
    axes.legend(fontsize=8, loc="upper center")
    return figure
