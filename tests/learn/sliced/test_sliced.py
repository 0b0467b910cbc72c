"""Sliced inverse regression and sliced average variance: statsmodels' answers, slices, and bad data."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh, subspace_angles
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from data import path_of
from splitmerge import NotPositiveDefinite
from splitmerge.learn import PrincipalHessianDirections, SlicedAverageVariance, SlicedInverseRegression
from splitmerge.learn.sliced.slicing import Slicing

BOTH = [SlicedInverseRegression, SlicedAverageVariance]
CHECKS = [each for kind in [*BOTH, PrincipalHessianDirections] for each in estimator_checks_generator(kind())]


def sine(V, W):
    return np.sin(subspace_angles(V, W)).max()


def sample(rows, columns, seed=0):
    """A response of two directions, one of them by its square."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns)) @ (np.eye(columns) + 0.3 * rng.standard_normal((columns, columns))) + 5
    y = X @ rng.standard_normal(columns) + (X[:, 0] - 5) ** 2 + 0.5 * rng.standard_normal(rows)
    return X, y


@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=[f"{type(each).__name__}-{check.func.__name__}" for each, check in CHECKS]
)
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("rows", "columns", "slices"), [(200, 5, 10), (207, 8, 9), (1000, 20, 20)])
def test_agrees_with_statsmodels(rows, columns, slices):
    from statsmodels.regression import dimred

    X, y = sample(rows, columns)
    for model, reference, scale in (
        (SlicedInverseRegression(n_slices=slices), dimred.SIR, 1.0),
        (SlicedAverageVariance(n_slices=slices), dimred.SAVE, rows / slices),
    ):
        expected = reference(y, X.copy()).fit(slice_n=rows // slices)
        model.fit(X, y)
        found = len(model.eigenvalues_)
        np.testing.assert_allclose(model.eigenvalues_, expected.eigs[:found] / scale, atol=1e-10)
        for k in (1, 2, 3):
            assert sine(model.directions_[:k].T, expected.params[:, :k]) < 1e-9


def test_is_the_generalized_problem():
    X, y = sample(300, 6)
    model = SlicedInverseRegression(n_slices=8).fit(X, y)
    members = Slicing.of(y, 8).members(y)
    means = np.stack([X[members == s].mean(axis=0) for s in range(8)]) - X.mean(axis=0)
    A = (means * np.bincount(members)[:, None]).T @ means / 300
    values, vectors = eigh(A, np.cov(X.T, bias=True))
    np.testing.assert_allclose(model.eigenvalues_, values[::-1], atol=1e-12)
    assert sine(model.directions_[:2].T, vectors[:, :-3:-1]) < 1e-10
    projected = model.transform(X)
    np.testing.assert_allclose(np.cov(projected.T, bias=True), np.eye(6), atol=1e-10)
    np.testing.assert_allclose(projected.mean(axis=0), 0, atol=1e-12)


def test_athletes():
    rows = np.loadtxt(path_of("stats", "sliced_athletes.csv"), delimiter=",", skiprows=1)
    X, y = rows[:, :-1], rows[:, -1]
    model = SlicedInverseRegression(2, n_slices=11).fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, [0.9555, 0.2562], atol=1e-4)
    # lean body mass is a curve over the first direction
    first = model.transform(X)[:, 0]
    assert abs(np.corrcoef(first, y)[0, 1]) > 0.95
    order = np.argsort(y)
    means = [part.mean() for part in np.split(first[order], [40, 80, 120, 160])]
    assert (np.diff(means) > 0).all() or (np.diff(means) < 0).all()


def test_each_sees_what_it_can_see():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 5))
    even = (X @ [1.0, 1.0, 0, 0, 0]) ** 2
    truth = np.array([[1.0, 1.0, 0, 0, 0]]).T
    assert sine(SlicedAverageVariance(1).fit(X, even).directions_.T, truth) < 0.1
    assert SlicedInverseRegression(1).fit(X, even).eigenvalues_[0] < 0.05
    odd = np.exp(X @ [1.0, 1.0, 0, 0, 0])
    assert sine(SlicedInverseRegression(1).fit(X, odd).directions_.T, truth) < 0.1


