"""Views and several of them together: what centring and scaling would make."""

import numpy as np
import pytest
import scipy.sparse as sp

from splitmerge.learn import CCA, View
from splitmerge.learn.dask.dispatch import joint_of
from splitmerge.learn.data.joint import Joint
from two_views import RNG, WEIGHTS, X, Y, explicit


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("scale", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize("kind", ["dense", "fortran", "float32", "sparse", "mapped"])
def test_a_view_is_what_centring_and_scaling_would_make(kind, scale, weights, tmp_path, monkeypatch):
    monkeypatch.setattr("splitmerge.learn.data.view.BLOCK_ROWS", 7)
    data = np.where(RNG.random(X.shape) < 0.5, X, 0.0)
    data[:2] = X[:2]
    given, tol = data, 1e-12
    if kind == "float32":
        given, tol = data.astype(np.float32), 1e-5
    elif kind == "sparse":
        given = sp.csr_array(data)
    elif kind == "fortran":
        given = np.asfortranarray(data)
    elif kind == "mapped":
        given = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float64, data.shape)
        given[:] = data
    view, other = View(given, weights, scale=scale), View(Y, weights, scale=scale)
    Z, S = explicit(data, weights, scale), explicit(Y, weights, scale)
    V = RNG.standard_normal((5, 2))
    assert np.allclose(view.gram(), Z.T @ Z, rtol=tol, atol=tol * 1e3)
    assert np.allclose(view.variances(), (Z**2).sum(axis=0), rtol=tol, atol=tol * 1e3)
    assert np.allclose(view.cross(other), Z.T @ S, rtol=tol, atol=tol * 1e3)
    assert np.allclose(view.gram_times(V), Z.T @ (Z @ V), rtol=tol, atol=tol * 1e3)
    assert np.allclose(view.gram_times(V[:, :1])[:, 0], Z.T @ (Z @ V[:, 0]), rtol=tol, atol=tol * 1e3)


def test_entries_that_are_stored_in_parts_count_once():
    """Halves of each entry, one after the other: SciPy adds them up in products, and so must the variances."""
    S = sp.csr_array(np.where(RNG.random(X.shape) < 0.5, X, 0.0))
    halves = sp.csr_array((np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), 2 * S.indptr), shape=S.shape)
    for twice in (halves, halves.tocsc()):
        np.testing.assert_allclose(View(twice).variances(), S.toarray().var(axis=0), rtol=1e-12)
    # a ridge makes the scale of the columns matter
    found, wanted = (CCA(1, ridge=0.5).fit(data, Y).correlations_ for data in (halves, S.toarray()))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert halves.nnz == 2 * S.nnz


def test_sparse_variances_do_not_cancel():
    """The mean is a hundred million deviations."""
    data = 1e8 + RNG.standard_normal((50, 1))
    assert np.allclose(View(sp.csr_array(data)).variances(), data.var(axis=0), rtol=1e-6)
    assert np.allclose(Joint([View(sp.csr_array(data))] * 2).gram(), data.var(), rtol=1e-6)


@pytest.mark.parametrize("scale", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("deviation", [1e-6, 1.0, 1e6])
def test_sparse_covariances_do_not_cancel(deviation, ratio, scale):
    """Whatever the means are relative to the deviations, and whatever the unit of the columns is."""
    data = deviation * (ratio + RNG.standard_normal((50, 3)))
    sparse, dense = (Joint([View(kind(data), scale=scale)] * 2).gram() for kind in (sp.csr_array, np.asarray))
    size = dense.diagonal().max()
    np.testing.assert_allclose(sparse, dense, rtol=0, atol=1e-8 * size)


def test_a_sparse_joint_gram_is_the_dense_one():
    data = [np.where(RNG.random((40, p)) < 0.4, RNG.random((40, p)), 0.0) for p in (4, 6)]
    w = RNG.random(40)
    sparse = joint_of([sp.csr_array(M) for M in data], w, scale=True)
    dense = joint_of(data, w, scale=True)
    assert np.allclose(sparse.gram(), dense.gram(), atol=1e-13)


def test_what_is_no_matrix():
    np.testing.assert_array_equal(View([[1, 2], [3, 5]]).mean, [2.0, 3.5])
    for bad in (
        None,
        "words",
        [[1.0, 2.0], [3.0]],
        [1.0, 2.0],
        np.ones((0, 2)),
        np.full((2, 2), "a"),
        np.ones((2, 2)) * 1j,
    ):
        with pytest.raises(ValueError, match="must be a real matrix"):
            View(bad)
