"""Rendering of points on a logarithmic axis, as text and boxes that fit any width and need no JavaScript."""

from __future__ import annotations

import math
from html import escape

from .blocks import Dot, Dots

# Decades of an axis from which only every second one has a label.
MANY_DECADES = 6


def dots(block: Dots) -> str:
    """The figure as HTML."""
    low, high = _range(block)
    rows = "".join(_row(name, points, low, high) for name, points in block.rows)
    step = 1 if high - low < MANY_DECADES else 2
    ticks = "".join(
        f'<span style="left:{_percent(power, low, high)}">{_power(power)}</span>'
        for power in range(low, high + 1, step)
    )
    grid = "".join(f'<i style="left:{_percent(power, low, high)}"></i>' for power in range(low, high + 1))
    filled, hollow = map(escape, block.key)
    told = "; ".join(dot.told for _, points in block.rows for dot in points)
    return f"""<figure class="dots"><figcaption>{escape(block.caption)}</figcaption>
<p class="key"><i class="dot"></i> {filled} <i class="dot hollow"></i> {hollow}</p>
<div role="img" aria-label="{escape(told)}">{rows}
<div class="row axis"><span></span><span class="track">{grid}{ticks}</span></div>
<div class="axis x">{escape(block.label)}</div></div></figure>"""


def _range(block: Dots) -> tuple[int, int]:
    """The powers of ten around all points and whiskers."""
    ends = [end for _, points in block.rows for dot in points for end in _ends(dot)] or [1.0]
    low, high = math.floor(math.log10(min(ends))), math.ceil(math.log10(max(ends)))
    return low, max(high, low + 1)


def _ends(dot: Dot) -> tuple[float, float]:
    # a whisker cannot reach zero on a logarithmic axis
    return max(dot.value - dot.deviation, dot.value / 10), dot.value + dot.deviation


def _row(name: str, points: tuple[Dot, ...], low: int, high: int) -> str:
    marks = []
    for dot in points:
        first, last = (_part(math.log10(end), low, high) for end in _ends(dot))
        ink = f"--ink:var(--c{dot.colour})"
        hollow = " hollow" if dot.hollow else ""
        marks.append(
            f'<i class="whisker{hollow}" style="left:{100 * first:.2f}%;width:{100 * (last - first):.2f}%;{ink}"></i>'
        )
        at = _percent(math.log10(dot.value), low, high)
        marks.append(f'<i class="dot{hollow}" style="left:{at};{ink}" title="{escape(dot.told)}"></i>')
    return f'<div class="row"><span>{escape(name)}</span><span class="track">{"".join(marks)}</span></div>\n'


def _part(at: float, low: int, high: int) -> float:
    return (at - low) / (high - low)


def _percent(at: float, low: int, high: int) -> str:
    return f"{100 * _part(at, low, high):.2f}%"


def _power(power: int) -> str:
    """A power of ten as a plain number where that is short.

    >>> _power(2), _power(-1), _power(6)
    ('100', '0.1', '10<sup>6</sup>')
    """
    return f"{10.0**power:,.6g}" if -3 <= power < 6 else f"10<sup>{power}</sup>".replace("-", "−")
