"""Are these values the wanted part of the spectrum? Comparison with multiplicity, and with ties."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from .precise import TINY, Array


def submultiset(values: Array, room: Array, spectrum: Array, errors: Array) -> str:
    """Give every value an eigenvalue of its own within its room; the complaint if that is impossible."""
    if not len(values):
        return ""
    distances = abs(spectrum - values[:, None])
    near = csr_array((distances <= room[:, None] + errors).astype(np.int8).reshape(len(values), -1))
    lonely = np.flatnonzero(maximum_bipartite_matching(near, perm_type="column") < 0)
    if not lonely.size:
        return ""
    i = int(lonely[0])
    nearest = float(distances[i].min(initial=np.inf))
    return (
        f"value {i} = {float(values[i]):.17g} has no eigenvalue of its own within {float(room[i]):.2e} "
        f"(the nearest is at a distance of {nearest:.2e})"
    )


def one_by_one(found: Array, wanted: Array, room: Array) -> str:
    """Compare two sequences in order."""
    off = abs(found - wanted) - room
    if not len(off) or off.max() <= 0:
        return ""
    i = int(np.argmax(off / np.maximum(room, TINY)))
    return (
        f"value {i} is {float(found[i]):.17g} instead of {float(wanted[i]):.17g}: "
        f"off by {float(abs(found[i] - wanted[i])):.2e}, allowed {float(room[i]):.2e}"
    )


def by_turns(values: Array, k: int) -> list[int]:
    """The indices of the largest, the smallest, the second largest and so on, of ascending values."""
    n = len(values)
    return [n - 1 - j // 2 if j % 2 == 0 else j // 2 for j in range(k)]


def solve_order(spectrum: Array, which: str, sigma: float | None, k: int) -> tuple[Array, Any]:
    """The indices of the wanted values in the documented order, and the key that is compared."""
    if sigma is not None:
        distance = abs(spectrum - np.longdouble(sigma))
        return np.argsort(distance, kind="stable")[:k], lambda x: abs(x - np.longdouble(sigma))
    if which in ("magnitude", "largest_magnitude"):
        return np.argsort(-abs(spectrum), kind="stable")[:k], abs
    if which in ("ends", "both_ends"):
        return np.array(by_turns(spectrum, k)), lambda x: x
    order = np.arange(len(spectrum))
    return (order if which == "smallest" else order[::-1])[:k], lambda x: x


def check_wanted(found: Array, room: Array, spectrum: Array, errors: Array, target: tuple[str, Any, int]) -> str:
    """Are the values the wanted ones, in order and with multiplicity? The complaint if not."""
    which, sigma, k = target
    indices, key = solve_order(spectrum, which, sigma, k)
    room = room + errors[indices]
    return one_by_one(key(found), key(spectrum[indices]), room) or submultiset(found, room, spectrum, errors)


def check_interval(found: Array, room: Array, spectrum: Array, errors: Array, ends: tuple[float, float]) -> str:
    """Are these all values of an interval? Those within rounding of an end may be there or not."""
    a, b = (np.longdouble(end) for end in ends)
    sure = (spectrum > a + errors) & (spectrum < b - errors)
    maybe = (spectrum >= a - errors) & (spectrum <= b + errors)
    if not sure.sum() <= len(found) <= maybe.sum():
        return f"{len(found)} values in the interval instead of {sure.sum()} to {maybe.sum()}"
    slack = np.broadcast_to(room, len(found)) if len(found) else np.zeros(0)
    complaint = submultiset(found, slack, spectrum[maybe], errors[maybe])
    wide = np.full(int(sure.sum()), slack.max(initial=0))
    return complaint or submultiset(spectrum[sure], wide + errors[sure], np.sort(found), np.zeros(len(found)))


def eigsh_order(spectrum: Array, which: str, sigma: float | None, mode: str, k: int) -> tuple[Array, bool]:
    """The indices that SciPy's `which` means, and whether they are unambiguous."""
    with np.errstate(all="ignore"):
        key = spectrum.copy()
        if sigma is not None:
            s = np.longdouble(sigma)
            numerator = {"normal": 1, "buckling": spectrum, "cayley": spectrum + s}[mode]
            key = numerator / (spectrum - s)
    if not np.isfinite(key).all():
        return np.arange(k), False
    n = len(spectrum)
    if which in ("LM", "SM"):
        size = abs(key)
        order = np.argsort(-size if which == "LM" else size, kind="stable")
        chosen, rest = order[:k], order[k:]
        edge = abs(size[chosen[-1]] - size[rest[0]]) if len(rest) else np.inf
        return np.sort(chosen), bool(edge > 1e-6 * size[chosen[-1]])
    order = np.argsort(key, kind="stable")
    low = {"LA": 0, "SA": k, "BE": k // 2}[which]
    chosen = np.concatenate([order[:low], order[n - (k - low) :]])
    cuts = [low - 1, n - (k - low) - 1]
    gaps = [key[order[c + 1]] - key[order[c]] for c in cuts if 0 <= c < n - 1]
    return np.sort(chosen), bool(not gaps or min(gaps) > 1e-6 * abs(key).max())
