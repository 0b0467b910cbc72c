"""Which matrices have sparse factors."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from asking import tridiagonal
from physics import cube, random_laplacian, square
from splitmerge.sparse_direct import costs
from splitmerge.sparse_direct.fill import plane
from splitmerge.sparse_direct.fill.plane import has_sparse_factors


def shuffled(A):
    order = np.random.default_rng(0).permutation(A.shape[0])
    return sp.csr_array(sp.csr_array(A)[order][:, order])


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("dimension", [2, 3])
def test_meshes_of_any_degree(dimension, degree):
    cells = {(2, 1): 60, (2, 2): 40, (3, 1): 20, (3, 2): 10}[dimension, degree]
    # the mass matrix has all couplings of an element
    _, B = sm.gallery.fem_laplacian(dimension, degree, cells)
    assert B.shape[0] > (plane.SMALL_ROWS if dimension == 2 else plane.SMALL_MESH_ROWS)
    assert has_sparse_factors(shuffled(B)) == (dimension == 2)


@pytest.mark.parametrize(("degree", "cells"), [(1, 16), (2, 8)])
def test_meshes_in_space_up_to_some_size(degree, cells):
    """Supernodes do not pay there; they do for an expander of that size."""
    _, B = sm.gallery.fem_laplacian(3, degree, cells)
    assert plane.SMALL_ROWS < B.shape[0] < plane.SMALL_MESH_ROWS
    assert has_sparse_factors(shuffled(B))


@pytest.mark.parametrize(("A", "sparse"), [(tridiagonal(5000), True), (square(60), True), (cube(20), False)])
def test_grids(A, sparse):
    assert has_sparse_factors(A) == sparse
    assert has_sparse_factors(shuffled(A)) == sparse


def test_an_expander():
    assert not has_sparse_factors(random_laplacian(4000, 6))


def test_small_matrices():
    assert has_sparse_factors(sp.csr_array(np.ones((50, 50))))


def test_the_answer_belongs_to_the_pattern():
    """It is remembered for one pattern at a time."""
    flat, full = square(60), cube(20)
    for _ in range(2):
        assert has_sparse_factors(flat)
        assert not has_sparse_factors(full)


def test_the_choice():
    pytest.importorskip("qdldl")
    assert costs.unpivoted(square(60)) == "QDLDL"
    assert costs.unpivoted(cube(20)) == "SuperLU"
    assert costs.unpivoted(square(60).astype(np.float32)) == "SuperLU"
