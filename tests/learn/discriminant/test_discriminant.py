"""Linear discriminant analysis: scikit-learn's answers, by each route, in its company."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh, subspace_angles
from sklearn.covariance import ledoit_wolf as reference_ledoit_wolf
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Reference
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from splitmerge.gallery.statistics import labelled_clouds, lda_pair
from splitmerge.learn import LinearDiscriminantAnalysis
from splitmerge.learn.covariance.choice import Route
from splitmerge.learn.covariance.shrinkage import ledoit_wolf
from splitmerge.learn.discriminant import directions
from splitmerge.learn.moments.grouped import Grouped


def sine(V, W):
    return np.sin(subspace_angles(V, W)).max()


def clouds(rows, columns, classes, seed=0, apart=0.5):
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    X = rng.standard_normal((rows, columns)) * np.linspace(0.5, 2, columns)
    return X + apart * rng.standard_normal((classes, columns))[y], y


@pytest.fixture
def force(monkeypatch):
    """Take a route whatever it costs."""
    return lambda name: monkeypatch.setattr(directions, "choose_route", lambda *_, **__: Route(name, "forced."))


CHECKS = list(estimator_checks_generator(LinearDiscriminantAnalysis()))


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=[check.func.__name__ for _, check in CHECKS])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("shrinkage", [None, 0.01, 0.1, 0.5, "auto"])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_agrees_with_scikit_learn(load, shrinkage):
    X, y = load(return_X_y=True)
    # without shrinkage digits have a singular covariance, which only "svd" bears
    singular = load is load_digits and shrinkage is None
    reference = Reference() if singular else Reference(solver="eigen", shrinkage=shrinkage)
    reference.fit(X, y)
    model = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y)
    # the ninth value of digits is threefold for a number: the constant pixels
    k = 8 if load is load_digits and isinstance(shrinkage, float) else len(model.classes_) - 1
    assert sine(model.scalings_[:, :k], reference.scalings_[:, :k]) < 1e-10
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), reference.predict(X))
    np.testing.assert_allclose(model.means_, reference.means_)
    np.testing.assert_allclose(model.priors_, reference.priors_)
    assert model.score(X, y) == reference.score(X, y)


def test_the_default_is_scikit_learns_default():
    X, y = load_wine(return_X_y=True)
    model, reference = LinearDiscriminantAnalysis().fit(X, y), Reference().fit(X, y)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(reference.transform(X)), rtol=1e-8, atol=1e-8)
    for name in ("coef_", "intercept_", "xbar_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(model, name), getattr(reference, name), rtol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), reference.decision_function(X), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(model.predict_log_proba(X), reference.predict_log_proba(X), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("shrinkage", [None, 0.3, "auto"])
def test_priors_and_two_classes(shrinkage):
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    solver = "svd" if shrinkage is None else "eigen"
    reference = Reference(solver=solver, shrinkage=shrinkage, priors=[0.8, 0.2]).fit(X, y)
    model = LinearDiscriminantAnalysis(shrinkage=shrinkage, priors=[0.8, 0.2]).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-10)
    assert model.decision_function(X).shape == (100,)
    assert model.coef_.shape == (1, 4)


# by products alone no shrinkage can be found
ROUTES = [("columns", 0.2), ("columns", "auto"), ("rows", 0.2), ("rows", "auto"), ("products", 0.2)]


@pytest.mark.parametrize(("name", "shrinkage"), ROUTES)
@pytest.mark.parametrize(("rows", "columns"), [(60, 150), (150, 60), (90, 600)])
@pytest.mark.parametrize("sparse", [False, True])
def test_all_routes_lead_to_the_same(force, name, rows, columns, shrinkage, sparse):
    X, y = clouds(rows, columns, 4)
    if sparse:
        X *= np.random.default_rng(0).random(X.shape) < 0.3
    reference = Reference(solver="eigen", shrinkage=shrinkage).fit(X, y)
    force(name)
    model = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(sp.csr_array(X) if sparse else X, y)
    assert sine(model.scalings_, reference.scalings_[:, :3]) < 1e-7
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-8)
    assert model.route_.startswith("forced.")


@pytest.mark.parametrize("shrinkage", [None, 0.3, "auto"])
def test_means_alone_are_fishers_criterion(shrinkage):
    X, y = load_wine(return_X_y=True)
    model = LinearDiscriminantAnalysis(shrinkage=shrinkage, between="means", store_covariance=True).fit(X, y)
    A, _ = lda_pair(X, y)
    values, vectors = eigh(A, model.covariance_)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:2], rtol=1e-9)
    assert sine(model.scalings_, vectors[:, ::-1][:, :2]) < 1e-9
    np.testing.assert_allclose(model.scalings_.T @ model.covariance_ @ model.scalings_, np.eye(2), atol=1e-10)
    np.testing.assert_allclose(
        model.covariance_, Reference(solver="eigen", shrinkage=shrinkage).fit(X, y).covariance_, rtol=1e-8, atol=1e-12
    )


def test_known_discriminants():
    X, y = labelled_clouds(30, 6, [4.0, 2.0, 0.5], exact=True, rng=0)
    model = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, [4.0, 2.0, 0.5])
    np.testing.assert_allclose(model.explained_variance_ratio_, np.array([4.0, 2.0, 0.5]) / 6.5)


def test_far_classes_cost_no_digits():
    # one discriminant is 1e16 times another
    X, y = labelled_clouds(30, 6, [1e10, 1e-3], exact=True, rng=0)
    np.testing.assert_allclose(LinearDiscriminantAnalysis().fit(X, y).eigenvalues_, [1e10, 1e-3], rtol=1e-5)


@pytest.mark.parametrize(("rows", "columns"), [(40, 7), (10, 30)])
def test_ledoit_and_wolf(rows, columns):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns)) + 3.0
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    s, target = ledoit_wolf(Grouped(X, np.zeros(rows, int), 1))
    covariance, expected = reference_ledoit_wolf(X)
    assert s == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose((1 - s) * X.T @ X / rows + np.diag(target), covariance, atol=1e-12)
    s_given, _ = ledoit_wolf(Grouped(X, np.zeros(rows, int), 1), np.triu(X.T @ X / rows))
    assert s_given == pytest.approx(expected, rel=1e-10)


X, Y = load_iris(return_X_y=True)


def test_one_number_shrinks_to_nothing_but_means():
    model = LinearDiscriminantAnalysis(shrinkage=1.0, between="means").fit(X, Y)
    centred = model.means_ - model.xbar_
    assert sine(model.scalings_, centred.T[:, :2]) < 1e-10
    assert np.isfinite(LinearDiscriminantAnalysis(shrinkage=1.0).fit(X, Y).transform(X)).all()


def test_in_the_company_of_scikit_learn():
    import pandas

    table = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    names = np.array(["setosa", "versicolor", "virginica"])[Y]
    pipe = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()).set_output(transform="pandas")
    search = GridSearchCV(pipe, {"lineardiscriminantanalysis__shrinkage": [None, 0.1, "auto"]}).fit(table, names)
    assert search.best_score_ > 0.95
    model = LinearDiscriminantAnalysis().set_output(transform="pandas").fit(table, names)
    assert list(model.transform(table).columns) == ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    assert again.predict(table)[0] == "setosa"


def test_nothing_is_written_to_and_memory_maps_will_do(tmp_path):
    np.save(tmp_path / "X.npy", X)
    on_disk = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        LinearDiscriminantAnalysis().fit(on_disk, Y).coef_, LinearDiscriminantAnalysis().fit(X, Y).coef_
    )
    narrow = LinearDiscriminantAnalysis().fit(X.astype(np.float32), Y)
    np.testing.assert_allclose(narrow.coef_, LinearDiscriminantAnalysis().fit(X, Y).coef_, rtol=1e-4)
