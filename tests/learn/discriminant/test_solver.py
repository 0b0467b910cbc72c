"""Linear discriminant analysis: the results of scikit-learn's solvers, estimators of the covariance, and float32."""

import inspect
import tracemalloc

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.covariance import OAS, EmpiricalCovariance, LedoitWolf
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Reference
from sklearn.utils.estimator_checks import estimator_checks_generator

from splitmerge.learn import LinearDiscriminantAnalysis
from splitmerge.learn.moments import grouped

X, Y = load_iris(return_X_y=True)
ATTRIBUTES = ["covariance_", "explained_variance_ratio_", "scalings_", "coef_", "intercept_", "means_", "priors_"]
CASES = [
    *[(solver, None) for solver in ("svd", "lsqr", "eigen")],
    *[(solver, shrinkage) for solver in ("lsqr", "eigen") for shrinkage in (0, 0.2, "auto")],
]


def same_results(model, reference, X, tol=1e-8):
    """Everything that scikit-learn has, up to the signs of directions and further directions."""
    assert [hasattr(model, name) for name in ATTRIBUTES] == [hasattr(reference, name) for name in ATTRIBUTES]
    for name in set(ATTRIBUTES) - {"scalings_"}:
        if hasattr(reference, name):
            ours, theirs = getattr(model, name), getattr(reference, name)
            np.testing.assert_allclose(ours, theirs, rtol=tol, atol=tol * np.abs(theirs).max(), err_msg=name)
    np.testing.assert_allclose(model.decision_function(X), reference.decision_function(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), rtol=0, atol=tol)
    if model.solver != "lsqr":
        projected = model.transform(X)
        np.testing.assert_allclose(np.abs(projected), np.abs(reference.transform(X)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize(("solver", "shrinkage"), CASES)
def test_results_are_those_of_the_solver(solver, shrinkage, load, classes):
    X, y = load(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    options = {"solver": solver, "shrinkage": shrinkage}
    same_results(LinearDiscriminantAnalysis(**options).fit(X, y), Reference(**options).fit(X, y), X)


def test_results_with_many_columns():
    """More than are decomposed as a matrix, for the sum of all eigenvalues."""
    rng = np.random.default_rng(0)
    y = np.arange(900) % 3
    X = rng.standard_normal((900, 520)) * np.linspace(0.5, 2, 520) + 0.3 * rng.standard_normal((3, 520))[y]
    for shrinkage in (0.2, "auto"):
        options = {"solver": "eigen", "shrinkage": shrinkage}
        model, reference = LinearDiscriminantAnalysis(**options).fit(X, y), Reference(**options).fit(X, y)
        np.testing.assert_allclose(model.explained_variance_ratio_, reference.explained_variance_ratio_, rtol=1e-8)
        assert model.explained_variance_ratio_.sum() < 0.99


@pytest.mark.parametrize(("solver", "shrinkage"), CASES)
def test_priors_are_used_as_the_solver_does(solver, shrinkage):
    options = {"solver": solver, "shrinkage": shrinkage, "priors": [0.2, 0.3, 0.5]}
    model, reference = LinearDiscriminantAnalysis(**options).fit(X, Y), Reference(**options).fit(X, Y)
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-10)
    if not shrinkage:
        batches = LinearDiscriminantAnalysis(**options).partial_fit(X[::2], Y[::2], classes=[0, 1, 2])
        np.testing.assert_allclose(batches.partial_fit(X[1::2], Y[1::2]).coef_, reference.coef_, rtol=1e-8)


def test_auto_is_svd_and_takes_shrinkage():
    same_results(LinearDiscriminantAnalysis().fit(X, Y), Reference("svd").fit(X, Y), X)
    model, reference = LinearDiscriminantAnalysis(shrinkage=0.2).fit(X, Y), Reference("eigen", 0.2).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-10)
    np.testing.assert_allclose(model.transform(X).mean(axis=0), 0, atol=1e-12)
    assert not hasattr(model, "covariance_")


def test_the_signature_is_scikit_learns():
    ours, theirs = (
        list(inspect.signature(kind).parameters.values()) for kind in (LinearDiscriminantAnalysis, Reference)
    )
    assert [each.name for each in ours[:7]] == [each.name for each in theirs]
    assert [each.default for each in ours[1:7]] == [each.default for each in theirs[1:]]
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in ours[7:])
    with pytest.raises(
        ValueError, match="solver is 2; give one of 'auto', 'svd', 'lsqr', 'eigen'; other options by key"
    ):
        LinearDiscriminantAnalysis(2).fit(X, Y)


