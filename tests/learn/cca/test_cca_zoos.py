"""The results of cca_zoo, where it is installed."""

import numpy as np
import pytest

import splitmerge as sm
from splitmerge.learn import CCA, MCCA

linear = pytest.importorskip("cca_zoo.linear", reason="cca_zoo, which the benchmarks compare with, is not installed")
metrics = pytest.importorskip("cca_zoo.metrics")

ROWS = 120
X, Y = sm.gallery.two_views(ROWS, 6, 4, [0.9, 0.6, 0.3], rng=0)
RNG = np.random.default_rng(0)
X, Y = X * [1, 2, 3, 0.5, 1, 1] + 0.3, Y - 0.2
Z = RNG.standard_normal((ROWS, 5)) + X[:, :5]
WEIGHTS = RNG.integers(1, 4, ROWS).astype(float)


def assert_equal_but_for_signs(one, other):
    np.testing.assert_allclose(one, other * np.sign((one * other).sum(axis=0)), atol=1e-10)


def assert_proportional(ours, theirs):
    """Equal up to one positive factor, which norms and divisors make, and a sign of each component."""
    ours, theirs = np.vstack(ours), np.vstack(theirs)
    theirs = theirs * np.linalg.norm(ours) / np.linalg.norm(theirs)
    np.testing.assert_allclose(ours, theirs * np.sign((ours * theirs).sum(axis=0)), atol=1e-10)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("c", [0.0, 0.3, [0.1, 0.6]])
def test_two_views(c, weights, center):
    views = [X, Y]
    theirs = linear.RidgeCCA(3, shrinkage=c, center=center).fit(views, sample_weight=weights)
    ours = CCA(3, c=c, scale=False, center=center, ddof=1).fit(views, sample_weight=weights)
    for one, other in zip(ours.weights_, theirs.weights_, strict=True):
        assert_equal_but_for_signs(one, other)
    for one, other in zip(ours.transform(views), theirs.transform(views), strict=True):
        assert_equal_but_for_signs(one, other)
    for one, other in zip(ours.means_, theirs.means_, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-14)
    assert ours.score(views) == pytest.approx(theirs.score(views), rel=1e-10)
    by_dimension = metrics.average_pairwise_correlations(metrics.pairwise_correlations(theirs.transform(views)))
    np.testing.assert_allclose(ours.correlations(views), by_dimension, rtol=1e-10)


@pytest.mark.parametrize("c", [0.0, 0.3])
def test_several_views(c):
    views = [X, Y, Z]
    theirs = linear.MCCA(2, shrinkage=c, pca=False).fit(views)
    ours = MCCA(2, c=c, scale=False, ddof=1).fit(views)
    assert_proportional(ours.weights_, theirs.weights_)
    assert ours.score(views) == pytest.approx(theirs.score(views), rel=1e-10)


def test_loadings():
    theirs = metrics.factor_loadings([X, Y], linear.CCA(3).fit_transform([X, Y]))
    ours = CCA(3).fit(X, Y)
    assert_proportional([ours.x_loadings_, ours.y_loadings_], theirs)


def test_partial_least_squares():
    theirs, ours = linear.PLS(2).fit([X, Y]), CCA(2, c=1.0, scale=False).fit([X, Y])
    assert_proportional([ours.x_weights_, ours.y_weights_], theirs.weights_)


def test_inverse_transform():
    theirs, ours = linear.CCA(2).fit([X, Y]), CCA(2, scale=False).fit([X, Y])
    found, expected = (each.inverse_transform(each.transform([X, Y])) for each in (ours, theirs))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)


@pytest.mark.parametrize("missing", [0, 1])
def test_predictions_and_importances(missing):
    pairs = [
        (CCA(2, scale=False), linear.CCA(2), [X, Y]),
        (CCA(2, c=0.3, scale=False, ddof=1), linear.RidgeCCA(2, shrinkage=0.3), [X, Y]),
        (MCCA(2, scale=False), linear.MCCA(2, pca=False), [X, Y, Z]),
    ]
    for ours, theirs, views in pairs:
        known = [None if i == missing else view for i, view in enumerate(views)]
        found, expected = (each.fit(views).predict(known) for each in (ours, theirs))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-9)
        importances = ours.feature_importances_per_view_, theirs.feature_importances_per_view_
        for one, other in zip(*importances, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-9)
