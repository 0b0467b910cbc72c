"""Formulas of the columns of a DataFrame, by formulaic and by patsy."""

import importlib
import pickle

import numpy as np
import pandas
import pytest

from splitmerge.learn import PrincipalHessianDirections, SlicedAverageVariance, SlicedInverseRegression
from splitmerge.learn.sliced import formula as module

RNG = np.random.default_rng(0)
TABLE = pandas.DataFrame(RNG.uniform(1, 3, (200, 3)), columns=["a", "b", "c"], index=RNG.integers(0, 50, 200))
TABLE["y"] = np.exp(TABLE.a - np.log(TABLE.b)) + 0.1 * RNG.standard_normal(200)
TABLE["label"] = np.where(TABLE.y > 4, "high", "low")
ALL = [SlicedInverseRegression, SlicedAverageVariance, PrincipalHessianDirections]


@pytest.fixture(params=["formulaic", "patsy"])
def reader(request, monkeypatch):
    pytest.importorskip(request.param)
    monkeypatch.setattr(module, "_reader", lambda: (request.param, importlib.import_module(request.param)))
    return request.param


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("right", ["a + np.log(b) + c", "0 + a + np.log(b) + c"])
def test_is_a_fit_to_the_columns(kind, right, reader):
    X = np.column_stack([TABLE.a, np.log(TABLE.b), TABLE.c])
    expected = kind(2).fit(X, TABLE.y)
    model = kind.from_formula(f"y ~ {right}", TABLE, n_components=2)
    np.testing.assert_allclose(model.directions_, expected.directions_, rtol=1e-10)
    assert list(model.feature_names_in_) == ["a", "np.log(b)", "c"]
    np.testing.assert_allclose(model.transform(TABLE.drop(columns="y")), expected.transform(X), atol=1e-10)
    named = model.set_output(transform="pandas").transform(TABLE[:5])
    assert list(named.index) == list(TABLE.index[:5])


def test_missing_values_are_dropped(reader):
    holes = TABLE.reset_index(drop=True)
    holes.loc[3, "a"] = holes.loc[8, "y"] = np.nan
    model = SlicedInverseRegression.from_formula("y ~ a + b", holes)
    kept = holes.drop(index=[3, 8])
    np.testing.assert_array_equal(
        model.directions_, SlicedInverseRegression().fit(kept[["a", "b"]], kept.y).directions_
    )
    with pytest.raises(Exception, match=r"(?i)missing|null|nan"):
        model.transform(holes)


def test_categories_and_labels(reader):
    model = SlicedInverseRegression.from_formula("y ~ a + label", TABLE)
    assert model.directions_.shape == (2, 2)
    table = TABLE.copy()
    table.iloc[7, table.columns.get_loc("label")] = None
    by_label = SlicedInverseRegression.from_formula("label ~ a + b", table)
    assert list(by_label.slices_) == ["high", "low"]
    kept = table[table.label.notna()]
    expected = SlicedInverseRegression().fit(kept[["a", "b"]], kept.label)
    np.testing.assert_array_equal(by_label.directions_, expected.directions_)


def test_a_later_fit_forgets_the_formula():
    model = SlicedInverseRegression.from_formula("y ~ a + np.log(b)", TABLE).fit(TABLE[["a", "b"]], TABLE.y)
    assert model.transform(TABLE[["a", "b"]]).shape == (200, 2)


def test_a_model_with_a_formula_can_be_stored():
    pytest.importorskip("formulaic", reason="what patsy returns cannot be pickled")
    model = SlicedInverseRegression.from_formula("y ~ a + np.log(b)", TABLE)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(TABLE), model.transform(TABLE))


@pytest.mark.parametrize(
    ("match", "formula", "data"),
    [
        ("formula is 'a . b'", "a + b", TABLE),
        ("formula is None", None, TABLE),
        ("without a response", "~ a + b", TABLE),
        ("without columns of X", "y ~ 1", TABLE),
        ("left side 'y . a' has 2 columns", "y + a ~ b", TABLE),
        ("data is of type ndarray; give a pandas DataFrame", "y ~ a", TABLE.to_numpy()),
    ],
)
def test_bad_formulas_are_named(match, formula, data):
    with pytest.raises(ValueError, match=match):
        SlicedInverseRegression.from_formula(formula, data)


def test_a_missing_package_is_named(monkeypatch):
    whole = importlib.import_module

    def without(name, *rest):
        if name in ("formulaic", "patsy"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return whole(name, *rest)

    monkeypatch.setattr(module, "import_module", without)
    with pytest.raises(ImportError, match="needs formulaic, which is not installed; pip install formulaic, or patsy"):
        SlicedInverseRegression.from_formula("y ~ a", TABLE)
