"""A list of views in place of X and y, as in cca_zoo."""

import numpy as np
import pandas
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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
    with pytest.raises(ValueError, match="View 1 has 6 features, expected 4"):
        cca.transform([X, X])
    with pytest.raises(ValueError, match="requires y"):
        cca.fit(X)


def frames(views):
    return [
        pandas.DataFrame(view, columns=[f"{name}{j}" for j in range(view.shape[1])], index=range(500, 700))
        for name, view in zip("abc", views, strict=False)
    ]


ESTIMATORS = [(CCA, [X, Y]), (MCCA, [X, Y]), (MCCA, [X, Y, Z])]
each_estimator = pytest.mark.parametrize(("kind", "views"), ESTIMATORS, ids=["CCA", "MCCA of 2", "MCCA of 3"])


@each_estimator
@pytest.mark.parametrize(
    "options",
    [{}, {"scale": False}, {"center": False}, {"ridge": 0.3}, {"c": 0.2}, {"solver": "operators", "tol": 1e-12}],
    ids=str,
)
def test_predict_reconstructs_the_views_that_are_not_known(kind, views, options):
    """By the regressions on the mean of the scores of all views."""
    weights = RNG.integers(1, 4, 200)
    shifted = [view + 3 * options.get("center", True) for view in views]
    model = kind(2, random_state=0, **options).fit(shifted, sample_weight=weights)
    means = [np.average(view, axis=0, weights=weights) * options.get("center", True) for view in shifted]
    scores, roots = model.transform(shifted), np.sqrt(weights)[:, None]
    maps = [
        np.linalg.lstsq(roots * np.mean(scores, axis=0), roots * (view - mean), rcond=None)[0]
        for view, mean in zip(shifted, means, strict=True)
    ]
    for known in ([0], [1], range(len(views)), range(1, len(views))):
        found = model.predict([view if i in known else None for i, view in enumerate(shifted)])
        latent = np.mean([scores[i] for i in known], axis=0)
        for one, coefficients, mean in zip(found, maps, means, strict=True):
            np.testing.assert_allclose(one, latent @ coefficients + mean, atol=1e-8)


def test_predict_from_wide_views_and_from_batches(monkeypatch):
    monkeypatch.setattr("splitmerge.learn.covariance.choice.MIN_REDUCED_COLUMNS", 100)
    wide = np.hstack([X, RNG.standard_normal((200, 300))])
    model = CCA(2, ridge=0.5).fit([wide, Y])
    assert "row space" in model.route_
    latent = np.mean(model.transform([wide, Y]), axis=0)
    expected = latent @ np.linalg.lstsq(latent, wide - wide.mean(axis=0), rcond=None)[0] + wide.mean(axis=0)
    np.testing.assert_allclose(model.predict([wide, Y])[0], expected, atol=1e-10)
    for kind in (CCA, MCCA):
        whole = kind(2).fit([X, Y])
        batches = kind(2).partial_fit([X[:80], Y[:80]]).partial_fit([X[80:], Y[80:]])
        np.testing.assert_allclose(batches.predict([None, Y])[0], whole.predict([None, Y])[0], atol=1e-10)
        for one, other in zip(batches.feature_importances_per_view_, whole.feature_importances_per_view_, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-10)


def test_several_views_from_their_scores():
    views = [X, Y, Z]
    model = MCCA(2).fit(views)
    scores = model.transform(views)
    for view, S, found in zip(views, scores, model.inverse_transform(scores), strict=True):
        centred = view - view.mean(axis=0)
        expected = S @ np.linalg.lstsq(S, centred, rcond=None)[0] + view.mean(axis=0)
        np.testing.assert_allclose(found, expected, atol=1e-10)


@each_estimator
@pytest.mark.parametrize("options", [{}, {"scale": False}, {"solver": "operators", "tol": 1e-12}], ids=str)
def test_importances(kind, views, options):
    """The share of the variance that the scores lose with a column, if the columns were independent."""
    given = [np.hstack([view * np.arange(1, view.shape[1] + 1), np.ones((200, 1))]) for view in views]
    with pytest.warns(UserWarning, match="constant column"):
        model = kind(2, random_state=0, **options).fit(given)
    for i, (view, found) in enumerate(zip(given, model.feature_importances_per_view_, strict=True)):
        losses = []
        for j in range(view.shape[1]):
            single = np.where(np.arange(view.shape[1]) == j, view, 0.0)
            losses.append(model.transform([*given[:i], single, *given[i + 1 :]])[i].var(axis=0).sum())
        np.testing.assert_allclose(found, losses / np.sum(losses), atol=1e-7)