@pytest.mark.parametrize("kind", BOTH)
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    cuts=st.lists(st.integers(20, 119), max_size=4),
    shrinkage=st.sampled_from([None, 0.2]),
)
def test_batches_are_a_fit(kind, seed, cuts, shrinkage):
    X, y = sample(120, 4, seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2, 120)
    cuts_of_y = np.quantile(y, [0.2, 0.4, 0.6, 0.8])
    model = kind(n_slices=cuts_of_y, shrinkage=shrinkage)
    whole, parts = clone(model).fit(X, y, weights), clone(model)
    for rows in np.split(np.arange(120), sorted(set(cuts))):
        parts.partial_fit(X[rows], y[rows], weights[rows])
    np.testing.assert_allclose(parts.eigenvalues_, whole.eigenvalues_, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(parts.mean_, whole.mean_)
    # an eigenvector moves by the difference over the gap
    gap = 1 - whole.eigenvalues_[1] / whole.eigenvalues_[0]
    assert sine(parts.directions_[:1].T, whole.directions_[:1].T) < 1e-10 / gap


@pytest.mark.parametrize("kind", BOTH)
def test_the_first_batch_makes_the_slices(kind):
    X, y = sample(300, 4)
    model = kind(n_slices=5).partial_fit(X[:100], y[:100])
    begins = model.slices_
    model.partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(model.slices_, begins)
    expected = kind(n_slices=begins).fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(model.directions_, expected.directions_, rtol=1e-8, atol=1e-10)
    going_on = kind(n_slices=5).fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(going_on.directions_, model.directions_)


@pytest.mark.parametrize("kind", BOTH)
def test_rows_may_come_one_by_one(kind):
    X, y = sample(30, 3)
    model = kind(n_slices=np.quantile(y, [0.3, 0.6]))
    whole = clone(model).fit(X, y)
    for row in range(30):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_)
    np.testing.assert_allclose(model.directions_, whole.directions_)


@pytest.mark.parametrize("kind", BOTH)
def test_a_refused_batch_leaves_nothing_behind(kind):
    X, y = sample(60, 3)
    model = kind(n_slices=3).partial_fit(X[:40], y[:40])
    expected = clone(model).partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X[40:] * np.nan, y[40:])
    with pytest.raises(ValueError, match="4 features"):
        model.partial_fit(np.ones((2, 4)), y[:2])
    np.testing.assert_array_equal(model.partial_fit(X[40:], y[40:]).directions_, expected.directions_)
    with pytest.raises(ValueError, match="ties='split' needs all rows at once"):
        kind(ties="split").partial_fit(X, y)


@pytest.mark.parametrize("kind", BOTH)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_weights_are_repetitions(kind, seed):
    X, y = sample(60, 4, seed)
    counts = np.random.default_rng(seed).integers(0, 4, 60)
    repeated = np.repeat(np.arange(60), counts)
    one, other = kind(n_slices=4).fit(X, y, counts), kind(n_slices=4).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(one.mean_, other.mean_)


