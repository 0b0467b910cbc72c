"""The routes that do not form the covariance give the results of the one that does, in less memory."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from splitmerge import NotPositiveDefinite
from splitmerge.learn import PrincipalHessianDirections, SlicedAverageVariance, SlicedInverseRegression
from splitmerge.learn.covariance import choice, implicit
from splitmerge.learn.moments import grouped
from splitmerge.learn.sliced import hessian, inverse, variance
from splitmerge.learn.sliced.route import Size, choose

ALL = [SlicedInverseRegression, SlicedAverageVariance, PrincipalHessianDirections]


def wide(rows=40, columns=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns)) * np.linspace(0.5, 2, columns) + 3
    return X, X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.standard_normal(rows)


def sparse(rows, columns, density, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((rows, columns), density=density, rng=rng, format="csr")
    return X, np.asarray(X[:, :20].sum(axis=1)).ravel() + 0.05 * rng.standard_normal(rows)


@pytest.fixture
def taking(monkeypatch):
    """Takes one route, whatever it costs."""

    def take(*names):
        for module in (inverse, variance, hessian):
            monkeypatch.setattr(module, "choose", lambda *_, **__: [choice.Route(name, name) for name in names])

    return take


def same(found, expected, k, tol=1e-8):
    np.testing.assert_allclose(found.eigenvalues_[:k], expected.eigenvalues_[:k], rtol=tol)
    np.testing.assert_allclose(found.mean_, expected.mean_, rtol=1e-12)
    scale = np.abs(expected.directions_[:k]).max()
    np.testing.assert_allclose(found.directions_[:k], expected.directions_[:k], atol=100 * tol * scale)


OPTIONS = [{}, {"shrinkage": 0.3}, {"shrinkage": 1.0}, {"b_policy": "ridge", "tol": 0.1}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ALL)
def test_fewer_rows_than_columns(kind, weighted, options, taking):
    X, y = wide()
    X[:, 7] = 4.0
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    if kind is not PrincipalHessianDirections:
        options = {**options, "n_slices": 4}
    # the matrix of SAVE is the identity beyond the rows, whose directions must not be among those compared
    k = 1 if kind is SlicedAverageVariance else 3
    found = kind(k, **options).fit(X, y, weights)
    assert "Gram matrix of the rows" in found.route_
    taking("columns")
    expected = kind(k, **options).fit(X, y, weights)
    if kind is SlicedAverageVariance and options == {"n_slices": 4}:
        # without a shrinkage the eigenvalues are multiple: all directions of a slice have the same
        np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-8)
    else:
        same(found, expected, k)
        same(kind(k, **options).fit(sp.csr_array(X), y, weights), found, k)
    assert ("dropped" in found.b_report_) == ("dropped" in expected.b_report_)
    assert ("explains any response" in found.b_report_) == (not options.get("shrinkage"))


@pytest.mark.parametrize("kind", ALL)
def test_wide_data_never_form_the_covariance(kind):
    X, y = wide(60, 4000)
    tracemalloc.start()
    model = kind(2, shrinkage=0.1).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 4000**2 / 8
    np.testing.assert_allclose(model.transform(X).mean(axis=0), 0, atol=1e-10)


@pytest.mark.parametrize("kind", ALL)
def test_a_singular_covariance_is_refused_if_that_is_asked_for(kind):
    X, y = wide()
    with pytest.raises(NotPositiveDefinite, match="give a shrinkage, or another b_policy"):
        kind(b_policy="error").fit(X, y)
    with pytest.raises(NotPositiveDefinite, match="tol=1e-09 is too small"):
        kind(b_policy="ridge", tol=1e-9).fit(X, y)
    with pytest.raises(ValueError, match="X is constant"):
        kind().fit(np.ones_like(X), y)


@pytest.mark.parametrize("options", OPTIONS[:3], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("stored", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
def test_products(stored, weighted, options, taking):
    X, y = sparse(300, 40, 0.2)
    X = X.toarray()
    X[:, 7] = 0.1
    weights = np.random.default_rng(1).integers(0, 4, 300).astype(float) if weighted else None
    expected = SlicedInverseRegression(3, **options).fit(X, y, weights)
    taking("products")
    found = SlicedInverseRegression(3, **options).fit(stored(X), y, weights)
    same(found, expected, 3)
    assert found.b_report_ == expected.b_report_
    with pytest.raises(ValueError, match="begin with partial_fit on a clone"):
        found.partial_fit(X, y)


def test_sparse_data_never_form_the_covariance():
    X, y = sparse(8000, 3000, 2e-3)
    tracemalloc.start()
    model = SlicedInverseRegression(1).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "conjugate gradients" in model.route_
    assert peak < 8 * 3000**2 / 4
    assert set(np.abs(model.directions_[0]).argsort()[-20:]) == set(range(20))
    # T-orthonormal, and the slices explain the share of the variance that the eigenvalue says
    scores = model.transform(X)[:, 0]
    slices = np.searchsorted(model.slices_, y, side="right")
    means = np.array([scores[slices == s].mean() for s in range(10)])
    np.testing.assert_allclose(scores.var(), 1.0, rtol=1e-9)
    np.testing.assert_allclose(np.bincount(slices) @ means**2 / 8000, model.eigenvalues_[0], rtol=1e-9)


def test_if_conjugate_gradients_fail_the_covariance_is_formed(taking, monkeypatch):
    X, y = sparse(300, 40, 0.2)
    expected = SlicedInverseRegression(2).fit(X.toarray(), y)
    monkeypatch.setattr(implicit, "MAX_CG_STEPS", 2)
    taking("products", "columns")
    model = SlicedInverseRegression(2).fit(X, y)
    assert model.route_ == "columns"
    same(model, expected, 2)
    taking("products")
    with pytest.raises(NotPositiveDefinite, match=r"residual of .* after 2 steps; give a larger shrinkage"):
        SlicedInverseRegression(2).fit(X, y)


def test_fewer_sparse_rows_than_columns_by_products(taking):
    """The covariance is singular, and the means of the slices are in its range."""
    X, y = sparse(60, 300, 0.05)
    by_rows = SlicedInverseRegression(3, n_slices=4).fit(X, y)
    taking("products")
    model = SlicedInverseRegression(3, n_slices=4).fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, 1.0, rtol=1e-8)
    np.testing.assert_allclose(model.transform(X), by_rows.transform(X), atol=1e-6)
    assert "explains any response" in model.b_report_


@pytest.mark.parametrize("route", ["columns", "rows", "products"])
def test_bad_data_are_named_on_every_route(route, taking):
    X, y = wide(40, 40)
    taking(route)
    for data in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match="squares overflow"):
            SlicedInverseRegression().fit(data * 1e200, y)
        with pytest.raises(ValueError, match="X is constant"):
            SlicedInverseRegression().fit(data * 0.0 + (0 if sp.issparse(data) else 0.3), y)
        with pytest.raises(ValueError, match="NaN"):
            SlicedInverseRegression().fit(data * np.nan, y)
        with pytest.raises(ValueError, match="one value or class"):
            SlicedInverseRegression().fit(data, np.ones(40))


def test_choice(monkeypatch):
    names = [route.name for route in choose(Size(10**6, 20_000, 10**10, 10, dask=True), iterative=True)]
    assert names[0] == "products"
    few = choose(Size(10**6, 500, 10**9, 10, dask=True), iterative=True)
    assert [route.name for route in few] == ["columns"]
    monkeypatch.setattr(choice, "free_memory", lambda: 2.0**20)
    only = choose(Size(10**6, 5000, 10**9, 10), iterative=True)
    assert [route.name for route in only] == ["products"]
    with pytest.raises(ValueError, match=r"0\.19 GiB does not fit into the memory; select columns"):
        choose(Size(10**6, 5000, 10**9, 10), iterative=False)


def test_slices_that_do_not_fit_are_summed_one_after_another(monkeypatch):
    X, y = wide(400, 5)
    weights = np.random.default_rng(0).uniform(0.5, 2, 400)
    expected = SlicedAverageVariance(2).fit(X, y, weights)
    monkeypatch.setattr(choice, "free_memory", lambda: 1000.0)
    monkeypatch.setattr(grouped, "BLOCK_ENTRIES", 64)
    same(SlicedAverageVariance(2).fit(sp.csr_array(X), y, weights), expected, 2, 1e-10)


LARGE = """
import resource
import numpy as np, scipy.sparse as sp
from splitmerge.learn import SlicedInverseRegression
rng = np.random.default_rng(0)
X = sp.random_array((50_000, 20_000), density=1e-3, rng=rng, format="csr")
y = np.asarray(X[:, :50].sum(axis=1)).ravel() + 0.1 * rng.standard_normal(50_000)
model = SlicedInverseRegression(2).fit(X, y)
assert set(np.abs(model.directions_[0]).argsort()[-50:]) == set(range(50))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.slow
def test_twenty_thousand_columns_need_less_than_2_gib():
    done = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=True)
    # the matrix would be 3 GiB
    assert int(done.stdout) < 2**31