CHECKS = list(estimator_checks_generator(LinearDiscriminantAnalysis("eigen", 0.1)))


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=[check.func.__name__ for _, check in CHECKS])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


class Fixed:
    """One matrix for every class, in a class that does not derive from scikit-learn's."""

    def __init__(self, covariance):
        self.answer = covariance

    def fit(self, X):
        self.covariance_ = self.answer


class TestEstimators:
    @pytest.mark.parametrize("estimator", [OAS(), LedoitWolf(), EmpiricalCovariance(), Fixed(np.diag([1.0, 2, 3, 4]))])
    @pytest.mark.parametrize("solver", ["lsqr", "eigen"])
    @pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
    def test_agree_with_scikit_learn(self, solver, estimator, priors):
        options = {"solver": solver, "covariance_estimator": estimator, "priors": priors}
        model = LinearDiscriminantAnalysis(**options).fit(X, Y)
        assert not hasattr(estimator, "covariance_")
        # of equal covariances nothing is left between classes, for which theirs divides 0 by 0
        same = isinstance(estimator, Fixed)
        theirs = {"covariance_estimator": clone(estimator, safe=False)} | ({"solver": "lsqr"} if same else {})
        reference = Reference(**options | theirs).fit(X, Y)
        if same:
            np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-10)
            assert np.isfinite(getattr(model, "explained_variance_ratio_", 0.0)).all()
        else:
            same_results(model, reference, X)
        assert type(estimator).__name__ in model.route_

    def test_auto_takes_them_and_means_are_fishers_criterion(self):
        model = LinearDiscriminantAnalysis(covariance_estimator=OAS(), between="means").fit(X, Y)
        reference = Reference("lsqr", covariance_estimator=OAS()).fit(X, Y)
        np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-10)
        np.testing.assert_allclose(model.scalings_.T @ reference.covariance_ @ model.scalings_, np.eye(2), atol=1e-10)

    def test_constant_columns(self):
        wide = np.column_stack([X, np.ones(150)])
        for estimator in (EmpiricalCovariance(), OAS()):
            model = LinearDiscriminantAnalysis(covariance_estimator=estimator).fit(wide, Y)
            assert np.isfinite(model.predict_proba(wide)).all()
            assert np.isfinite(model.transform(wide)).all()

    @pytest.mark.parametrize(
        ("estimator", "match"),
        [
            (KMeans(2, n_init=1), "KMeans does not have a covariance_ attribute"),
            (7, r"covariance_estimator is 7; give an object with fit\(X\)"),
            (Fixed(np.eye(3)), "covariance_ of Fixed must be a finite 4×4 matrix; it has shape"),
            (Fixed(np.full((4, 4), np.nan)), "covariance_ of Fixed must be a finite"),
        ],
    )
    def test_that_are_none(self, estimator, match):
        with pytest.raises(ValueError, match=match):
            LinearDiscriminantAnalysis(covariance_estimator=estimator).fit(X, Y)

    def test_what_they_do_not_take(self):
        model = LinearDiscriminantAnalysis(covariance_estimator=OAS())
        with pytest.raises(ValueError, match="needs a dense X"):
            model.fit(sp.csr_array(X), Y)
        with pytest.raises(ValueError, match="does not take sample_weight"):
            model.fit(X, Y, np.arange(150) + 1.0)
        with pytest.raises(ValueError, match="covariance_estimator needs all rows at once"):
            model.partial_fit(X, Y, classes=[0, 1, 2])


