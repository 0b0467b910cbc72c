"""Principal Hessian directions: statsmodels' answers, what they see, and bad data."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh, subspace_angles

from splitmerge.learn import PrincipalHessianDirections


def sample(rows, columns, seed=0):
    """A response that is curved upwards in one direction, downwards in another, and has a trend in a third."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns)) @ (np.eye(columns) + 0.2 * rng.standard_normal((columns, columns))) + 5
    Z = X - X.mean(axis=0)
    return X, 2 * Z[:, 0] ** 2 - Z[:, 1] ** 2 + Z[:, 2] + 0.5 * rng.standard_normal(rows)


@pytest.mark.parametrize("residuals", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(200, 5), (1000, 12)])
def test_agrees_with_statsmodels(rows, columns, residuals):
    from statsmodels.regression import dimred

    X, y = sample(rows, columns)
    expected = dimred.PHD(y, X.copy()).fit(resid=residuals)
    model = PrincipalHessianDirections(residuals=residuals).fit(X, y)
    # statsmodels divides the covariance by n − 1
    np.testing.assert_allclose(model.eigenvalues_, expected.eigs * rows / (rows - 1), rtol=1e-9)
    for found, theirs in zip(model.directions_, expected.params.T, strict=True):
        assert np.sin(subspace_angles(found[:, None], theirs[:, None])).max() < 1e-8
    np.testing.assert_allclose(np.cov(model.transform(X).T, bias=True), np.eye(columns), atol=1e-10)


def test_is_the_generalized_problem():
    X, y = sample(300, 6)
    weights = np.random.default_rng(0).uniform(0.5, 2, 300)
    Z, r = X - np.average(X, axis=0, weights=weights), y - np.average(y, weights=weights)
    A, T = (Z.T @ ((weights * v)[:, None] * Z) / weights.sum() for v in (r, np.ones(300)))
    values = eigh(A, T, eigvals_only=True)
    model = PrincipalHessianDirections().fit(X, y, weights)
    np.testing.assert_allclose(model.eigenvalues_, values[np.argsort(-np.abs(values))], rtol=1e-10)


def test_sees_curvature_and_its_sign_and_no_trend():
    X, y = sample(20_000, 5)
    model = PrincipalHessianDirections(2, residuals=True).fit(X, y)
    assert model.eigenvalues_[0] > 0 > model.eigenvalues_[1]
    assert np.sin(subspace_angles(model.directions_.T, np.eye(5)[:, :2])).max() < 0.1


@pytest.mark.parametrize("residuals", [False, True])
def test_weights_are_repetitions(residuals):
    X, y = sample(80, 4)
    counts = np.random.default_rng(0).integers(0, 4, 80)
    repeated = np.repeat(np.arange(80), counts)
    one = PrincipalHessianDirections(residuals=residuals).fit(X, y, counts)
    other = PrincipalHessianDirections(residuals=residuals).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(one.directions_, other.directions_, rtol=1e-7)


@pytest.mark.parametrize("residuals", [False, True])
def test_rows_of_any_kind(residuals):
    import dask.array as da

    X, y = sample(150, 5)
    X[X < 5] = 0.0
    weights = np.random.default_rng(0).integers(0, 3, 150).astype(float)
    expected = PrincipalHessianDirections(residuals=residuals).fit(X, y, weights)
    for other in (sp.csr_array(X), sp.csc_array(X), np.asfortranarray(X), da.from_array(X, chunks=(40, 3))):
        model = PrincipalHessianDirections(residuals=residuals).fit(other, y, weights)
        np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(model.directions_, expected.directions_, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(model.transform(other), expected.transform(X), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9])
def test_constant_columns(constant):
    X, y = sample(150, 4)
    table = np.column_stack([X, np.full(150, constant)])
    narrow, model = PrincipalHessianDirections(2).fit(X, y), PrincipalHessianDirections(2).fit(table, y)
    np.testing.assert_allclose(model.eigenvalues_, narrow.eigenvalues_)
    assert "1 of 5 dimensions" in model.b_report_


def test_a_linear_response_has_no_curvature():
    X = sample(100, 4)[0]
    for data in (X, X[:4]):
        y = data @ np.arange(4.0)
        model = PrincipalHessianDirections(residuals=True).fit(data, y)
        np.testing.assert_allclose(model.eigenvalues_, 0, atol=1e-10 * np.abs(y).max())
        assert np.isfinite(model.directions_).all()


X, Y = sample(40, 4)


@pytest.mark.parametrize(
    ("match", "x", "y", "options"),
    [
        ("y is constant", X, np.ones(40), {}),
        ("y has labels", X, Y.astype(str), {}),
        ("NaN", np.where(X[3, 1] == X, np.nan, X), Y, {}),
        ("NaN", X, np.where(Y[3] == Y, np.nan, Y), {}),
        ("X is constant", np.full((40, 4), 0.3), Y, {}),
        ("squares overflow", X * 1e200, Y, {}),
        ("n_components is 9", X, Y, {"n_components": 9}),
        ("shrinkage is 2", X, Y, {"shrinkage": 2.0}),
        ("b_policy is 'hope'", X, Y, {"b_policy": "hope"}),
    ],
)
def test_bad_input_is_named(match, x, y, options):
    with pytest.raises(ValueError, match=match):
        PrincipalHessianDirections(**options).fit(x, y)
