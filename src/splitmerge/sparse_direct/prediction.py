"""How much a sparse factorisation will cost, without making it and without ordering the whole graph.

The graph is coarsened to a size at which its elimination is cheap to follow. As a mesh looks like a part of itself, the
fill grows with the size by the same power in both graphs: that is measured between a ball of the coarse graph and all
of it, and leads from the fill of a ball of the fine graph to that of all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spilu

from ..typing import Array
from .aggregation import ball, coarser, hubs_last
from .costs import COSTS, usual
from .ordering import graph_of, nested_dissection

# Up to so many nodes and edges an elimination is followed.
NODES, EDGES = 11_000, 400_000
# So many balls of so many nodes are looked at, and no graph becomes smaller than the last.
BALLS, BALL, FEW = 4, 1500, 2000
# Of random edges a ball is a tree: nonzeros then seem to grow by more than this power of the nodes, or a ball has less
# than this part of those of a coarse one. Both are far from what meshes show.
STEEP, THIN = 1.8, 0.15
# A ball is cut by shorter separators than a square or a cube of as many nodes: nonzeros and flops are more by this.
CORNERS = np.array([1.25, 1.7])


class Fill(NamedTuple):
    """Nonzeros of L, and the sum of the squares of their numbers by columns."""

    nonzeros: float
    flops: float


@dataclass(frozen=True)
class Prediction:
    """What a factorisation is expected to take, right within a factor of about two.

    nonzeros, flops
        Of L, and the sum of the squared heights of its columns.
    bytes
        Memory while it is made.
    backend, seconds, solve_seconds
        Who would make it, how long that takes on one core, and a solve with it.
    """

    nonzeros: float
    flops: float
    bytes: float
    backend: str
    seconds: float
    solve_seconds: float


def predict(K: Any) -> Prediction:
    """What a factorisation of K, positive definite, will take."""
    n, (nonzeros, flops) = K.shape[0], fill(K)
    backend = usual(K, lambda: flops)
    cost = COSTS[backend]
    # numbers of two words take four multiplications in place of one
    words = K.dtype.itemsize / 8
    return Prediction(
        nonzeros,
        flops,
        cost.nonzero_bytes * nonzeros * words,
        backend,
        cost.factor(n, flops * max(words, 1) ** 2),
        cost.solve(n, nonzeros * max(words, 1)),
    )


def fill(K: Any) -> Fill:
    """The fill of K in an order of nested dissection, as its graph makes expect it."""
    graph, hubs = hubs_last(graph_of(K))
    rng = np.random.default_rng(0)
    coarse = _coarsened(graph, hubs, rng)
    n, count = graph.shape[0] - hubs, coarse.shape[0] - hubs
    sums = _eliminated(coarse, hubs)
    if count < n:
        full = np.arange(hubs + 1.0, hubs + n + 1)
        # not less than K itself has, and not more than there is
        own = n + graph[:n].nnz / 2
        least, most = [own, own**2 / n], [full.sum(), (full**2).sum()]
        sums = np.clip(_extrapolated(graph, coarse, hubs, sums, rng), least, most)
    # the columns of the hubs are full
    last = np.arange(1.0, hubs + 1)
    return Fill(float(sums[0] + last.sum()), float(sums[1] + (last**2).sum()))


def _extrapolated(
    graph: sp.csr_array, coarse: sp.csr_array, hubs: int, whole: Array, rng: np.random.Generator
) -> Array:
    """The sums for the graph from those for the whole coarse one and for balls of both."""
    n, count = graph.shape[0] - hubs, coarse.shape[0] - hubs
    size = min(BALL, count // 4)
    fine_ball, coarse_ball = (
        np.mean([_eliminated(ball(g, hubs, size, rng), hubs) for _ in range(BALLS)], axis=0) for g in (graph, coarse)
    )
    power = np.maximum(np.log(whole / coarse_ball) / np.log(count / size), 1.0)
    if power[0] > STEEP or fine_ball[0] < THIN * coarse_ball[0]:
        return _tangled(graph, n)
    return np.asarray(CORNERS * fine_ball * (n / size) ** power)


def _tangled(graph: sp.csr_array, n: int) -> Array:
    """The sums for random edges, d a node: a core of about (d − 1.5)/(d + 5) of the nodes fills up."""
    degree = graph[:n, :n].nnz / n
    # measured for 3 to 20 edges
    core = n * max(degree - 1.5, 0.0) / (degree + 5)
    return np.array([core**2 / 2, core**3 / 3])


def _coarsened(graph: sp.csr_array, hubs: int, rng: np.random.Generator) -> sp.csr_array:
    """A graph of the same shape that is small enough to be eliminated."""
    while (count := graph.shape[0] - hubs) > NODES or (graph.nnz > EDGES and count > FEW):
        ratio = max(count / NODES, min(graph.nnz / EDGES, count / FEW), 1.2)
        graph = coarser(graph, hubs, ratio, rng)
    return graph


def _eliminated(graph: sp.csr_array, hubs: int) -> Array:
    """Nonzeros and flops of the columns of all nodes but the hubs, which come last."""
    count = graph.shape[0] - hubs
    plain = sp.csr_array(graph[:count, :count])
    if plain.nnz:
        order = nested_dissection(plain)
        order = _minimum_degree(plain) if order is None else order
        order = np.concatenate([order, np.arange(count, graph.shape[0])])
        graph = sp.csr_array(graph[order][:, order])
    heights = column_heights(graph)[:count]
    return np.array([heights.sum(), (heights**2).sum()])


def _minimum_degree(graph: sp.csr_array) -> Array:
    """SuperLU's order of minimum degree, by a factorisation that drops all fill."""
    dominant = graph.astype(float) + sp.diags_array(np.diff(graph.indptr) + 1.0)
    lu = spilu(sp.csc_matrix(dominant), drop_tol=1.0, fill_factor=1.0, permc_spec="MMD_AT_PLUS_A")
    return np.argsort(lu.perm_c)


def column_heights(graph: sp.csr_array) -> Array:
    """How many entries each column of L has: its own, and what its children in the tree of elimination hand on.

    A set of rows is an integer with a bit for each of them.
    """
    n = graph.shape[0]
    heights = np.empty(n)
    handed = [0] * n
    pointers, columns = graph.indptr.tolist(), graph.indices.tolist()
    for j in range(n):
        below, handed[j] = handed[j], 0
        for i in columns[pointers[j] : pointers[j + 1]]:
            if i > j:
                below |= 1 << (i - j - 1)
        heights[j] = 1 + below.bit_count()
        if below:
            # the first row below is the parent
            step = (below & -below).bit_length()
            handed[j + step] |= below >> step
    return heights
