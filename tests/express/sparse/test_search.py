"""The search with an inverse in one basis: what its passes have found is one sequence of pairs."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.express.sparse.inverse import InverseSearch

SIDE = 18
GRID = sm.gallery.grid_laplacian((SIDE, SIDE))[0]
VALUES = sm.gallery.grid_laplacian_values((SIDE, SIDE))


@pytest.mark.parametrize("k", [3, 5, 6, 8])
@pytest.mark.parametrize("mass", [None, 3.0], ids=["identity", "lumped"])
def test_pairs_of_all_passes_are_merged(k, mass, monkeypatch):
    """The copies that a later pass finds take their places among the pairs that were locked before."""
    B, returned = None if mass is None else sp.csr_array(mass * sp.eye_array(SIDE**2)), []
    vectors = InverseSearch.vectors
    monkeypatch.setattr(InverseSearch, "vectors", lambda search: returned.append(vectors(search)) or returned[-1])
    sol = sm.solve(GRID, B, k, which="smallest", rng=0)
    assert sol.verdict == "certified"
    quotients = [np.sum(X * (GRID @ X), axis=0) / np.sum(X * X, axis=0) for X in returned]
    assert all((np.diff(found) > -1e-9).all() for found in quotients)
    np.testing.assert_allclose(quotients[-1][:k], VALUES[:k], rtol=1e-9)
