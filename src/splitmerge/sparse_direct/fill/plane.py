"""Has a matrix sparse factors, as small matrices and meshes in the plane have?"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .coarsening import coarser
from .levels import Levels, levels_of
from .memo import per_pattern
from .ordering import graph_of, narrow_profile

# Up to this many rows, dense parts of the factors are too small for supernodes to pay; up to the second number those of
# meshes in space, whose levels are at most this wide.
SMALL_ROWS, SMALL_MESH_ROWS, MAX_MESH_WIDTH = 2000, 5000, 100
# Up to this many rows, factorisations in a known order are cheap; up to the second number those of meshes are.
FULL_ROWS, CHEAP_ROWS = 800, 1200
# The width of the levels up to which factors are sparse: meshes of linear elements in the plane have 1 to 4, small
# cubes up to 9.
MAX_SPARSE_WIDTH = 9
# Groups of this many nodes make elements of any degree alike. Their levels have a width of 2 to 6 in the plane, and of
# 15 and more in space; what is in between is either a plane that was grouped badly, or a plate of some layers.
GROUP_NODES, MAX_PLANE_WIDTH, MIN_SPACE_WIDTH = 10, 7, 14
# Groups are made at random; these numbers have nothing to do with an order of the nodes that a user's seed has made.
SEEDS = (770_001, 770_002)


@per_pattern
def has_sparse_factors(K: Any) -> bool:
    """Are the factors of K expected to have few entries per row? For the time of a few products."""
    if K.shape[0] < SMALL_ROWS or narrow_profile(K) is not None:
        return True
    levels = levels_of(K)
    if is_narrow(levels) or (K.shape[0] < SMALL_MESH_ROWS and levels.width < MAX_MESH_WIDTH):
        return True
    return not levels.expanding and has_plane_graph(K)


def is_surely_sparse(K: Any) -> bool:
    """Is K small and no expander, or are its factors expected to be so sparse that further ones cost little?"""
    if K.shape[0] <= FULL_ROWS or narrow_profile(K) is not None:
        return True
    levels = levels_of(K)
    if levels.width < (MAX_MESH_WIDTH if K.shape[0] <= CHEAP_ROWS else MAX_SPARSE_WIDTH):
        return True
    return not levels.expanding and has_plane_graph(K)


def is_narrow(levels: Levels) -> bool:
    """Are the levels of a graph so small that the factors are sparse?"""
    return levels.reached < SMALL_ROWS or levels.width < MAX_SPARSE_WIDTH


@per_pattern
def has_plane_graph(K: Any) -> bool:
    """Is K a matrix on a mesh in two dimensions?"""
    return is_plane(graph_of(K))


def is_plane(graph: sp.csr_array) -> bool:
    """Is it the graph of a mesh in two dimensions, with elements of any degree?"""
    for seed in SEEDS:
        width = levels_of(coarser(graph, 0, GROUP_NODES, np.random.default_rng(seed))).width
        if width < MAX_PLANE_WIDTH or width > MIN_SPACE_WIDTH:
            return width < MAX_PLANE_WIDTH
    return False