@each_estimator
def test_names_of_columns(kind, views):
    named = frames(views)
    model = kind(2).fit(named)
    assert [list(names) for names in model.feature_names_per_view_] == [list(view.columns) for view in named]
    model.transform(named)
    assert kind(2).fit(views).feature_names_per_view_ == [None] * len(views)
    renamed = [named[0], named[1].rename(columns=str.upper), *named[2:]]
    with pytest.raises(ValueError, match=r"feature names of view 1 should match.*b0, b1, b2, b3; they are B0"):
        model.predict(renamed)
    with pytest.warns(UserWarning, match="View 0 does not have valid feature names"):
        model.transform([views[0], *named[1:]])
    with pytest.warns(UserWarning, match="View 1 has feature names, but"):
        kind(2).fit(views).transform([views[0], named[1], *views[2:]])
    if kind is MCCA:
        assert not hasattr(MCCA(2).fit(named).fit(np.hstack(views)), "feature_names_per_view_")


@each_estimator
def test_frames_of_scores(kind, views):
    named, plain = frames(views), kind(2).fit(views).transform(views)
    model = kind(2).set_output(transform="pandas")
    for found in (model.fit_transform(named), model.transform(named)):
        for frame, scores, names in zip(found, plain, model.get_feature_names_out(), strict=True):
            assert list(frame.columns) == list(names) == [f"{kind.__name__.lower()}{i}" for i in range(2)]
            assert list(frame.index) == list(range(500, 700))
            np.testing.assert_allclose(frame, scores)
    np.testing.assert_allclose(model.score(named), kind(2).fit(views).score(views))


def test_names_of_components_after_a_table_and_after_a_list():
    """One array, as scikit-learn's pipelines need it, unless the data were a list; frames have the same columns."""
    x, y = frames([X, Y])
    cca = CCA(2).set_output(transform="pandas").fit(x, y)
    assert cca.get_feature_names_out().tolist() == ["cca0", "cca1"]
    both = cca.transform(x, y)
    assert list(both[0].columns) == ["cca0", "cca1"]
    assert isinstance(both[1], np.ndarray)
    assert [names.tolist() for names in cca.fit([x, y]).get_feature_names_out()] == [["cca0", "cca1"]] * 2
    assert list(cca.transform(x).columns) == ["cca0", "cca1"]
    batches = CCA(2).partial_fit([X, Y]).partial_fit([X, Y])
    assert len(batches.get_feature_names_out()) == 2
    table = MCCA(1, views=[6, 4]).set_output(transform="pandas")
    assert list(table.fit_transform(np.hstack([X, Y])).columns) == table.get_feature_names_out().tolist() == ["mcca0"]
    piped = make_pipeline(StandardScaler(), CCA(2)).set_output(transform="pandas").fit(x, y)
    assert list(piped.transform(x).columns) == piped.get_feature_names_out().tolist() == ["cca0", "cca1"]


@each_estimator
def test_lists_that_are_refused(kind, views):
    model = kind(2).fit(views)
    with pytest.raises(ValueError, match="At least one view"):
        model.predict([None] * len(views))
    with pytest.raises(ValueError, match=rf"Expected {len(views)} views, got 1"):
        model.predict([X])
    with pytest.raises(ValueError, match=rf"Expected {len(views)} score arrays, got 1"):
        model.inverse_transform(model.transform(views)[:1])
    with pytest.raises(ValueError, match=r"scores\[0\] has 1 features, expected 2"):
        model.inverse_transform([each[:, :1] for each in model.transform(views)])
    for method in (model.fit, model.partial_fit, model.transform, model.correlations, model.inverse_transform):
        with pytest.raises(ValueError, match="View 1 is None; give all views"):
            method([X, None, *views[2:]])


def test_one_table_has_no_predictions():
    assert not hasattr(MCCA(2), "predict")
    assert not hasattr(MCCA(2).fit(X), "predict")
    with pytest.raises(ValueError, match="list of the scores of each view"):
        MCCA(2).fit(X).inverse_transform(X)
