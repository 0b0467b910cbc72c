"""Plots of a solution by matplotlib: convergence and spectrum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ...system.packages import missing
from .curves import By, Curve, curves, tolerance
from .words import asked, cost, short

if TYPE_CHECKING:
    from ..solution import Solution

Kind: TypeAlias = Literal["convergence", "spectrum"]

# Up to this many pairs each has a line in the legend; colours go over a map beyond.
MAX_LEGEND = 10


def plot(solution: Solution, kind: Kind, by: By, ax: Any) -> Any:
    """The axes with the plot; new ones if `ax` is None."""
    if kind not in ("convergence", "spectrum"):
        raise ValueError(f'kind is {kind!r}; give "convergence" or "spectrum"')
    if by not in ("products", "seconds"):
        raise ValueError(f'by is {by!r}; give "products" or "seconds"')
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(missing("plot", "matplotlib")) from None
    # beside the curves where there is room for it
    beside = {} if ax is not None else {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    if ax is None:
        ax = pyplot.figure(layout="constrained").subplots()
    if kind == "convergence":
        _convergence(solution, ax, by, beside)
    else:
        _spectrum(solution, ax, beside)
    ax.set_title(asked(solution))
    return ax


def _convergence(solution: Solution, ax: Any, by: By, beside: dict[str, Any]) -> None:
    found = curves(solution, by)
    ax.set(xlabel=cost(solution.counts) if by == "products" else "seconds", ylabel="relative residual")
    if not found:
        ax.text(0.5, 0.5, "LAPACK computed the pairs directly:\nno steps", ha="center", transform=ax.transAxes)
        return
    ax.set_yscale("log")
    wanted = [curve for curve in found if curve.wanted]
    colours = _colours(solution.eigenvalues.size)
    for curve in wanted:
        colour = colours[curve.pair]
        ax.plot(curve.x, curve.y, ".-", color=colour, label=f"pair {curve.pair + 1}", linewidth=1.3, markersize=4)
        ax.plot([curve.end], [curve.confirmed], "o", color=colour, markerfacecolor="none")
    ax.plot([], [], "o", color="grey", markerfacecolor="none", label="recomputed from A and B")
    _others([curve for curve in found if not curve.wanted], ax)
    tol = tolerance(solution)
    if tol is not None and tol > 0:
        ax.axhline(tol, color="grey", linestyle="--", linewidth=1, label="tol")
    ax.grid(alpha=0.3)
    if len(wanted) > MAX_LEGEND:
        _scale(len(wanted), ax)
    else:
        ax.legend(fontsize="small", **beside)


def _others(found: list[Curve], ax: Any) -> None:
    """Pairs that others turned out to be wanted more than."""
    for place, curve in enumerate(found):
        ax.plot(curve.x, curve.y, ".:", color="grey", label="_" if place else "not among them", linewidth=1)


def _spectrum(solution: Solution, ax: Any, beside: dict[str, Any]) -> None:
    """Values with their error bounds; those of one cluster have one colour, those without a bound a hollow mark."""
    values, bounds, labels = solution.eigenvalues, solution.error_bounds, solution.clusters
    pairs, known = np.arange(1, values.size + 1), np.isfinite(bounds)
    shared = [label for label in dict.fromkeys(labels.tolist()) if np.sum(labels == label) > 1]
    for place, label in enumerate([None, *shared]):
        chosen = ~np.isin(labels, shared) if label is None else labels == label
        colour = "C0" if label is None else f"C{1 + (place - 1) % 9}"
        name = "simple" if label is None else f"cluster of {chosen.sum()}"
        rows = chosen & known
        if rows.any():
            ax.errorbar(pairs[rows], values[rows], bounds[rows], fmt="o", color=colour, label=name, capsize=4)
        rows = chosen & ~known
        if rows.any():
            name = f"{name}, error unknown"
            ax.plot(pairs[rows], values[rows], "o", color=colour, label=name, markerfacecolor="none")
    largest = float(np.max(bounds[known], initial=0.0))
    ax.set(xlabel=f"pair (error bars: at most {short(largest)})", ylabel="eigenvalue")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(alpha=0.3)
    if 0 < len(shared) <= MAX_LEGEND:
        ax.legend(fontsize="small", **beside)


def _colours(count: int) -> list[Any]:
    """A colour for each pair."""
    if count <= MAX_LEGEND:
        return [f"C{pair}" for pair in range(count)]
    return list(_map()(np.linspace(0, 1, count)))


def _map() -> Any:
    """Colours from dark to light, without the lightest, which a white page hides."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["viridis"](np.linspace(0, 0.9, 256)))


def _scale(count: int, ax: Any) -> None:
    """The colours of the pairs, in place of a legend."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    ax.figure.colorbar(ScalarMappable(Normalize(1, count), _map()), ax=ax, label="pair")
