"""What `sm.eigsh` refuses, with the exceptions of SciPy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import (
    ArpackError,
)
from scipy.sparse.linalg import eigsh as scipy_eigsh

import splitmerge as sm
from banded import K, N, banded_pair, wanted_values

BAD = {
    "k zero": {"k": 0},
    "which": {"which": "XX"},
    "which in lower case": {"which": "la"},
    "which of eigs": {"which": "LR"},
    "mode": {"mode": "neither", "sigma": 1.0},
    "M of another size": {"M": np.eye(N + 1)},
    "ncv too small": {"ncv": K},
    "maxiter": {"maxiter": 0},
    "Minv without M": {"Minv": np.eye(N)},
    "Minv with sigma": {"Minv": np.eye(N), "M": np.eye(N), "sigma": 1.0},
    "OPinv without sigma": {"OPinv": np.eye(N)},
    "start of zeros": {"v0": np.zeros(N)},
    "rng": {"rng": "seed"},
    "sigma not finite": {"sigma": np.nan},
}


def test_start_of_another_size():
    # SciPy writes past its end
    with pytest.raises(ValueError, match="x0"):
        sm.eigsh(banded_pair("d")[0], K, v0=np.ones(N - 1))


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_raise_what_SciPy_raises(name):
    A = banded_pair("d")[0]
    arguments = {"k": K, **BAD[name]}
    with pytest.raises((ValueError, TypeError, ArpackError)) as theirs:
        scipy_eigsh(A, **arguments)
    with pytest.raises(theirs.type) as ours:
        sm.eigsh(A, **arguments)
    assert ours.type is theirs.type


@pytest.mark.parametrize(
    "options", [{"mode": "cayley", "sigma": 1.0}, {"which": "BE"}, {"which": "XX"}, {"ncv": K + 1}]
)
def test_bad_arguments_for_complex_matrices(options):
    A = banded_pair("D")[0]
    for function in (scipy_eigsh, sm.eigsh):
        with pytest.raises(ValueError, match=r"mode|which|ncv"):
            function(A, K, **options)


@pytest.mark.parametrize("A", [np.zeros((2, 3)), sp.csc_array((2, 3))], ids=["dense", "sparse"])
def test_not_square(A):
    for function in (scipy_eigsh, sm.eigsh):
        with pytest.raises(ValueError, match="expected square matrix"):
            function(A)


def test_other_types_and_precisions():
    A, M = banded_pair("f")
    for function in (scipy_eigsh, sm.eigsh):
        with pytest.raises(ValueError, match="matrix type must be"):
            function(A.astype(np.longdouble), K)
        with pytest.warns(UserWarning, match="same type precision"):
            w, v = function(A, K, M.astype("d"))
        assert (w.dtype, v.dtype) == (np.float32, np.float32)


def test_what_scipy_does_not_take():
    """Nested lists, data frames and objects without a dtype: as `solve` takes them, without a warning."""
    A, M = banded_pair("d")

    class Bare:
        shape = A.shape

        def __matmul__(self, x):
            return A @ x

    expected = wanted_values(A, M, "LA", None)
    for given in (A.tolist(), pd.DataFrame(A), Bare()):
        w, _ = sm.eigsh(given, K, M, which="LA", rng=0)
        np.testing.assert_allclose(np.sort(w), np.sort(expected), rtol=1e-9)


def test_asymmetric_matrices_are_refused():
    with pytest.raises(ValueError, match="not symmetric"):
        sm.eigsh(np.triu(np.ones((N, N))), K)


@pytest.mark.parametrize("n", [30, N])
def test_indefinite_M_and_A_are_refused(n):
    A, M = (matrix[:n, :n] for matrix in banded_pair("d"))
    with pytest.raises(sm.NotPositiveDefinite):
        sm.eigsh(M, K, A)
    with pytest.raises(sm.NotPositiveDefinite):
        sm.eigsh(A, K, M, sigma=1.0, mode="buckling")
    with pytest.raises(ValueError, match="buckling"):
        sm.eigsh(M, K, A, sigma=0.0, mode="buckling")
