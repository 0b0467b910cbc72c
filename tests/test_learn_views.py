"""Views, moments, whitening and the pair of several views."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import splitmerge as sm
from splitmerge.errors import NotPositiveDefinite
from splitmerge.learn import CCA, View, view_pair
from splitmerge.learn.covariance.pair import choose, ridges_of
from splitmerge.learn.covariance.whiten import Sample, whitener
from splitmerge.learn.data.inputs import joint_of, weights_of
from splitmerge.learn.data.joint import Joint
from splitmerge.learn.moments.comoments import Comoments

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5)) * [1, 2, 3, 0.1, 5] + [0, 1, -3, 7, 100]
Y = RNG.standard_normal((60, 3)) + X[:, :3]
WEIGHTS = RNG.integers(0, 4, 60).astype(float)


def explicit(X, weights, scale):
    """Rows times roots of weights, over the root of their sum."""
    w = np.ones(len(X)) if weights is None else weights
    Z = X - w @ X / w.sum()
    if scale:
        Z = Z / np.sqrt(w @ Z**2 / w.sum())
    return np.sqrt(w / w.sum())[:, None] * Z


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("scale", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize("kind", ["dense", "fortran", "float32", "sparse", "mapped"])
def test_a_view_is_what_centring_and_scaling_would_make(kind, scale, weights, tmp_path, monkeypatch):
    monkeypatch.setattr("splitmerge.learn.data.view.ROWS", 7)
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


def test_a_sparse_joint_gram_is_the_dense_one():
    data = [np.where(RNG.random((40, p)) < 0.4, RNG.random((40, p)), 0.0) for p in (4, 6)]
    w = RNG.random(40)
    sparse = joint_of([sp.csr_array(M) for M in data], w, scale=True)
    dense = joint_of(data, w, scale=True)
    assert np.allclose(sparse.gram(), dense.gram(), atol=1e-13)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.floats(-1e6, 1e6), st.booleans())
def test_moments_add_up(sizes, offset, weighted):
    """However the rows are cut into batches; means far from zero cost no digits."""
    rng = np.random.default_rng(sum(sizes))
    data = rng.standard_normal((sum(sizes), 3)) + offset
    w = rng.random(len(data)) + 0.1 if weighted else np.ones(len(data))
    found = None
    for part in np.split(np.arange(len(data)), np.cumsum(sizes)[:-1]):
        more = Comoments.of(Joint([View(data[part], w[part])]))
        found = more if found is None else found + more
    Z = explicit(data, w, False)
    assert found.samples == len(data)
    assert np.allclose(found.mean, w @ data / w.sum(), rtol=1e-13)
    assert np.allclose(found.covariance(scale=False)[0], Z.T @ Z, atol=1e-13 * (1 + abs(offset)))


def test_moments_of_no_weight_change_nothing():
    some, none = Comoments.of_rows(X), Comoments.of_rows(X, np.zeros(len(X)))
    assert (some + none) is some
    assert (none + some) is some


@pytest.mark.parametrize("solver", ["formed", "operators"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_solve_on_the_pair(solver, weights):
    pair = view_pair([X, Y], weights=weights, ridge=(0.1, 0.2), solver=solver)
    assert pair.formed == (solver == "formed")
    assert solver in pair.reason
    Zx, Zy = explicit(X, weights, False), explicit(Y, weights, False)
    A = scipy.linalg.block_diag(Zx.T @ Zx, Zy.T @ Zy)
    A = np.hstack([Zx, Zy]).T @ np.hstack([Zx, Zy]) - A
    B = scipy.linalg.block_diag(Zx.T @ Zx + 0.1 * np.eye(5), Zy.T @ Zy + 0.2 * np.eye(3))
    assert np.allclose(pair.diagonal, B.diagonal())
    assert np.allclose(pair.A @ np.eye(8), A)
    assert np.allclose(pair.B @ np.eye(8), B)
    sol = sm.solve(pair.A, pair.B, 2, diagonal=None if pair.formed else pair.diagonal, rng=0)
    assert np.allclose(sol.eigenvalues, scipy.linalg.eigh(A, B)[0][::-1][:2], atol=1e-12)
    assert [piece.shape for piece in pair.split(sol.eigenvectors)] == [(5, 2), (3, 2)]


def test_three_views():
    views = [X, Y, RNG.standard_normal((60, 2)) + Y[:, :2]]
    formed, products = (view_pair(views, ridge=0.1, scale=True, solver=solver) for solver in ("formed", "operators"))
    for name in ("A", "B"):
        assert np.allclose(getattr(formed, name), getattr(products, name) @ np.eye(10), atol=1e-12)


def test_the_choice_is_by_cost_and_memory(monkeypatch):
    joint = joint_of([X, Y])
    assert choose(joint, 1).formed
    assert "were formed: " in choose(joint, 1).reason
    wide = joint_of([sp.random_array((300, 4000), density=0.001, format="csr", rng=0) for _ in range(2)])
    assert not choose(wide, 2).formed
    monkeypatch.setattr("splitmerge.learn.covariance.pair.free_memory", lambda: 100.0)
    assert "memory" in choose(joint, 1).reason
    assert not choose(joint, 1).formed
    with pytest.raises(ValueError, match="give a ridge"):
        choose(joint, 1, policy="restrict")


def test_wide_views_are_turned_only_where_coordinates_will_do():
    joint = joint_of([RNG.standard_normal((50, 1500)), RNG.standard_normal((50, 3))])
    assert choose(joint, 1).narrow
    assert "coordinates" in choose(joint, 1).reason
    assert not choose(joint, 1, may_turn=False).narrow


def test_bad_arguments():
    with pytest.raises(ValueError, match="solver is 'dense'"):
        view_pair([X, Y], solver="dense")
    with pytest.raises(ValueError, match="ridge has 3 numbers for 2 views"):
        view_pair([X, Y], ridge=[1, 2, 3])
    with pytest.raises(ValueError, match="ridge is -1"):
        ridges_of(-1, 2)
    with pytest.raises(ValueError, match="at least two are needed"):
        view_pair([X])
    with pytest.raises(ValueError, match=r"different numbers of rows \(views\[0\] 60, views\[1\] 59\)"):
        view_pair([X, Y[:-1]])
    with pytest.raises(ValueError, match=r"views\[1\] holds NaN"):
        view_pair([X, np.where(Y > 0, Y, np.nan)])
    with pytest.raises(ValueError, match="must be a real matrix"):
        view_pair([X, Y * 1j])
    for weights, word in (
        (np.zeros(60), "zero"),
        (-WEIGHTS, "negative"),
        (np.ones(3), "shape"),
        ([np.nan] * 60, "NaN"),
    ):
        with pytest.raises(ValueError, match=word):
            weights_of(weights, 60)


@pytest.mark.parametrize("policy", ["error", "ridge", "restrict"])
def test_whitening(policy):
    C = np.cov(X.T)
    way = whitener(C, 0.0, policy, Sample("X", 60))
    assert np.allclose(way.W.T @ C @ way.W, np.eye(5), atol=1e-12)
    assert 1 <= way.condition < 100


def test_whitening_what_is_singular():
    doubled = np.cov(np.hstack([X, X[:, :1]]).T)
    sample = Sample("X", 60)
    with pytest.raises(NotPositiveDefinite, match="depend linearly"):
        whitener(doubled, 0.0, "error", sample)
    way = whitener(doubled, 0.0, "restrict", sample)
    assert way.W.shape == (6, 5)
    assert way.report.dropped == 1
    assert np.allclose(way.W.T @ doubled @ way.W, np.eye(5), atol=1e-10)
    way = whitener(doubled, 0.0, "ridge", sample)
    assert way.W.shape == (6, 6)
    assert 0 < way.report.ridge < 1e-9
    with pytest.raises(NotPositiveDefinite, match="does not vary"):
        whitener(np.zeros((2, 2)), 0.0, "restrict", sample)
