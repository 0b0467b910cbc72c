"""Small pairs from the literature with integer eigenvalues, each with a particular numerical difficulty."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.special import binom

from ..checks import whole
from ..typing import Array


def mikota_chain(n: int) -> tuple[sp.csr_array, sp.csr_array]:
    """Mikota's vibration chain: masses 1/i and springs n + 1 − i give the eigenvalues 1, 4, 9, …, n².

    J. Mikota, Frequency tuning of chain structure multibody oscillators to place the natural frequencies at Ω₁ and
    n − 1 integer multiples Ω₂, …, Ωₙ, ZAMM 81 (2001), suppl. 2; proved by P. C. Müller and M. Hou, ZAMM 87 (2007).

    >>> K, M = mikota_chain(3)
    >>> K.toarray()
    array([[ 5., -2.,  0.],
           [-2.,  3., -1.],
           [ 0., -1.,  1.]])
    """
    n = whole(n, "n", 1)
    springs = np.arange(n, 0, -1.0)
    diagonal = springs + np.append(springs[1:], 0.0)
    K = sp.diags_array([-springs[1:], diagonal, -springs[1:]], offsets=[-1, 0, 1], shape=(n, n))
    return sp.csr_array(K), sp.csr_array(sp.diags_array(1 / np.arange(1.0, n + 1)))


def mikota_chain_values(n: int) -> Array:
    """All eigenvalues of `mikota_chain`, ascending.

    >>> mikota_chain_values(3)
    array([1., 4., 9.])
    """
    return np.arange(1.0, whole(n, "n", 1) + 1) ** 2


def clement_pair(n: int) -> tuple[sp.csr_array, sp.csr_array]:
    """The Clement (Sylvester–Kac) matrix, symmetrised by diagonal weights B: λ = 1 − n, 3 − n, …, n − 1.

    A is indefinite and the spectrum symmetric about zero. κ(B) grows like 2ⁿ, but only because B is badly scaled.

    >>> A, B = clement_pair(3)
    >>> A.toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    >>> B.diagonal()
    array([1. , 0.5, 1. ])
    """
    n = whole(n, "n", 1, 1000)  # the weights underflow for larger n
    i = np.arange(n)
    weights = 1 / binom(n - 1, i)
    neighbours = (weights * (i + 1))[:-1]
    upper = sp.csr_array(sp.diags_array(neighbours, offsets=1, shape=(n, n)))
    return sp.csr_array(upper + upper.T), sp.csr_array(sp.diags_array(weights))


def clement_pair_values(n: int) -> Array:
    """All eigenvalues of `clement_pair`, ascending.

    >>> clement_pair_values(4)
    array([-3., -1.,  1.,  3.])
    """
    n = whole(n, "n", 1, 1000)
    return np.arange(1.0 - n, n, 2.0)


def legendre_pair(n: int) -> tuple[Array, Array]:
    """Legendre's equation in the monomial basis on [0, 1], where B is the Hilbert matrix: λ = l(l + 1), l < n.

    A_ij = ij/((i + j)(i + j + 1)) is singular. κ(B) is 1.6e13 for n = 10; for n ≥ 14, approximately, B is not
    positive definite to working precision.

    >>> A, B = legendre_pair(2)
    >>> A
    array([[0.        , 0.        ],
           [0.        , 0.16666667]])
    >>> B
    array([[1.        , 0.5       ],
           [0.5       , 0.33333333]])
    """
    i = np.arange(1.0 * whole(n, "n", 1))
    total = np.add.outer(i, i)
    return np.outer(i, i) / (np.maximum(total, 1) * (total + 1)), 1 / (total + 1)


def legendre_pair_values(n: int) -> Array:
    """All eigenvalues of `legendre_pair`, ascending.

    >>> legendre_pair_values(4)
    array([ 0.,  2.,  6., 12.])
    """
    l = np.arange(1.0 * whole(n, "n", 1))  # noqa: E741 (the usual symbol)
    return l * (l + 1)
