"""The level structure of a graph: a rough measure of its separators that costs about as much as a few products."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from ...typing import Array
from .coarsening import hubs_last

# The widest level of an expander has more than this fraction of the nodes; that of a mesh of 2,000 nodes and more has
# less than an eighth.
MAX_LEVEL_FRACTION = 0.25
# The width is about 1 in a square grid, 5 in a small cube, and 7 and more in an expander.
FLAT_WIDTH = 3


class Levels(NamedTuple):
    """Nodes within reach of the start, and nodes of the widest level of the breadth-first search."""

    reached: int
    widest: int

    @property
    def width(self) -> float:
        """The squared size of the widest level over the number of nodes."""
        return self.widest**2 / self.reached

    @property
    def expanding(self) -> bool:
        """Is it the graph of an expander, whose factors are nearly full?"""
        return self.widest > MAX_LEVEL_FRACTION * self.reached

    @property
    def flat(self) -> bool:
        """Are the separators as small as those of a grid in two dimensions, or smaller?"""
        return self.width < FLAT_WIDTH


def levels_of(K: Any) -> Levels:
    """The levels seen from the far end of the component of a row with the most entries.

    Each level separates those before it from those after it, so the widest one bounds the separators. Hubs are part of
    every separator, as they are ordered last, and do not connect the levels.
    """
    # the search takes real weights
    pattern, hubs = hubs_last(sp.csr_array((np.ones(K.indices.size), K.indices, K.indptr), shape=K.shape))
    if hubs:
        pattern = sp.csr_array(pattern[:-hubs, :-hubs])
    _, order = _search(pattern, int(np.argmax(np.diff(pattern.indptr))))
    widths, order = _search(pattern, int(order[-1]))
    return Levels(order.size, int(widths.max()) + hubs)


def _search(graph: sp.csr_array, start: int) -> tuple[Array, Array]:
    """The sizes of the levels around `start`, and the nodes in the order in which they are reached."""
    order, parents = breadth_first_order(graph, start)
    position = np.empty(graph.shape[0], np.intp)
    position[order] = np.arange(order.size)
    children = np.bincount(position[parents[order[1:]]], minlength=order.size)
    # a queue is first in, first out: the children of the first i nodes are in front of all others
    following = (1 + np.cumsum(children)).tolist()
    ends = [0, 1]
    while ends[-1] < order.size:
        ends.append(following[ends[-1] - 1])
    return np.diff(ends), order
