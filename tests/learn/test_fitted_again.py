"""A model that was fitted before is as good as new: nothing of other data, options or batches stays behind."""

import contextlib
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.covariance import LedoitWolf

from splitmerge.learn import (
    CCA,
    CSP,
    MCCA,
    LinearDiscriminantAnalysis,
    PrincipalHessianDirections,
    SlicedAverageVariance,
    SlicedInverseRegression,
    SPoC,
)

RNG = np.random.default_rng(11)


def rows(count, columns, classes=3, offset=0.0):
    """Data with a linear and a curved response, and labels."""
    labels = np.arange(count) % classes
    X = RNG.standard_normal((count, columns)) @ RNG.standard_normal((columns, columns)) + offset
    X[:, 0] += labels
    return X, labels, X[:, 0] + 0.5 * X[:, 1] ** 2


FIRST, SECOND, THIRD = rows(90, 5, 4, 7.0), rows(60, 4), rows(30, 4)
SECONDS = re.compile(r"[\d.e-]+ s\b")
NAMES = [f"column {i}" for i in range(5)]


def labelled(data):
    return data[0], data[1]


def responding(data):
    return data[0], data[2]


def views(data):
    return data[0], data[0][:, 1:3] + RNG.standard_normal((len(data[0]), 2))


def listed(data):
    return ([data[0][:, :2], data[0][:, 2:]],)


def trials(data):
    return data[0][: len(data[0]) // 2 * 2].reshape(-1, 1, data[0].shape[1]).transpose(0, 2, 1), data[1]


def targets(data):
    return trials(data)[0], data[2]


L = LinearDiscriminantAnalysis
# the estimator, its data, the options of the first fit and those of the second
CASES = {
    "discriminant": (L, labelled, {}, {}),
    "its covariance": (L, labelled, {"store_covariance": True, "shrinkage": 0.1}, {}),
    "its directions": (L, labelled, {"solver": "eigen"}, {"solver": "lsqr"}),
    "its components": (L, labelled, {"n_components": 1}, {"solver": "eigen", "shrinkage": "auto"}),
    "its priors": (L, labelled, {"priors": [0.1, 0.2, 0.3, 0.4], "shrinkage": 0.3}, {"tol": 1e-3}),
    "its estimator": (L, labelled, {}, {"covariance_estimator": LedoitWolf()}),
    "after its estimator": (L, labelled, {"covariance_estimator": LedoitWolf()}, {}),
    "regression": (SlicedInverseRegression, responding, {"shrinkage": 0.2}, {"n_components": 2}),
    "slices of labels": (SlicedInverseRegression, labelled, {}, {"b_policy": "error"}),
    "variance": (SlicedAverageVariance, responding, {"n_slices": 4}, {"n_slices": 3}),
    "corrected variance": (
        SlicedAverageVariance,
        responding,
        {"n_slices": 4},
        {"bias_correction": True, "n_slices": 3},
    ),
    "Hessian": (PrincipalHessianDirections, responding, {"residuals": True}, {"n_components": 1}),
    "correlation": (CCA, views, {"ridge": 0.1}, {"n_components": 1}),
    "correlation by products": (CCA, views, {}, {"solver": "operators", "random_state": 0}),
    "correlation after products": (CCA, views, {"solver": "operators", "random_state": 0}, {"scale": False}),
    "correlation of a list": (CCA, listed, {}, {}),
    "views": (MCCA, listed, {"ridge": 0.1}, {"scale": False, "center": False}),
    "patterns": (CSP, trials, {"n_components": 2}, {"norm_trace": True}),
    "comodulation": (SPoC, targets, {"log": False}, {"rank": "full"}),
}
each_case = pytest.mark.parametrize("name", CASES)


def same(one, other, name=""):
    """Equal attributes, public and private, whatever they are made of."""
    assert type(one) is type(other), name
    if isinstance(one, (list, tuple)):
        assert len(one) == len(other), name
        for i, pair in enumerate(zip(one, other, strict=True)):
            same(*pair, f"{name}[{i}]")
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, name
        if one.dtype.kind in "fc":
            # of numbers that are the same sums, up to the order in which BLAS adds
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * np.abs(other).max(initial=1.0), err_msg=name)
        else:
            np.testing.assert_array_equal(one, other, err_msg=name)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9), name
    elif isinstance(one, (int, str, bool, type(None))):
        assert one == other, name


def as_new(model, new):
    found, expected = vars(model), vars(new)
    assert found.keys() == expected.keys()
    for name in found:
        if name == "route_":
            # without what an iteration took
            assert SECONDS.sub("", found[name]) == SECONDS.sub("", expected[name])
        else:
            same(found[name], expected[name], name)


@each_case
def test_to_other_data(name):
    kind, data, first, second = CASES[name]
    second_data = data(SECOND)
    model = kind(**first).fit(*data(FIRST))
    model.set_params(**(kind().get_params() | second)).fit(*second_data)
    as_new(model, kind(**second).fit(*second_data))


def framed(part):
    if isinstance(part, list):
        return list(map(framed, part))
    return pd.DataFrame(part, columns=NAMES[: part.shape[1]]) if part.ndim == 2 else part


@each_case
def test_to_a_frame_before(name):
    """Names of columns are those of the last data."""
    kind, data, first, second = CASES[name]
    if kind in (CSP, SPoC):
        pytest.skip("trials have no frames")
    model = kind(**first).fit(*map(framed, data(FIRST)))
    second_data = data(SECOND)
    model.set_params(**(kind().get_params() | second)).fit(*second_data)
    as_new(model, kind(**second).fit(*second_data))


