"""Data that no estimator can use, refused by all of them in words that name the argument."""

import warnings

import numpy as np
import pandas
import pytest

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

ROWS = 40
RNG = np.random.default_rng(0)
X, TRIALS = RNG.standard_normal((ROWS, 5)), RNG.standard_normal((ROWS, 4, 30))
Y = X[:, :3] + RNG.standard_normal((ROWS, 3))
LABELS, RESPONSE = np.arange(ROWS) % 2, X[:, 0] + X[:, 1] ** 2

CASES = {
    "LDA": (LinearDiscriminantAnalysis, X, LABELS),
    "SIR": (SlicedInverseRegression, X, RESPONSE),
    "SAVE": (SlicedAverageVariance, X, RESPONSE),
    "PHD": (PrincipalHessianDirections, X, RESPONSE),
    "CCA": (CCA, X, Y),
    "MCCA": (MCCA, [X, Y], None),
    "CSP": (CSP, TRIALS, LABELS),
    "SPoC": (SPoC, TRIALS, RESPONSE),
}
each = pytest.mark.parametrize("name", CASES)
LABELLED = ["LDA", "SIR", "SAVE", "CSP"]


def refused(name, weights=None, y=None):
    """The message of the error, which no warning precedes."""
    kind, data, target = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError) as error:  # noqa: PT011
            kind().fit(data, target if y is None else y, sample_weight=weights)
    return str(error.value)


@each
@pytest.mark.parametrize(
    ("weights", "told"),
    [
        (np.full(ROWS, 1j), "sample_weight has entries of the type complex128"),
        (["a"] * ROWS, "sample_weight has entries of the type <U1"),
        (np.array(["a"] * ROWS, object), "sample_weight has entries of the type object"),
        (np.full(ROWS, 1e308), "overflow or underflow; rescale it"),
        (np.full(ROWS, 1e-320), "overflow or underflow; rescale it"),
        (-np.ones(ROWS), "Negative values in data passed to sample_weight"),
        (np.r_[np.nan, np.ones(ROWS - 1)], "sample_weight contains NaN or infinity"),
        (np.ones(ROWS - 1), "one weight per row"),
        (np.zeros(ROWS), "sample_weight is zero for all rows"),
    ],
    ids=["complex", "words", "objects", "huge", "tiny", "negative", "NaN", "short", "zero"],
)
def test_weights(name, weights, told):
    assert told in refused(name, weights)


@pytest.mark.parametrize("name", LABELLED)
@pytest.mark.parametrize("other", [None, 1], ids=["None", "number"])
def test_labels_without_an_order(name, other):
    assert "which have no order" in refused(name, y=np.array(["a", other] * (ROWS // 2), object))


@pytest.mark.parametrize("name", [*LABELLED, "PHD", "SPoC"])
@pytest.mark.parametrize("dtype", ["string", "category", "Int64"])
def test_missing_values_of_pandas(name, dtype):
    values = [1, None] if dtype == "Int64" else ["a", None]
    assert "Input y contains NaN" in refused(name, y=pandas.Series(values * (ROWS // 2), dtype=dtype))


@pytest.mark.parametrize("name", ["LDA", "SIR", "CSP"])
@pytest.mark.parametrize("kind", [pandas.Categorical, lambda y: pandas.Series(y, dtype="category"), list])
def test_categories_are_labels(name, kind):
    estimator, data, _ = CASES[name]
    words = np.where(LABELS > 0, "yes", "no")
    found, expected = estimator().fit(data, kind(words)), estimator().fit(data, LABELS)
    np.testing.assert_array_equal(found.transform(data), expected.transform(data))


def test_targets_that_are_no_numbers():
    dates = pandas.Series(pandas.date_range("2020", periods=ROWS))
    assert "give numbers, or use CSP" in refused("SPoC", y=dates)
    assert "squares overflow; rescale y" in refused("SPoC", y=RESPONSE * 1e300)
    assert "one value or class only" in _message(
        lambda: SlicedInverseRegression(ties="split").fit(X, RESPONSE, np.eye(ROWS)[0])
    )


def _message(call):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        call()
    return str(error.value)


@pytest.mark.parametrize("name", ["CSP", "SPoC"])
def test_features_that_overflow(name):
    estimator, data, y = CASES[name]
    assert "squares overflow; rescale X" in _message(lambda: estimator().fit(data, y).transform(data * 1e200))


@pytest.mark.parametrize("name", ["CCA", "MCCA"])
@pytest.mark.parametrize("flag", ["scale", "center", "warm_start"])
def test_flags(name, flag):
    estimator, data, y = CASES[name]
    for fit in ("fit", "partial_fit"):
        assert f"{flag} is 'no'; give True or False" in _message(
            lambda fit=fit: getattr(estimator(**{flag: "no"}), fit)(data, y)
        )
