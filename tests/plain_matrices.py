"""Matrices with known eigenvalues and plain structure."""

import numpy as np
import scipy.sparse as sp


def rotated(values, seed=0):
    """A symmetric matrix with these eigenvalues."""
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    A = (Q * values) @ Q.T
    return (A + A.T) / 2


def chain(n):
    return sp.diags_array([np.full(n, 2.0), -np.ones(n - 1), -np.ones(n - 1)], offsets=[0, 1, -1], format="csr")


def star(n):
    A = np.zeros((n, n))
    A[0, 1:] = A[1:, 0] = 1
    return A
