"""Prediction of the fill and the cost of a sparse factorisation, without ordering or factorising the matrix.

Large meshes in the plane are recognised by the levels of a coarse graph; their fill follows from n. Other graphs are
coarsened until their symbolic factorisation is cheap. For a mesh, the fill of the fine and of the coarse graph grows
with the same power of the number of nodes. This exponent is measured between a ball of the coarse graph and the whole
coarse graph, and used to extrapolate from a ball of the fine graph to the whole fine graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spilu

from ...typing import Array
from ..costs import COSTS, usual
from .coarsening import ball, coarser, hubs_last
from .levels import MAX_LEVEL_FRACTION, Levels, levels_of
from .memo import per_pattern
from .ordering import graph_of, narrow_profile, nested_dissection
from .plane import has_plane_graph, is_narrow

# Largest graph (nodes, stored edges) whose symbolic factorisation is computed; larger graphs are coarsened.
MAX_NODES, MAX_EDGES = 11_000, 400_000
# Coarsening stops at this number of nodes, whatever the number of edges.
MIN_NODES = 2000
# Number of balls that the fill is averaged over, and nodes per ball.
BALL_COUNT, BALL_NODES = 4, 1500
# Expander graphs: a ball is nearly a tree, so its fill is not representative. They are recognised by nonzeros of L that
# grow with more than this power of the nodes, or by a fine ball with less than this fraction of the fill of a coarse
# ball. Both limits are far from the values of meshes.
MAX_FILL_EXPONENT, MIN_BALL_FILL_RATIO = 1.8, 0.15
# Meshes that are narrower than this are not as wide as they are long.
MIN_PLANE_WIDTH = 0.5
# In the plane: nonzeros of L over n log₂(n) times the mean degree, and flops over n^1.5 times the mean degree.
PLANE_NONZEROS, PLANE_FLOPS = 0.3, 3.2
# Flops over the cube of the widest level, of meshes in two and three dimensions, within a factor of five.
FLOPS_PER_LEVEL_CUBED = 4.0
# A ball has smaller separators than a square or cube with the same number of nodes; factors for nonzeros and flops.
BALL_SHAPE_FACTORS = np.array([1.25, 1.7])


class Fill(NamedTuple):
    """Nonzeros of L, and flops as the sum of the squared column counts of L."""

    nonzeros: float
    flops: float


@dataclass(frozen=True)
class Prediction:
    """The predicted cost of a factorisation, accurate to a factor of about two.

    nonzeros, flops
        Nonzeros of L, and the sum of its squared column counts.
    bytes
        Peak memory of the factorisation.
    backend, seconds, solve_seconds
        The backend that would be selected, and the time of its factorisation and of one solve on one core.
    """

    nonzeros: float
    flops: float
    bytes: float
    backend: str
    seconds: float
    solve_seconds: float


def predict(K: Any) -> Prediction:
    """Predict the cost of a Cholesky factorisation of the positive definite K."""
    return _priced(K, predicted_fill(K))


def rough_prediction(K: Any, levels: Levels) -> Prediction:
    """`predict` from the levels of K only, for the time of a few products and to a factor of about five."""
    n, least = K.shape[0], K.shape[0] + K.nnz / 2
    mesh, expander = FLOPS_PER_LEVEL_CUBED * float(levels.widest) ** 3, float(_expander(K, n)[1])
    flops = min(mesh, expander)
    # the last separator is a dense triangle
    return _priced(K, Fill(least + flops ** (2 / 3), max(flops, least**2 / n)), is_narrow(levels))


def _priced(K: Any, fill: Fill, sparse: bool | None = None) -> Prediction:
    """The cost of a factorisation with this fill, by the backend that would be selected."""
    n, (nonzeros, flops) = K.shape[0], fill
    backend = usual(K, lambda: flops, sparse)
    cost = COSTS[backend]
    # a complex multiplication takes four real ones
    words = K.dtype.itemsize / 8
    return Prediction(
        nonzeros,
        flops,
        cost.nonzero_bytes * nonzeros * words,
        backend,
        cost.factor(n, flops * max(words, 1) ** 2),
        cost.solve(n, nonzeros * max(words, 1)),
    )


@per_pattern
def predicted_fill(K: Any) -> Fill:
    """The predicted fill of K with a nested dissection ordering."""
    widths = narrow_profile(K)
    if widths is not None:
        return Fill(float(widths.sum()), float((widths**2).sum()))
    graph, hubs = hubs_last(graph_of(K))
    rng, n = np.random.default_rng(0), graph.shape[0] - hubs
    if not hubs and n > MAX_NODES:
        levels = levels_of(graph)
        if levels.widest > MAX_LEVEL_FRACTION * n:
            return Fill(*_expander(graph, n).tolist())
        long = levels.width < MIN_PLANE_WIDTH or levels.reached < n
        if not long and (levels.flat or has_plane_graph(K)):
            degree = 1 + graph.nnz / n
            return Fill(PLANE_NONZEROS * degree * n * np.log2(n), PLANE_FLOPS * degree * n**1.5)
    coarse = _coarsened(graph, hubs, rng)
    count = coarse.shape[0] - hubs
    sums = _eliminated(coarse, hubs)
    if count < n:
        full = np.arange(hubs + 1.0, hubs + n + 1)
        # at least the lower triangle of K, at most a full triangle
        own = n + graph[:n].nnz / 2
        least, most = [own, own**2 / n], [full.sum(), (full**2).sum()]
        sums = np.clip(_extrapolated(graph, coarse, hubs, sums, rng), least, most)
    # the columns of the hubs, ordered last, are full
    last = np.arange(1.0, hubs + 1)
    return Fill(float(sums[0] + last.sum()), float(sums[1] + (last**2).sum()))


def _extrapolated(
    graph: sp.csr_array, coarse: sp.csr_array, hubs: int, whole: Array, rng: np.random.Generator
) -> Array:
    """Nonzeros and flops of the fine graph, extrapolated from those of the coarse graph and of balls of both."""
    n, count = graph.shape[0] - hubs, coarse.shape[0] - hubs
    size = min(BALL_NODES, count // 4)
    fine_ball, coarse_ball = (
        np.mean([_eliminated(ball(g, hubs, size, rng), hubs) for _ in range(BALL_COUNT)], axis=0)
        for g in (graph, coarse)
    )
    power = np.maximum(np.log(whole / coarse_ball) / np.log(count / size), 1.0)
    if power[0] > MAX_FILL_EXPONENT or fine_ball[0] < MIN_BALL_FILL_RATIO * coarse_ball[0]:
        return _expander(graph, n)
    return np.asarray(BALL_SHAPE_FACTORS * fine_ball * (n / size) ** power)


def _expander(graph: sp.csr_array, n: int) -> Array:
    """Nonzeros and flops of a random graph of mean degree d: about (d − 1.5)/(d + 5) of the nodes form a dense core."""
    degree = (graph if graph.shape[0] == n else graph[:n, :n]).nnz / n
    # fitted for degrees from 3 to 20
    core = n * max(degree - 1.5, 0.0) / (degree + 5)
    return np.array([core**2 / 2, core**3 / 3])


def _coarsened(graph: sp.csr_array, hubs: int, rng: np.random.Generator) -> sp.csr_array:
    """A coarse graph that is small enough for a symbolic factorisation."""
    while (count := graph.shape[0] - hubs) > MAX_NODES or (graph.nnz > MAX_EDGES and count > MIN_NODES):
        ratio = max(count / MAX_NODES, min(graph.nnz / MAX_EDGES, count / MIN_NODES), 1.2)
        graph = coarser(graph, hubs, ratio, rng)
    return graph


def _eliminated(graph: sp.csr_array, hubs: int) -> Array:
    """Nonzeros and flops of the columns of all nodes except the hubs, which are ordered last."""
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
    """SuperLU's minimum degree ordering, computed by an incomplete factorisation that drops all fill."""
    dominant = graph.astype(float) + sp.diags_array(np.diff(graph.indptr) + 1.0)
    lu = spilu(sp.csc_matrix(dominant), drop_tol=1.0, fill_factor=1.0, permc_spec="MMD_AT_PLUS_A")
    return np.argsort(lu.perm_c)


def column_heights(graph: sp.csr_array) -> Array:
    """The column counts of L: the entries of each column and those inherited from its children in the elimination tree.

    A set of rows is represented by an integer with one bit per row.
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
            # the first row below the diagonal is the parent in the elimination tree
            step = (below & -below).bit_length()
            handed[j + step] |= below >> step
    return heights
