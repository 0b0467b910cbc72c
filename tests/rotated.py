"""Sparse pairs with prescribed eigenvalues."""

import numpy as np
import scipy.sparse as sp

N = 300
MASSES = ("identity", "lumped", "badly scaled lumped", "consistent", "badly scaled")


def root(n, seed, masses):
    """A sparse S with the mass S Sᵀ."""
    rng = np.random.default_rng(seed)
    below = np.zeros(n - 1) if "lumped" in masses or masses == "identity" else rng.uniform(-0.4, 0.4, n - 1)
    widths = {"identity": 0.0, "lumped": 0.5, "consistent": 0.3}.get(masses, 3.0)
    D = sp.diags_array(10 ** rng.uniform(-widths, widths, n))
    return sp.csr_array(D @ sp.diags_array([np.ones(n), below], offsets=[0, -1]))


def turned(values, seed):
    """A sparse matrix with these eigenvalues: two rounds of rotations of neighbours."""
    rng, n = np.random.default_rng(seed), len(values)
    Q = sp.eye_array(n, format="csr")
    for first in (0, 1):
        i = np.arange(first, n - 1, 2)
        angles = rng.uniform(0, np.pi, i.size)
        diagonal, above = np.ones(n), np.zeros(n - 1)
        diagonal[i], diagonal[i + 1], above[i] = np.cos(angles), np.cos(angles), np.sin(angles)
        Q = sp.diags_array([diagonal, above, -above], offsets=[0, 1, -1]) @ Q
    return Q @ sp.diags_array(rng.permutation(values)) @ Q.T


def pair(values, masses="identity", seed=0):
    """A sparse pair with these eigenvalues, and its B, which is None for the identity."""
    n = len(values)
    S, order = root(n, seed, masses), np.random.default_rng(seed).permutation(n)
    A, B = (sp.csr_array(S @ M @ S.T) for M in (turned(values, seed), sp.eye_array(n)))
    A, B = (sp.csr_array(M[order][:, order]) for M in ((A + A.T) / 2, (B + B.T) / 2))
    for M in (A, B):
        M.sort_indices()
    return A, None if masses == "identity" else B