@each_case
def test_batches_after_a_fit_after_batches(name):
    """They go on from the fit, or are refused where it kept no sums; the batches before it are forgotten."""
    kind, data, first, second = CASES[name]
    if not hasattr(kind, "partial_fit"):
        pytest.skip("it has no batches")
    if {"bias_correction", "covariance_estimator"} & first.keys():
        first = {}
    before, whole, after = data(FIRST), data(SECOND), data(THIRD)
    classes = {"classes": np.arange(4)} if kind is L else {}
    models = [kind(**first).partial_fit(*before, **classes), kind(**second)]
    refusals = []
    for model in models:
        model.set_params(**(kind().get_params() | second)).fit(*whole)
        refusals.append(None)
        try:
            model.partial_fit(*after)
        except ValueError as error:
            refusals[-1] = str(error)
    assert refusals[0] == refusals[1]
    if kind in (CCA, MCCA):
        for model in models:
            with contextlib.suppress(AttributeError):
                _ = model.correlations_
    as_new(*models)


@each_case
def test_what_is_refused_leaves_the_model_as_it_was(name):
    """A call with other columns, or with NaN in a batch."""
    kind, data, _, second = CASES[name]
    given = data(SECOND)
    model, same_model = kind(**second).fit(*given), kind(**second).fit(*given)
    if hasattr(kind, "partial_fit"):
        for wrong in (data(FIRST), [with_nan(part) if i == 0 else part for i, part in enumerate(data(THIRD))]):
            with pytest.raises(ValueError, match=" "):
                model.partial_fit(*wrong)
    if second.get("solver") != "lsqr":
        with pytest.raises(ValueError, match=" "):
            model.transform(data(FIRST)[0])
        for one, other in zip(model.transform(given[0]), same_model.transform(given[0]), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def with_nan(part):
    if isinstance(part, list):
        return [with_nan(part[0]), *part[1:]]
    part = np.array(part, float)
    part[3, 1] = np.nan
    return part


BATCHED = (
    "discriminant",
    "regression",
    "variance",
    "slices of labels",
    "correlation",
    "correlation of a list",
    "views",
)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", BATCHED)
def test_a_fit_batches_and_looks_between_them(name, weighted):
    """A fit that goes on in batches, batches alone, and all rows at once; looking at a result changes no later one."""
    kind, data, _, second = CASES[name]
    parts = [data(rows(40, 4)), data(SECOND), data(THIRD)]
    weights = [RNG.integers(1, 5, size).astype(float) if weighted else None for size in (40, 60, 30)]
    # slices that do not depend on what comes first
    options = second | ({"n_slices": np.array([0.5, 2.0])} if "n_slices" in kind().get_params() else {})
    joined = [
        [np.concatenate(each) for each in zip(*those, strict=True)]
        if isinstance(those[0], list)
        else np.concatenate(those)
        for those in zip(*parts, strict=True)
    ]
    whole = kind(**options).fit(*joined, sample_weight=np.concatenate(weights) if weighted else None)
    for begin in ("fit", "partial_fit"):
        model, looked = kind(**options), []
        for i, (part, w) in enumerate(zip(parts, weights, strict=True)):
            first = {"classes": np.arange(3)} if kind is L and i == 0 and begin == "partial_fit" else {}
            getattr(model, "partial_fit" if i else begin)(*part, sample_weight=w, **first)
            looked.append(np.array(result(model)))
        assert not np.allclose(looked[0], looked[1])
        np.testing.assert_allclose(looked[-1], result(whole), rtol=1e-7, atol=1e-9)


def result(model):
    return next(getattr(model, name) for name in ("correlations_", "eigenvalues_") if hasattr(model, name))


def test_fewer_directions_than_were_asked_for():
    """Three classes whose means are on a line have one direction, and all figures are of that one."""
    X, y, _ = rows(90, 4)
    X = RNG.standard_normal((90, 4))
    for k in range(3):
        X[y == k] += k * np.array([1.0, 2.0, 0.0, 0.0]) - X[y == k].mean(axis=0)
    for n_components in (None, 1, 2):
        model = L(n_components=n_components).fit(X, y)
        assert model.eigenvalues_.shape == model.explained_variance_ratio_.shape == (1,)
        assert model.transform(X).shape == (90, 1)
        assert list(model.get_feature_names_out()) == ["lineardiscriminantanalysis0"]
        np.testing.assert_allclose(model.explained_variance_ratio_, 1)


class TestNoShrinkage:
    """Zero is none."""

    @pytest.mark.parametrize("zero", [0, 0.0])
    @pytest.mark.parametrize("solver", ["auto", "eigen", "lsqr"])
    @pytest.mark.parametrize("options", [{}, {"priors": [0.2, 0.3, 0.5]}, {"store_covariance": True}], ids=str)
    @pytest.mark.parametrize("column", [None, 7.3])
    def test_of_a_discriminant(self, solver, options, zero, column):
        X, y, _ = SECOND
        X = X if column is None else np.insert(X, 1, column, axis=1)
        found, expected = (L(solver=solver, shrinkage=s, **options).fit(X, y) for s in (zero, None))
        as_new(found.set_params(shrinkage=None), expected)

    @pytest.mark.parametrize("kind", [SlicedInverseRegression, SlicedAverageVariance, PrincipalHessianDirections])
    @pytest.mark.parametrize("column", [None, 7.3])
    def test_of_directions(self, kind, column):
        X, _, y = SECOND
        X = X if column is None else np.insert(X, 1, column, axis=1)
        found, expected = (kind(shrinkage=s).fit(X, y) for s in (0.0, None))
        as_new(found.set_params(shrinkage=None), expected)
