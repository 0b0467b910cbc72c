"""Smaller graphs that stand for a large one: its nodes in groups, and a ball of it. Hubs are the last of all nodes."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..typing import Array

# Nodes without neighbours that become one, and the most hubs that there are.
LONELY, HUBS = 4, 1000


def hubs_last(graph: sp.csr_array) -> tuple[sp.csr_array, int]:
    """The graph with its hubs at the end, and how many they are.

    They have far more neighbours than the mean, as a dense row has them, and stand for nothing but themselves.
    """
    degrees = np.diff(graph.indptr)
    many = 10 * degrees.mean() + 10
    if degrees.size > HUBS:
        many = max(many, np.partition(degrees, -HUBS - 1)[-HUBS - 1])
    count = int((degrees > many).sum())
    if not count:
        return graph, 0
    order = np.argsort(degrees > many, kind="stable")
    return sp.csr_array(graph[order][:, order]), count


def coarser(graph: sp.csr_array, hubs: int, ratio: float, rng: np.random.Generator) -> sp.csr_array:
    """The graph of groups of some `ratio` nodes, or of whole neighbourhoods where these are smaller.

    Nodes with a higher number than all their neighbours are roots, and the others join the root with the highest.
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
    # many edges between two groups are one
    merged.data = np.ones_like(merged.data)
    return merged


def _owners(graph: sp.csr_array, rows: Array, plain: int, ratio: float, rng: np.random.Generator) -> Array:
    """For each node the one that it is joined to; those from `plain` on are hubs."""
    n, columns = graph.shape[0], graph.indices
    numbers = rng.permutation(np.arange(n, dtype=columns.dtype))
    near = (rows < plain) & (columns < plain)
    degrees = np.bincount(rows[near], minlength=n)[:plain]
    lonely = np.flatnonzero(degrees == 0)
    share = ratio * plain / max(degrees.sum(), 1)
    if share < 1:
        # the same choice for both directions of an edge
        near &= (numbers[rows] + numbers[columns]) % n < share * n
    rows, columns = rows[near], columns[near]
    owners = np.where(_highest(rows, columns, numbers, n) < numbers, np.arange(n), -1)
    node = np.argsort(numbers)
    # next to a root, then next to one that has joined a root
    for _ in range(2):
        best = _highest(rows, columns, np.where(owners >= 0, numbers, -1), n)
        joined = (owners < 0) & (best >= 0)
        owners[joined] = owners[node[best[joined]]]
    alone = np.flatnonzero(owners < 0)
    owners[alone] = alone
    owners[lonely] = lonely[np.arange(lonely.size) // LONELY * LONELY]
    return owners


def _highest(rows: Array, columns: Array, numbers: Array, n: int) -> Array:
    """The highest number among the neighbours of each node, −1 without any."""
    highest = np.full(n, -1, numbers.dtype)
    if rows.size:
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        highest[rows[starts]] = np.maximum.reduceat(numbers[columns], starts)
    return highest


def _neighbours(graph: sp.csr_array, nodes: Array) -> Array:
    """The neighbours of all these nodes, one list after the other."""
    starts = graph.indptr[nodes]
    counts = graph.indptr[nodes + 1] - starts
    ends = np.cumsum(counts)
    return np.asarray(graph.indices[np.arange(ends[-1]) + np.repeat(starts - ends + counts, counts)])


def ball(graph: sp.csr_array, hubs: int, size: int, rng: np.random.Generator) -> sp.csr_array:
    """What so many nodes around a random one look like, with all hubs; further balls where its component ends."""
    n = graph.shape[0]
    plain = np.roll(np.arange(n - hubs), -int(rng.integers(n - hubs)))
    seen, front = np.arange(n) >= n - hubs, plain[:1]
    count, seeds = 0, 1
    while count < size:
        if not front.size:
            # components may be single nodes, so ever more at once
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
