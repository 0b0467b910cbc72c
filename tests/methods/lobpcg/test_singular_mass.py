"""The largest of a singular B are infinite, also for the search that never solves with it."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from pairs import grid

A = grid(12)
N = A.shape[0]
MASSLESS = np.diag(np.r_[1.0, 0.0, np.ones(N - 2)])
COUPLED = np.kron(np.eye(N // 2), [[1.0, -1.0], [-1.0, 1.0]]) + np.diag(np.r_[0.0, 0.0, np.ones(N - 2)])
CHAIN = grid(N, 1, free=True).toarray()
MASSES = {"a row of zeros": MASSLESS, "two coupled rows": COUPLED, "a free chain": CHAIN}


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", MASSES)
def test_refused_with_what_can_be_done(name, kind, k):
    """As with a factorisation: the message names the policies."""
    with pytest.raises(sm.NotPositiveDefinite, match="b_policy='restrict' leaves them out"):
        sm.solve(A, kind(MASSES[name]), k, method=sm.LocallyOptimal(), rng=0)