@pytest.mark.parametrize(("rows", "columns"), [(60, 4), (30, 40)])
def test_weights_are_repetitions_for_the_correction_of_the_bias(rows, columns):
    """So they are in the fourth moments, for more rows than columns and for fewer."""
    X, y = sample(rows, columns)
    counts = np.random.default_rng(1).integers(1, 4, rows)
    repeated = np.repeat(np.arange(rows), counts)
    one, other = (SlicedAverageVariance(2, n_slices=3, shrinkage=0.3, bias_correction=True) for _ in range(2))
    one.fit(X, y, counts)
    other.fit(X[repeated], y[repeated])
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(one.directions_, other.directions_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", BOTH)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_affine_maps_change_nothing(kind, seed):
    X, y = sample(100, 4, seed)
    rng = np.random.default_rng(seed)
    map_ = np.eye(4) + 0.2 * rng.standard_normal((4, 4))
    if np.linalg.cond(map_) > 100:
        return
    one, other = kind(n_slices=5).fit(X, y), kind(n_slices=5).fit(X @ map_ - 3, 2 * y + 1)
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kind", BOTH)
def test_rows_of_any_kind(kind):
    X, y = sample(150, 5)
    X[X < 5] = 0.0
    expected = kind(2, n_slices=5).fit(X, y)
    for other in (sp.csr_array(X), sp.csc_array(X), np.asfortranarray(X)):
        model = kind(2, n_slices=5).fit(other, y)
        np.testing.assert_allclose(model.directions_, expected.directions_, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(model.transform(other), expected.transform(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9])
def test_constant_columns(kind, constant):
    X, y = sample(150, 4)
    wide = np.column_stack([X, np.full(150, constant)])
    narrow, model = kind(2, n_slices=5).fit(X, y), kind(2, n_slices=5).fit(wide, y)
    np.testing.assert_allclose(model.eigenvalues_, narrow.eigenvalues_)
    assert "1 of 5 dimensions" in model.b_report_
    with pytest.raises(NotPositiveDefinite, match="shrinkage"):
        kind(b_policy="error").fit(wide, y)
    for options in ({"b_policy": "ridge"}, {"shrinkage": 0.1}, {"shrinkage": 1.0}):
        assert np.isfinite(kind(2, n_slices=5, **options).fit(wide, y).transform(wide)).all()


@pytest.mark.parametrize("kind", BOTH)
def test_more_columns_than_rows(kind):
    X, y = sample(30, 50)
    model = kind(2, n_slices=4).fit(X, y)
    assert "explains any response" in model.b_report_
    assert np.isfinite(model.transform(X)).all()
    assert kind(2, n_slices=4, shrinkage=0.5).fit(X, y).b_report_ == ""


X, Y = sample(40, 4)
HOLE = np.where(np.arange(160).reshape(40, 4) == 7, np.nan, X)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("match", "x", "y", "options", "weights"),
    [
        ("one value or class", X, np.ones(40), {}, None),
        ("NaN", HOLE, Y, {}, None),
        ("inconsistent numbers of samples", X, Y[:-1], {}, None),
        ("X is constant", np.full((40, 4), 0.3), Y, {}, None),
        ("X is constant", np.full((40, 4), 0.3), Y, {"b_policy": "ridge"}, None),
        ("squares overflow", X * 1e200, Y, {}, None),
        ("sample_weight is zero", X, Y, {}, np.zeros(40)),
        ("sample_weight has shape", X, Y, {}, np.ones(39)),
        ("n_components is 9", X, Y, {"n_components": 9}, None),
        ("n_slices is 1", X, Y, {"n_slices": 1}, None),
        ("n_slices is 41", X, Y, {"n_slices": 41, "ties": "split"}, None),
        ("smaller n_slices", X[:8], Y[:8], {}, None),
        ("ties is 'apart'", X, Y, {"ties": "apart"}, None),
        ("y has labels", X, Y.astype(str), {"ties": "split"}, None),
        ("one value or class", X, np.ones(40), {"ties": "split"}, None),
        ("increasing", X, Y, {"n_slices": [2.0, 1.0]}, None),
        ("y has labels", X, Y.astype(str), {"n_slices": [1.0, 2.0]}, None),
        ("shrinkage is 2", X, Y, {"shrinkage": 2.0}, None),
        ("b_policy is 'hope'", X, Y, {"b_policy": "hope"}, None),
        ("tol is -1", X, Y, {"tol": -1.0}, None),
    ],
)
def test_bad_input_is_named(kind, match, x, y, options, weights):
    with pytest.raises(ValueError, match=match):
        kind(**options).fit(x, y, sample_weight=weights)


def test_a_slice_of_one_row_has_no_variance():
    with pytest.raises(ValueError, match="smaller n_slices"):
        SlicedAverageVariance(n_slices=40).fit(X, Y)


def test_in_the_company_of_scikit_learn():
    import pandas

    table = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    pipe = make_pipeline(SlicedInverseRegression(n_slices=5), LinearRegression())
    search = GridSearchCV(pipe, {"slicedinverseregression__n_components": [1, 2]}).fit(table, Y)
    assert search.best_score_ > 0.3
    model = SlicedInverseRegression(2, n_slices=5).set_output(transform="pandas").fit(table, Y)
    assert list(model.transform(table).columns) == ["slicedinverseregression0", "slicedinverseregression1"]
    again = pickle.loads(pickle.dumps(model)).partial_fit(table, Y)
    np.testing.assert_allclose(again.eigenvalues_, model.eigenvalues_)
