"""Tetrahedral meshes: Kuhn triangulation of bricks, and bisection of selected edges.

Coordinates are in units of the sides of a brick, so that the squared lengths 3, 2 and 1 identify brick diagonals, face
diagonals and edges, whatever the aspect ratio. Bisecting these three in turn halves the sides of the bricks.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from ..typing import Array

SIDES = tuple(combinations(range(4), 2))


@dataclass(frozen=True, eq=False)
class Tetrahedra:
    """A mesh: coordinates of the points in rows, and the four vertex indices of each tetrahedron in rows."""

    points: Array
    corners: Array

    def middles(self, edges: Array) -> Array:
        """The midpoints of edges."""
        return np.asarray(self.points[edges].mean(axis=1))

    def longest(self, square: float) -> Array:
        """The edges of this squared length that are the longest edge of every tetrahedron that contains them."""
        all_edges = np.sort(np.stack([self.corners[:, side] for side in SIDES], axis=1), axis=2)
        ends = self.points[all_edges]
        lengths = ((ends[:, :, 0] - ends[:, :, 1]) ** 2).sum(axis=2)
        is_longest = np.isclose(lengths, lengths.max(axis=1, keepdims=True)).ravel()
        edges, first, place = np.unique(all_edges.reshape(-1, 2), axis=0, return_index=True, return_inverse=True)
        everywhere = np.bincount(place.ravel(), weights=~is_longest) == 0
        return np.asarray(edges[everywhere & np.isclose(lengths.ravel()[first], square)])

    def bisected(self, edges: Array) -> Tetrahedra:
        """Bisect every tetrahedron that contains one of `edges`; conforming if none contains more than one of them."""
        n = len(self.points)
        keys = edges.min(axis=1) * n + edges.max(axis=1)
        order = np.argsort(keys)
        whole, halves = np.ones(len(self.corners), dtype=bool), []
        for i, j in SIDES:
            own = self.corners[:, i], self.corners[:, j]
            key = np.minimum(*own) * n + np.maximum(*own)
            place = np.searchsorted(keys, key, sorter=order)
            is_cut = place < len(keys)
            is_cut[is_cut] = keys[order[place[is_cut]]] == key[is_cut]
            for end in (i, j):
                half = self.corners[is_cut].copy()
                half[:, end] = n + order[place[is_cut]]
                halves.append(half)
            whole &= ~is_cut
        return Tetrahedra(np.vstack([self.points, self.middles(edges)]), np.vstack([self.corners[whole], *halves]))


def bricks(counts: tuple[int, int, int]) -> Tetrahedra:
    """a × b × c bricks of six tetrahedra each (Kuhn), reflected from brick to brick, so that it can be bisected.

    >>> mesh = bricks((1, 1, 2))
    >>> mesh.points.shape, mesh.corners.shape, len(mesh.longest(3.0))
    ((12, 3), (12, 4), 2)
    """
    shape = tuple(count + 1 for count in counts)
    points = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=1)
    place = np.stack(np.unravel_index(np.arange(np.prod(counts)), counts), axis=1)
    start, way = place + place % 2, 1 - 2 * (place % 2)
    corners = []
    for axes in permutations(range(3)):
        path = [start]
        for axis in axes:
            path.append(path[-1] + way * np.eye(3, dtype=int)[axis])
        corners.append(np.stack([np.ravel_multi_index(tuple(corner.T), shape) for corner in path], axis=1))
    return Tetrahedra(points.astype(np.float64), np.vstack(corners))
