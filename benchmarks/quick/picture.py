"""The ratios as a dot plot on a logarithmic axis, grouped by section."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .record import Record

WIN, LOSS, PLAIN = "#1b6ca8", "#c0392b", "#888888"
# Inches for a row, for the gap between sections, and around all.
ROW_INCHES, MARGIN_INCHES = 0.17, 1.6


def positions(records: list[Record]) -> tuple[list[float], list[tuple[str, float]]]:
    """The height of every row, and of the title of every section above its rows."""
    heights: list[float] = []
    titles: list[tuple[str, float]] = []
    y, section = 0.0, None
    for r in records:
        if r["section"] != section:
            section = r["section"]
            titles.append((r["section"], y + 1))
            y += 2
        heights.append(y)
        y += 1
    return heights, titles


def draw(records: list[Record], path: Path, facts: dict[str, Any]) -> None:
    """Write the picture; without matplotlib, none."""
    shown = [r for r in records if r["ratio"] is not None]
    try:
        import matplotlib
    except ImportError:
        return
    if not shown:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    heights, titles = positions(shown)
    figure, axes = plt.subplots(figsize=(9, MARGIN_INCHES + ROW_INCHES * (heights[-1] + 1)), layout="constrained")
    for r, y in zip(shown, heights, strict=True):
        mark(axes, r, y)
    for title, y in titles:
        axes.text(0.005, y, title, transform=axes.get_yaxis_transform(), weight="bold", va="center", fontsize=9)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(heights, [f"{r['name']}, {r['target']}" for r in shown], fontsize=7)
    axes.set_ylim(heights[-1] + 1, -0.5)
    axes.tick_params(axis="x", top=True, labeltop=True)
    axes.grid(axis="x", which="both", alpha=0.25, linewidth=0.5)
    axes.set_xlabel("other solver's time / ours (right of 1 we are faster)")
    title = f"filled: best peer, red where we lose; hollow: plain peer (threads: {facts['threads']})"
    axes.set_title(title, fontsize=9)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def mark(axes: Any, r: Record, y: float) -> None:
    """The dots of a row, joined by a line."""
    if r["plain_ratio"] is not None:
        axes.plot([r["ratio"], r["plain_ratio"]], [y, y], color=PLAIN, linewidth=0.8, zorder=1)
        axes.plot(r["plain_ratio"], y, "o", markerfacecolor="white", markeredgecolor=PLAIN, markersize=5, zorder=2)
    axes.plot(r["ratio"], y, "o", color=LOSS if r["ratio"] < 1 else WIN, markersize=4.5, zorder=3)