class TestFloat32:
    NARROW = X.astype(np.float32)

    @pytest.mark.parametrize(("solver", "shrinkage"), [*CASES, ("auto", None), ("auto", "auto")])
    def test_in_and_out(self, solver, shrinkage):
        model = LinearDiscriminantAnalysis(solver, shrinkage).fit(self.NARROW, Y)
        wide = LinearDiscriminantAnalysis(solver, shrinkage).fit(self.NARROW.astype(float), Y)
        results = [value for name, value in vars(model).items() if name.endswith("_") and isinstance(value, np.ndarray)]
        assert {value.dtype for value in results} == {np.dtype(np.float32), Y.dtype}
        np.testing.assert_allclose(model.coef_, wide.coef_, rtol=1e-5)
        names = ["decision_function", "predict_proba", "predict_log_proba"] + ["transform"] * (solver != "lsqr")
        for name in names:
            assert getattr(model, name)(self.NARROW).dtype == np.float32
            assert getattr(model, name)(X).dtype == np.float64
        assert wide.decision_function(self.NARROW).dtype == np.float64

    def test_batches_and_blocks(self):
        blocks = da.from_array(self.NARROW, chunks=(70, 4))
        model = LinearDiscriminantAnalysis().fit(blocks, Y)
        assert model.coef_.dtype == np.float32
        lazy = model.transform(blocks)
        assert lazy.dtype == lazy.compute().dtype == np.float32
        model.partial_fit(self.NARROW, Y)
        assert model.coef_.dtype == np.float32
        assert model.partial_fit(X, Y).coef_.dtype == np.float64


@pytest.mark.parametrize("solver", ["auto", "svd", "lsqr", "eigen"])
def test_singular_data_give_finite_results(solver):
    X, y = load_digits(return_X_y=True)
    # three constant pixels, and classes of 1, 2 and 3 rows, fewer than columns
    for rows in (slice(None), np.r_[0, 1, 11, 2, 12, 22]):
        data, labels = X[rows], np.sort(y[rows])
        model = LinearDiscriminantAnalysis(solver).fit(data, labels)
        assert all(np.isfinite(value).all() for value in vars(model).values() if isinstance(value, np.ndarray))
        assert np.isfinite(model.predict_proba(data)).all()


@pytest.mark.parametrize("shrinkage", [None, 0.1, "auto"])
def test_one_sample_in_a_class(shrinkage):
    model = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X[:101], Y[:101])
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shrinkage", [None, 0.1, "auto"])
def test_memory_maps_are_read_in_blocks(tmp_path, shrinkage, dtype):
    rows, columns = 40_000, 100
    y = np.arange(rows) % 4
    data = np.random.default_rng(0).standard_normal((rows, columns)).astype(dtype)
    np.save(tmp_path / "X.npy", data)
    on_disk = np.load(tmp_path / "X.npy", mmap_mode="r")
    tracemalloc.start()
    model = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(on_disk, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # a few numbers per row for labels and weights, and blocks
    assert peak < 8 * (12 * rows + 6 * 2**18)
    np.testing.assert_array_equal(model.coef_, LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(data, y).coef_)


def test_memory_maps_with_many_columns_are_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(grouped, "BLOCK_ENTRIES", 2**16)
    y = np.arange(100) % 2
    data = np.random.default_rng(0).standard_normal((100, 20_000))
    np.save(tmp_path / "X.npy", data)
    on_disk = np.load(tmp_path / "X.npy", mmap_mode="r")
    tracemalloc.start()
    model = LinearDiscriminantAnalysis(shrinkage="auto", between="means").fit(on_disk, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "Gram matrix" in model.route_
    # numbers per column, but no copy of the 50 rows of a class
    assert peak < 8 * 40 * 20_000
