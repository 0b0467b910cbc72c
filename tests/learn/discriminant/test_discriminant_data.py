"""Linear discriminant analysis: weights, batches, singular data, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Reference
from sklearn.exceptions import NotFittedError

from splitmerge import NotPositiveDefinite
from splitmerge.learn import LinearDiscriminantAnalysis
from splitmerge.learn.moments import grouped


def sine(V, W):
    return np.sin(subspace_angles(V, W)).max()


def clouds(rows, columns, classes, seed=0, apart=0.5):
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    X = rng.standard_normal((rows, columns)) * np.linspace(0.5, 2, columns)
    return X + apart * rng.standard_normal((classes, columns))[y], y


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([None, 0.2, "auto"]), st.sampled_from([None, [0.5, 0.3, 0.2]]))
def test_weights_are_repetitions(seed, shrinkage, priors):
    X, y = clouds(30, 4, 3, seed)
    counts = np.random.default_rng(seed).integers(0, 4, 30)
    counts[:6] = 1
    repeated = np.repeat(np.arange(30), counts)
    model = LinearDiscriminantAnalysis(shrinkage=shrinkage, priors=priors)
    one, other = clone(model).fit(X, y, counts), clone(model).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-8, atol=1e-10)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10**6),
    st.lists(st.integers(2, 59), max_size=4),
    st.sampled_from([None, 0.2]),
    st.sampled_from([None, [0.5, 0.3, 0.2]]),
)
def test_batches_are_a_fit(seed, cuts, shrinkage, priors):
    X, y = clouds(60, 4, 3, seed)
    order = np.random.default_rng(seed).permutation(60)
    weights = np.random.default_rng(seed).uniform(0.5, 2, 60)
    model = LinearDiscriminantAnalysis(shrinkage=shrinkage, priors=priors)
    whole, parts = clone(model).fit(X, y, weights), clone(model)
    for rows in np.split(order, sorted(set(cuts))):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=weights[rows])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(parts.eigenvalues_, whole.eigenvalues_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(parts.scalings_, whole.scalings_, rtol=1e-5, atol=1e-6)


def test_rows_may_come_one_by_one():
    X, y = load_iris(return_X_y=True)
    model, whole = LinearDiscriminantAnalysis(), LinearDiscriminantAnalysis().fit(X[::5], y[::5])
    for row in range(0, 150, 5):
        model.partial_fit(X[row : row + 1], y[row : row + 1], classes=[0, 1, 2])
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-8)


def test_classes_with_one_mean_have_no_direction():
    X, _ = clouds(40, 600, 2)
    twice, y = np.vstack([X, X]), np.repeat([0, 1], 40)
    for options in ({}, {"shrinkage": 0.1}, {"shrinkage": 0.1, "between": "means"}):
        model = LinearDiscriminantAnalysis(**options).fit(twice, y)
        np.testing.assert_allclose(model.predict_proba(twice), 0.5, atol=1e-6)
        assert np.isfinite(model.explained_variance_ratio_).all()


def test_a_batch_after_fit_goes_on():
    X, y = load_iris(return_X_y=True)
    whole = LinearDiscriminantAnalysis(shrinkage=0.1).fit(X, y)
    parts = LinearDiscriminantAnalysis(shrinkage=0.1).fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9)


def test_batches_that_cannot_be():
    X, y = load_iris(return_X_y=True)
    model = LinearDiscriminantAnalysis()
    with pytest.raises(ValueError, match="classes is None"):
        model.partial_fit(X, y)
    model.partial_fit(X[:60], y[:60], classes=[0, 1, 2])
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="first call"):
        model.partial_fit(X, y, classes=[0, 1])
    model.partial_fit(X[60:], y[60:])
    np.testing.assert_allclose(model.coef_, LinearDiscriminantAnalysis().fit(X, y).coef_, rtol=1e-8)
    with pytest.raises(ValueError, match="all rows at once"):
        LinearDiscriminantAnalysis(shrinkage="auto").partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="did not keep its moments"):
        LinearDiscriminantAnalysis("eigen", priors=[0.2, 0.3, 0.5]).fit(X, y).partial_fit(X, y)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_affine_maps_change_nothing(seed):
    X, y = clouds(50, 4, 3, seed)
    rng = np.random.default_rng(seed)
    map_, shift = np.eye(4) + 0.3 * rng.standard_normal((4, 4)), 10 * rng.standard_normal(4)
    if np.linalg.cond(map_) > 100:
        return
    one, other = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis().fit(X @ map_ + shift, y)
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X @ map_ + shift), atol=1e-8)


def test_more_columns_than_rows():
    X, y = clouds(20, 50, 3, apart=2.0)
    model, reference = LinearDiscriminantAnalysis().fit(X, y), Reference().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-8)
    assert sine(model.scalings_, reference.scalings_) < 1e-8
    sparse = LinearDiscriminantAnalysis().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, model.coef_, atol=1e-10)
    with pytest.raises(NotPositiveDefinite, match="shrinkage"):
        LinearDiscriminantAnalysis(b_policy="error").fit(X, y)
    assert LinearDiscriminantAnalysis(b_policy="ridge").fit(X, y).score(X, y) == 1.0
    with pytest.raises(NotPositiveDefinite, match="tol=0 is too small"):
        LinearDiscriminantAnalysis(b_policy="ridge", tol=0.0).fit(X, y)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9])
def test_constant_columns(constant):
    X, y = load_iris(return_X_y=True)
    wide = np.column_stack([X, np.full(150, constant)])
    narrow, model = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis().fit(wide, y)
    np.testing.assert_allclose(model.predict_proba(wide), narrow.predict_proba(X), atol=1e-9)
    with pytest.raises(NotPositiveDefinite, match="shrinkage"):
        LinearDiscriminantAnalysis(b_policy="error").fit(wide, y)
    for options in ({"b_policy": "ridge"}, {"shrinkage": 0.1}, {"shrinkage": "auto"}):
        model = LinearDiscriminantAnalysis(**options).fit(wide, y)
        assert np.isfinite(model.predict_proba(wide)).all()
        assert np.isfinite(model.transform(wide)).all()


def test_the_route_is_described():
    X, y = clouds(20, 50, 3)
    assert "33 of 50 dimensions were dropped" in LinearDiscriminantAnalysis().fit(X, y).route_
    assert "was added" in LinearDiscriminantAnalysis(b_policy="ridge").fit(X, y).route_
    X, y = load_iris(return_X_y=True)
    assert "without iteration" in LinearDiscriminantAnalysis().fit(X, y).route_
    constant = np.column_stack([X, np.ones(150)])
    assert "1 of 5 dimensions were dropped" in LinearDiscriminantAnalysis().fit(constant, y).route_
    assert "batches" in LinearDiscriminantAnalysis().partial_fit(X, y, classes=[0, 1, 2]).route_


def test_a_copied_column_changes_nothing():
    X, y = load_iris(return_X_y=True)
    wide = np.column_stack([X, X[:, 0]])
    narrow, model = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis().fit(wide, y)
    np.testing.assert_allclose(model.predict_proba(wide), narrow.predict_proba(X), atol=1e-9)


X, Y = load_iris(return_X_y=True)
HOLE = np.where(np.arange(600).reshape(150, 4) == 7, np.nan, X)


@pytest.mark.parametrize(
    ("match", "x", "y", "options", "weights"),
    [
        ("one class", X, np.zeros(150, int), {}, None),
        ("one sample per class", X[::50], Y[::50], {}, None),
        ("NaN", HOLE, Y, {}, None),
        ("inconsistent numbers of samples", X, Y[:-1], {}, None),
        ("constant within", np.repeat(X[::50], 5, axis=0), np.repeat([0, 1, 2], 5), {}, None),
        (
            "constant within every class",
            np.repeat(X[::50], 5, axis=0),
            np.repeat([0, 1, 2], 5),
            {"shrinkage": 0.1},
            None,
        ),
        (
            "constant within every class",
            np.repeat(X[::50], 5, axis=0),
            np.repeat([0, 1, 2], 5),
            {"shrinkage": "auto"},
            None,
        ),
        ("squares overflow", X * 1e200, Y, {}, None),
        ("sample_weight is zero", X, Y, {}, np.zeros(150)),
        ("Negative values in data passed to sample_weight", X, Y, {}, np.full(150, -1.0)),
        ("sample_weight has shape", X, Y, {}, np.ones(149)),
        ("Unknown label type", X, Y + 0.5 * X[:, 0], {}, None),
        ("n_components is 3", X, Y, {"n_components": 3}, None),
        ("shrinkage is 2", X, Y, {"shrinkage": 2.0}, None),
        ("shrinkage is 'much'", X, Y, {"shrinkage": "much"}, None),
        ("give 3 positive numbers", X, Y, {"priors": [0.5, 0.5]}, None),
        ("give 3 positive numbers", X, Y, {"priors": [0.5, 0.7, -0.2]}, None),
        ("b_policy is 'hope'", X, Y, {"b_policy": "hope"}, None),
        ("between is 'lines'", X, Y, {"between": "lines"}, None),
        ("tol is -1", X, Y, {"tol": -1.0}, None),
    ],
)
def test_bad_input_is_named(match, x, y, options, weights):
    with pytest.raises(ValueError, match=match):
        LinearDiscriminantAnalysis(**options).fit(x, y, sample_weight=weights)


def test_a_first_call_that_is_refused_leaves_nothing_behind():
    X, y = np.random.default_rng(0).standard_normal((12, 3)), np.repeat([0, 1, 2], 4)
    model = LinearDiscriminantAnalysis()
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X, y, classes=[0, 1])
    assert model.partial_fit(X, y, classes=[0, 1, 2]).classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_data_that_are_not_finite_are_refused(value, kind, weighted, solver, monkeypatch):
    """Also in rows without weight, and where both infinities, in two blocks, add up to NaN."""
    monkeypatch.setattr(grouped, "BLOCK_ENTRIES", 32)
    X, y = clouds(30, 4, 3)
    X[6, 2], X[9, 2] = value, -value
    weights = np.r_[np.ones(6), np.zeros(4), np.ones(20)] if weighted else None
    told = "Input X contains NaN" if np.isnan(value) else "Input X contains infinity"
    # scikit-learn's own check adds infinities of both signs, too
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=told):
        LinearDiscriminantAnalysis(solver).fit(kind(X), y, weights)


@pytest.mark.parametrize("kinds", [("f4", "f4"), ("f4", "f8"), ("f8", "f4"), ("f8", "f4", "f4")], ids=str)
def test_batches_in_both_precisions(kinds):
    """The model is in single precision only if all of its rows were."""
    X, y = clouds(60, 4, 3)
    model = LinearDiscriminantAnalysis()
    for kind, rows in zip(kinds, np.array_split(np.arange(60), len(kinds)), strict=True):
        model.partial_fit(X[rows].astype(kind), y[rows], classes=[0, 1, 2])
    expected = max(map(np.dtype, kinds))
    for name in ("coef_", "intercept_", "means_", "scalings_", "eigenvalues_"):
        assert getattr(model, name).dtype == expected, name
