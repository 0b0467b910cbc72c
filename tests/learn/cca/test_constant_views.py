"""Views without variance or without correlation: the same from covariance matrices and from products with the data."""

import contextlib

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.learn import CCA, MCCA

X, Y = sm.gallery.two_views(80, 5, 4, [0.9, 0.6], rng=0)
CONSTANT = {"zero": np.zeros((80, 4)), "constant": np.full((80, 4), 3.7), "sparse": sp.csr_array((80, 4))}
RIDGE = 0.5
each_solver = pytest.mark.parametrize("solver", ["formed", "operators"])


def lengths(view, weights):
    """WᵀBW for the covariance B of the scaled view plus the ridge."""
    view = view.toarray() if sp.issparse(view) else view
    deviations = view.std(axis=0)
    Z = (view - view.mean(axis=0)) / np.where(deviations > 1e-12, deviations, 1.0)
    return weights.T @ (Z.T @ Z / len(Z) + RIDGE * np.eye(Z.shape[1])) @ weights


@each_solver
@pytest.mark.parametrize("name", CONSTANT)
@pytest.mark.parametrize("swap", [False, True])
def test_constant_view_has_correlation_zero(solver, name, swap):
    view = CONSTANT[name]
    views = (view, X) if swap else (X, view)
    with pytest.warns(UserWarning, match=f"^{'X' if swap else 'y'} is constant: it has no correlation"):
        cca = CCA(2, ridge=RIDGE, solver=solver).fit(*views)
    np.testing.assert_allclose(cca.correlations_, 0, atol=1e-12)
    for given, weights in zip(views, (cca.x_weights_, cca.y_weights_), strict=True):
        np.testing.assert_allclose(lengths(given, weights), np.eye(2), atol=1e-10)
    assert all(np.isfinite(scores).all() for scores in cca.transform(*views))


@each_solver
@pytest.mark.parametrize("name", CONSTANT)
def test_constant_view_without_a_ridge_is_refused_by_name(solver, name):
    with pytest.raises(sm.NotPositiveDefinite, match="y has 4 constant columns"):
        CCA(1, solver=solver).fit(X, CONSTANT[name])


@each_solver
@pytest.mark.parametrize("value", [0.0, 0.1])
def test_constant_column(solver, value):
    with_column = np.insert(Y, 1, value, axis=1)
    cca = CCA(2, ridge=RIDGE, solver=solver).fit(X, with_column)
    expected = CCA(2, ridge=RIDGE).fit(X, Y)
    np.testing.assert_allclose(cca.correlations_, expected.correlations_, atol=1e-8)
    np.testing.assert_allclose(cca.y_weights_[1], 0, atol=1e-8)


@each_solver
def test_more_components_than_correlations(solver):
    """Vectors of correlation zero are divided between the views in no particular way."""
    rank_one = np.outer(X[:, 0], [1.0, 2.0, 3.0])
    cca = CCA(3, ridge=RIDGE, solver=solver).fit(X, rank_one)
    np.testing.assert_allclose(cca.correlations_[1:], 0, atol=1e-8)
    np.testing.assert_allclose(lengths(X, cca.x_weights_), np.eye(3), atol=1e-7)
    np.testing.assert_allclose(lengths(rank_one, cca.y_weights_), np.eye(3), atol=1e-7)


@each_solver
@pytest.mark.parametrize("name", ["zero", "constant"])
def test_constant_view_among_several(solver, name):
    with pytest.warns(UserWarning, match="view 2 is constant"):
        mcca = MCCA(1, ridge=RIDGE, solver=solver).fit([X, Y, CONSTANT[name]])
    two = CCA(1, ridge=RIDGE).fit(X, Y)
    np.testing.assert_allclose(mcca.eigenvalues_, two.correlations_, atol=1e-8)
    np.testing.assert_allclose(mcca.rotations_[2], 0, atol=1e-8)


BAD = {
    "not a number": np.where(Y > 1, np.nan, Y),
    "infinite": np.where(Y > 1, np.inf, Y),
    "overflow": Y * 1e200,
    "no column varies": np.zeros((80, 4)),
    "one constant column": np.full(80, 0.1),
    "wide and zero": np.zeros((80, 110)),
}
POLICIES = ["warn", "error", "restrict"]


@each_solver
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("scale", [True, False])
def test_views_that_have_no_answer_are_refused(name, policy, solver, scale, monkeypatch):
    """With a sentence that names the view, in a fit and in a partial fit."""
    monkeypatch.setattr("splitmerge.learn.covariance.choice.MIN_REDUCED_COLUMNS", 100)
    view = BAD[name]
    table = view if view.ndim == 2 else view[:, None]
    options = {"solver": solver, "b_policy": policy, "scale": scale, "random_state": 0}
    told = r"y |Input y|[Vv]iew 1 |b_policy='restrict' needs the covariances as matrices"
    with pytest.raises(ValueError, match=told):
        CCA(1, **options).fit(X, view)
    with pytest.raises(ValueError, match=told):
        MCCA(1, **options).fit([X, table, Y])
    with pytest.raises(ValueError, match=told):
        _ = CCA(1, **options).partial_fit(X, view).correlations_
    with pytest.raises(ValueError, match=told):
        _ = MCCA(1, **options).partial_fit([X, table, Y]).eigenvalues_


@each_solver
@pytest.mark.parametrize("options", [{}, {"ridge": RIDGE}, {"c": 0.5}, {"c": 1.0}, {"center": False, "ridge": RIDGE}])
def test_a_view_with_zero_columns_has_finite_results(options, solver):
    view = np.hstack([Y[:, :2], np.zeros((80, 2))])
    told = pytest.warns(UserWarning, match="y has 2 constant") if not options else contextlib.nullcontext()
    with told:
        cca = CCA(2, solver=solver, random_state=0, **options).fit(X, view)
    expected = CCA(2, **options).fit(X, Y[:, :2])
    np.testing.assert_allclose(cca.correlations_, expected.correlations_, atol=1e-8)
    np.testing.assert_allclose(cca.coef_[:2], expected.coef_, atol=1e-6)
    np.testing.assert_allclose(cca.coef_[2:], 0, atol=1e-12)
    np.testing.assert_allclose(cca.y_weights_[2:], 0, atol=1e-8)
