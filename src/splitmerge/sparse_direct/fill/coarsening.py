"""Graph coarsening and BFS balls for fill prediction; high-degree nodes (hubs) are ordered last."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...typing import Array

# Nodes without neighbours that are merged into one group.
ISOLATED_NODES_PER_GROUP = 4
# Upper limit of the number of hubs.
MAX_HUB_NODES = 1000


def hubs_last(graph: sp.csr_array) -> tuple[sp.csr_array, int]:
    """The graph with its hubs ordered last, and the number of hubs.

    Hubs are nodes of far more than average degree, such as those of dense rows; they are never merged with other nodes.
    """
    degrees = np.diff(graph.indptr)
    many = 10 * degrees.mean() + 10
    if degrees.size > MAX_HUB_NODES:
        many = max(many, np.partition(degrees, -MAX_HUB_NODES - 1)[-MAX_HUB_NODES - 1])
    count = int((degrees > many).sum())
    if not count:
        return graph, 0
    order = np.argsort(degrees > many, kind="stable")
    return sp.csr_array(graph[order][:, order]), count


def coarser(graph: sp.csr_array, hubs: int, ratio: float, rng: np.random.Generator) -> sp.csr_array:
    """The quotient graph of groups of about `ratio` nodes, or of whole neighbourhoods if these are smaller.

    Nodes are numbered at random. A node with a higher number than all its neighbours is a root; every other node joins
    the adjacent root with the highest number.
    """
    n = graph.shape[0]
    rows = np.repeat(np.arange(n, dtype=graph.indices.dtype), np.diff(graph.indptr))
    owners = _owners(graph, rows, n - hubs, ratio, rng)
    groups = (np.cumsum(np.bincount(owners, minlength=n) > 0, dtype=rows.dtype) - 1)[owners]
    count = int(groups.max()) + 1
    first, second = groups[rows], groups[graph.indices]
    off = first != second
    edges = np.ones(int(off.sum()), np.int8)
    merged = sp.coo_array((edges, (first[off], second[off])), shape=(count, count)).tocsr()
    # collapse multiple edges between two groups into one
    merged.data = np.ones_like(merged.data)
    return merged


def _owners(graph: sp.csr_array, rows: Array, plain: int, ratio: float, rng: np.random.Generator) -> Array:
    """The root that each node is merged with; nodes from index `plain` on are hubs."""
    n, columns = graph.shape[0], graph.indices
    numbers = rng.permutation(np.arange(n, dtype=columns.dtype))
    near = (rows < plain) & (columns < plain)
    degrees = np.bincount(rows[near], minlength=n)[:plain]
    lonely = np.flatnonzero(degrees == 0)
    share = ratio * plain / max(degrees.sum(), 1)
    if share < 1:
        # symmetric in the two end points, so that both directions of an edge are kept or dropped together
        near &= (numbers[rows] + numbers[columns]) % n < share * n
    rows, columns = rows[near], columns[near]
    owners = np.where(_highest(rows, columns, numbers, n) < numbers, np.arange(n), -1)
    node = np.argsort(numbers)
    # first the neighbours of roots, then the neighbours of nodes that have joined a root
    for _ in range(2):
        best = _highest(rows, columns, np.where(owners >= 0, numbers, -1), n)
        joined = (owners < 0) & (best >= 0)
        owners[joined] = owners[node[best[joined]]]
    alone = np.flatnonzero(owners < 0)
    owners[alone] = alone
    owners[lonely] = lonely[np.arange(lonely.size) // ISOLATED_NODES_PER_GROUP * ISOLATED_NODES_PER_GROUP]
    return owners


def _highest(rows: Array, columns: Array, numbers: Array, n: int) -> Array:
    """The highest number among the neighbours of each node; −1 for a node without neighbours."""
    highest = np.full(n, -1, numbers.dtype)
    if rows.size:
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        highest[rows[starts]] = np.maximum.reduceat(numbers[columns], starts)
    return highest


def _neighbours(graph: sp.csr_array, nodes: Array) -> Array:
    """The concatenated adjacency lists of `nodes`."""
    starts = graph.indptr[nodes]
    counts = graph.indptr[nodes + 1] - starts
    ends = np.cumsum(counts)
    return np.asarray(graph.indices[np.arange(ends[-1]) + np.repeat(starts - ends + counts, counts)])


def ball(graph: sp.csr_array, hubs: int, size: int, rng: np.random.Generator) -> sp.csr_array:
    """The subgraph of the `size` nodes nearest to a random one (BFS) and all hubs.

    If a connected component is exhausted, the search continues from further seeds.
    """
    n = graph.shape[0]
    plain = np.roll(np.arange(n - hubs), -int(rng.integers(n - hubs)))
    seen, front = np.arange(n) >= n - hubs, plain[:1]
    count, seeds = 0, 1
    while count < size:
        if not front.size:
            # components may be single nodes, so double the number of seeds each time
            seeds *= 2
            plain = plain[~seen[plain]]
            front = plain[:seeds]
        front = front[: size - count]
        seen[front] = True
        count += front.size
        around = np.unique(_neighbours(graph, front))
        front = around[~seen[around]]
    inside = np.flatnonzero(seen)
    return sp.csr_array(graph[inside][:, inside])
