"""Matrices of physics and of graphs whose smallest eigenvalues are found without a factorisation, and grids."""

import numpy as np
import scipy.sparse as sp

from asking import tridiagonal


def heisenberg(spins):
    """The Heisenberg ring of spins 1/2, of size 2^spins."""
    n = 1 << spins
    state, diagonal, rows, columns = np.arange(n), np.zeros(n), [], []
    for i in range(spins):
        bits = (1 << i) | (1 << (i + 1) % spins)
        opposite = ((state & bits) != 0) & ((state & bits) != bits)
        diagonal += np.where(opposite, -0.25, 0.25)
        rows.append(state[opposite])
        columns.append(state[opposite] ^ bits)
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    flips = sp.coo_array((np.full(rows.size, 0.5), (rows, columns)), shape=(n, n))
    return sp.csr_array(flips.tocsr() + sp.diags_array(diagonal))


def anderson(side, disorder, rng=0):
    """The Anderson model on a periodic cube."""
    n = side**3
    nodes = np.arange(n).reshape(side, side, side)
    rows = np.tile(nodes.ravel(), 3)
    columns = np.concatenate([np.roll(nodes, -1, axis).ravel() for axis in range(3)])
    hops = sp.coo_array((-np.ones(rows.size), (rows, columns)), shape=(n, n)).tocsr()
    levels = np.random.default_rng(rng).uniform(-disorder / 2, disorder / 2, n)
    return sp.csr_array(hops + hops.T + sp.diags_array(levels))


def random_laplacian(n, degree=8, rng=0):
    """The Laplacian of a random graph with this mean degree."""
    ends = np.random.default_rng(rng).integers(0, n, (2, n * degree // 2))
    ends = ends[:, ends[0] != ends[1]]
    edges = sp.coo_array((np.ones(ends.shape[1]), ends), shape=(n, n)).tocsr()
    edges = edges + edges.T
    edges.data[:] = 1
    return sp.csr_array(sp.diags_array(edges.sum(axis=0)) - edges)


def square(side):
    """The five-point Laplacian of a square."""
    line, one = tridiagonal(side), sp.eye_array(side)
    return sp.csr_array(sp.kron(line, one) + sp.kron(one, line))


def cube(side):
    """The seven-point Laplacian of a cube."""
    one = sp.eye_array(side)
    return sp.csr_array(sp.kron(square(side), one) + sp.kron(sp.eye_array(side**2), tridiagonal(side)))
