"""A list of views in place of X and y, as in cca_zoo."""

import numpy as np
import pandas
import pytest
from sklearn.model_selection import GridSearchCV

import splitmerge as sm
from splitmerge.learn import CCA, MCCA

X, Y = sm.gallery.two_views(200, 6, 4, [0.9, 0.6], rng=0)
RNG = np.random.default_rng(0)
Z = RNG.standard_normal((200, 3)) + X[:, :3]


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("table", [np.asarray, pandas.DataFrame])
def test_the_same_as_two_arguments(kind, table):
    views, same = kind([table(X), table(Y)]), CCA(2).fit(X, Y)
    cca = CCA(2).fit(views)
    np.testing.assert_allclose(cca.correlations_, same.correlations_, rtol=1e-13)
    for found in (cca.transform(views), CCA(2).fit_transform(views), CCA(2).partial_fit(views).transform(views)):
        for one, other in zip(found, same.transform(X, Y), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-10)
    for one, other in zip(
        cca.inverse_transform(cca.transform(views)), same.inverse_transform(*same.transform(X, Y)), strict=True
    ):
        np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(cca.correlations(views), same.correlations(X, Y))


def test_score_is_the_mean_correlation():
    cca = CCA(2).fit([X, Y])
    x, y = cca.transform([X, Y])
    by_dimension = [np.corrcoef(x[:, i], y[:, i])[0, 1] for i in range(2)]
    np.testing.assert_allclose(cca.correlations([X, Y]), by_dimension)
    assert cca.score([X, Y]) == pytest.approx(np.mean(by_dimension))
    weights = np.r_[np.ones(50), np.zeros(150)]
    assert cca.score([X, Y], sample_weight=weights) == pytest.approx(cca.score([X[:50], Y[:50]]))


def test_score_of_several_views():
    views = [X, Y, Z]
    mcca = MCCA(2).fit(views)
    scores = mcca.transform(views)
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = [np.mean([np.corrcoef(scores[a][:, i], scores[b][:, i])[0, 1] for a, b in pairs]) for i in range(2)]
    np.testing.assert_allclose(mcca.correlations(views), expected)
    assert mcca.score(views) == pytest.approx(np.mean(expected))
    table = MCCA(2, views=[6, 4, 3])
    assert table.fit(np.hstack(views)).score(np.hstack(views)) == pytest.approx(np.mean(expected))
    grid = GridSearchCV(table, {"ridge": [1e-3, 1e3]}, cv=3).fit(np.hstack(views))
    assert grid.best_params_ == {"ridge": 1e-3}


def test_loadings():
    """Without a ridge they are the correlations of the columns with the scores."""
    views = [X, Y, Z]
    mcca, cca = MCCA(1).fit(views), CCA(2).fit(X, Y)
    for view, scores, loadings in zip(views, mcca.transform(views), mcca.loadings_, strict=True):
        correlations = np.corrcoef(view.T, scores.T)[:-1, -1:]
        np.testing.assert_allclose(loadings * scores.std(axis=0), correlations, atol=1e-12)
    np.testing.assert_allclose(cca.x_loadings_, np.corrcoef(X.T, cca.transform(X).T)[:6, 6:], atol=1e-12)


def test_bad_input():
    with pytest.raises(ValueError, match=r"CCA requires exactly 2 views.*got 3; use MCCA"):
        CCA().fit([X, Y, Z])
    cca, mcca = CCA().fit([X, Y]), MCCA().fit([X, Y, Z])
    with pytest.raises(ValueError, match="Expected 2 views, got 1"):
        cca.transform([X])
    with pytest.raises(ValueError, match="same number of samples"):
        cca.transform([X, Y[:10]])
    with pytest.raises(ValueError, match="same number of samples"):
        mcca.transform([X, Y, Z[:10]])
    with pytest.raises(ValueError, match="y has 6 columns"):
        cca.transform([X, X])
    with pytest.raises(ValueError, match="requires y"):
        cca.fit(X)
