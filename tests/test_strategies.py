"""The random pencils of the tests are what they promise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from strategies import gep, make_pair


def test_strategies_build_what_they_promise() -> None:
    for dtype, sparse in itertools.product((float, complex), (False, True)):
        pair = make_pair([3.0, 2.0, 1.0, 0.0], 1e3, 8, dtype, sparse=sparse)
        np.testing.assert_allclose(gep(pair.A, pair.B)[0], pair.eigenvalues, atol=1e-12)
        np.testing.assert_allclose(pair.F.conj().T @ pair.F, pair.A, atol=1e-10)
        np.testing.assert_allclose(pair.U.conj().T @ (pair.B @ pair.U), np.eye(4), atol=1e-12)
        assert sp.issparse(pair.B) == sparse
        assert sparse or np.linalg.cond(pair.B) == pytest.approx(1e3)
