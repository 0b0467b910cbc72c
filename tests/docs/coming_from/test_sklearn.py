"""Every row of the table for scikit-learn, both sides run."""

import warnings

import numpy as np
import pytest
from sklearn.cross_decomposition import CCA as TheirCCA
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLDA

import splitmerge as sm
from splitmerge.learn import CCA, MCCA, LinearDiscriminantAnalysis
from tables import Table

TABLE = Table("scikit-learn")
X, Y = sm.gallery.two_views(400, 6, 4, [0.9, 0.5], rng=0)
# columns of different variance, so that `scale` matters
X = X * np.arange(1.0, 7.0)
WINE, CULTIVAR = load_wine(return_X_y=True)


def directions(columns):
    """Columns of length 1, the largest entry positive."""
    columns = columns / np.linalg.norm(columns, axis=0)
    return columns * np.sign(columns[np.argmax(abs(columns), axis=0), np.arange(columns.shape[1])])


def theirs(**options):
    return TheirCCA(n_components=2, max_iter=5000, tol=1e-12, **options).fit(X, Y)


@TABLE.checks("`CCA(n_components, scale, max_iter, tol, copy)`")
@pytest.mark.parametrize("scale", [True, False])
def test_cca(scale):
    x, y = theirs(scale=scale).transform(X, Y)
    ours = CCA(n_components=2, scale=scale, max_iter=5000, tol=1e-10, copy=False).fit(X, Y)
    np.testing.assert_allclose(ours.correlations_, [np.corrcoef(x[:, i], y[:, i])[0, 1] for i in (0, 1)], rtol=1e-6)
    np.testing.assert_allclose(directions(ours.transform(X)), directions(x), atol=1e-5)


@TABLE.checks("`x_rotations_`, `y_rotations_`, `x_loadings_`, `y_loadings_`", "`x_weights_`, `y_weights_`")
def test_cca_attributes():
    ours, other = CCA(n_components=2).fit(X, Y), theirs()
    for name in ("x_rotations_", "y_rotations_", "x_loadings_", "y_loadings_"):
        np.testing.assert_allclose(directions(getattr(ours, name)), directions(getattr(other, name)), atol=1e-5)
    np.testing.assert_allclose(ours.transform(X).std(axis=0), 1, rtol=1e-9)
    np.testing.assert_array_equal(ours.x_weights_, ours.x_rotations_)
    # the weights of scikit-learn belong to deflated data
    assert abs(directions(other.x_weights_) - directions(other.x_rotations_)).max() > 0.01


@TABLE.checks("`coef_`, `intercept_`, `predict`")
def test_cca_prediction():
    ours, other = CCA(n_components=2).fit(X, Y), theirs()
    scores = other.transform(X)
    fit = scores @ np.linalg.lstsq(scores, Y - Y.mean(axis=0))[0] + Y.mean(axis=0)
    np.testing.assert_allclose(ours.predict(X), fit, atol=1e-5)
    np.testing.assert_allclose((X - X.mean(axis=0)) @ ours.coef_.T + ours.intercept_, fit, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, other.intercept_)
    assert ((ours.predict(X) - Y) ** 2).sum() < ((other.predict(X) - Y) ** 2).sum()


@TABLE.checks("—")
def test_only_ours():
    assert CCA(n_components=2, ridge=0.1, b_policy="restrict").fit(X, Y).correlations_.shape == (2,)
    assert MCCA(n_components=2).fit([X, Y]).eigenvalues_.shape == (2,)


@TABLE.checks("`LinearDiscriminantAnalysis(solver, shrinkage, …)`")
@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shrinkage": "auto"},
        {"shrinkage": 0.3},
        {"priors": [0.2, 0.3, 0.5]},
        {"n_components": 1},
        {"store_covariance": True, "tol": 1e-5},
    ],
)
def test_lda(solver, options):
    if solver == "svd" and "shrinkage" in options:
        for kind in (TheirLDA, LinearDiscriminantAnalysis):
            with pytest.raises(NotImplementedError, match="shrinkage not supported"):
                kind(solver, **options).fit(WINE, CULTIVAR)
        return
    ours, other = (kind(solver, **options).fit(WINE, CULTIVAR) for kind in (LinearDiscriminantAnalysis, TheirLDA))
    np.testing.assert_allclose(ours.predict_proba(WINE), other.predict_proba(WINE), atol=1e-9)
    assert hasattr(ours, "covariance_") == hasattr(other, "covariance_")
    if hasattr(other, "covariance_"):
        np.testing.assert_allclose(ours.covariance_, other.covariance_, atol=1e-9 * abs(other.covariance_).max())
    assert ours.route_


@TABLE.checks("`transform`")
def test_lda_transform():
    ours, other = (kind().fit(WINE, CULTIVAR).transform(WINE) for kind in (LinearDiscriminantAnalysis, TheirLDA))
    np.testing.assert_allclose(ours * np.sign((ours * other).sum(axis=0)), other, atol=1e-9)


@TABLE.checks("collinear variables, which `svd` leaves out silently")
def test_collinear():
    collinear = np.c_[WINE, WINE[:, 0] + WINE[:, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = TheirLDA().fit(collinear, CULTIVAR)
    expected = other.predict_proba(collinear)
    for b_policy, tolerance in (("restrict", 1e-9), ("ridge", 1e-5)):
        ours = LinearDiscriminantAnalysis(b_policy=b_policy).fit(collinear, CULTIVAR)
        np.testing.assert_allclose(ours.predict_proba(collinear), expected, atol=tolerance)
    assert LinearDiscriminantAnalysis().b_policy == "restrict"
    with pytest.raises(sm.NotPositiveDefinite, match="b_policy"):
        LinearDiscriminantAnalysis(b_policy="error").fit(collinear, CULTIVAR)


def test_every_row_has_a_test():
    assert TABLE.untested == []
