"""Pairs whose rows can be made one range after the other, and their exact eigenvalues."""

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

# The sides of a brick with simple eigenvalues, and those of a cube.
BRICK, CUBE = (1.0, 1.3, 1.7), (1.0, 1.0, 1.0)


def line(N, length=1.0):
    """Stiffness and mass matrix of linear elements on an interval with fixed ends."""
    h = length / (N + 1)
    off = np.ones(N - 1)
    K = sp.diags_array([-off, np.full(N, 2.0), -off], offsets=[-1, 0, 1]) / h
    M = sp.diags_array([off, np.full(N, 4.0), off], offsets=[-1, 0, 1]) * (h / 6)
    return sp.csr_array(K), sp.csr_array(M)


def spread(F, G, H, first, last, N):
    """Rows first…last of F⊗G⊗H: only the planes that they need are made."""
    low, high = first // (N * N), -(-last // (N * N))
    part = sp.csr_array(sp.kron(F[low:high], sp.kron(G, H), format="csr"))
    return part[first - low * N * N : last - low * N * N]


def exact_cube(N, copies=1, sides=CUBE):
    """The eigenvalues of trilinear elements on a cube or brick, ascending."""
    u, v, w = (sl.eigh(*(M.toarray() for M in line(N, side)), eigvals_only=True) for side in sides)
    return np.repeat(np.sort((u[:, None, None] + v[None, :, None] + w[None, None, :]).ravel()), copies)


def tridiagonal(n, low=0.0):
    """A pair on a line; `low` is subtracted from the eigenvalues."""
    K, M = line(n)
    return sp.csr_array(K - low * M), M


def body(N):
    """A free elastic cube of N³ trilinear elements (λ = μ = 1, density 1): six rigid body modes."""
    nodes, weights = (np.array([-1, 1]) / np.sqrt(3), np.ones(2))
    corners = np.array([(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)])
    h, Ke, Me = 1 / N, np.zeros((24, 24)), np.zeros((24, 24))
    C = np.diag([2.0, 2, 2, 0, 0, 0]) + np.pad(np.ones((3, 3)), (0, 3)) + np.diag([0, 0, 0, 1.0, 1, 1])
    for x in nodes:
        for y in nodes:
            for z in nodes:
                shape = np.prod(1 + corners * (x, y, z), axis=1) / 8
                slope = np.array(
                    [corners[:, i] * np.prod(np.delete(1 + corners * (x, y, z), i, 1), axis=1) / 8 for i in range(3)]
                )
                D = np.zeros((6, 24))
                dx, dy, dz = slope * 2 / h
                D[0, 0::3], D[1, 1::3], D[2, 2::3] = dx, dy, dz
                D[3, 0::3], D[3, 1::3] = dy, dx
                D[4, 1::3], D[4, 2::3] = dz, dy
                D[5, 0::3], D[5, 2::3] = dz, dx
                V = np.kron(shape, np.eye(3))
                Ke += D.T @ C @ D * (h / 2) ** 3 * weights[0]
                Me += V.T @ V * (h / 2) ** 3
    P = N + 1
    cells = np.array([(i, j, k) for k in range(N) for j in range(N) for i in range(N)])
    offsets = ((corners + 1) // 2).astype(int)
    at = cells[:, None] + offsets
    numbers = at[..., 0] + P * (at[..., 1] + P * at[..., 2])
    dofs = (3 * numbers[..., None] + np.arange(3)).reshape(len(cells), 24)
    rows, columns = np.repeat(dofs, 24, axis=1).ravel(), np.tile(dofs, (1, 24)).ravel()
    n = 3 * P**3
    return tuple(
        sp.csr_array(sp.coo_array((np.tile(element.ravel(), len(cells)), (rows, columns)), shape=(n, n)))
        for element in (Ke, Me)
    )


def magnetic(m, phase=0.02):
    """The Hermitian pair of a particle on m × m points in a magnetic field; both matrices have complex entries."""
    off, phases = np.ones(m - 1), sp.diags_array(np.exp(1j * phase * np.arange(m)))
    up = sp.diags_array(off, offsets=1, shape=(m, m))
    hops = sp.kron(up, phases) + sp.kron(sp.eye_array(m), up)
    neighbours = hops + hops.conj().T
    unit = sp.eye_array(m * m)
    return sp.csr_array(4 * unit - neighbours), sp.csr_array(unit + 0.1 * neighbours)
