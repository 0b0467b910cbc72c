"""Discriminants of Dask arrays with an estimated shrinkage, and without a matrix of the size of the columns."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles

from splitmerge import NotPositiveDefinite
from splitmerge.learn import LinearDiscriminantAnalysis
from splitmerge.learn.covariance import choice
from splitmerge.learn.dask import grouped
from splitmerge.learn.dask.blocks import Blocks
from splitmerge.learn.dask.grouped import BlockGrouped
from splitmerge.learn.discriminant import distributed
from splitmerge.learn.moments.grouped import Grouped

pytestmark = pytest.mark.usefixtures("in_this_process")

RNG = np.random.default_rng(3)
# sorted, so that most blocks of rows lack most classes; the last class has one row
LABELS = np.append(np.sort(np.arange(159) % 3), 3)
X = RNG.standard_normal((160, 8)) @ RNG.standard_normal((8, 8)) + RNG.standard_normal((4, 8))[LABELS] + 20
WEIGHTS = RNG.integers(0, 3, 160).astype(float)
WEIGHTS[-1] = 1
PRIORS = [0.4, 0.3, 0.2, 0.1]
WIDE = RNG.standard_normal((45, 70)) + RNG.standard_normal((3, 70))[np.arange(45) % 3]
WIDE_LABELS = np.arange(45) % 3


def same(found, expected, data, tol=1e-10):
    for name in ("coef_", "intercept_", "means_", "priors_"):
        a, b = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(a, b, rtol=0, atol=tol * np.abs(b).max(), err_msg=name)
    np.testing.assert_allclose(found.predict_proba(data), expected.predict_proba(data), rtol=0, atol=tol)
    assert hasattr(found, "scalings_") == hasattr(expected, "scalings_")
    if hasattr(expected, "scalings_"):
        np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=tol)
        np.testing.assert_allclose(found.explained_variance_ratio_, expected.explained_variance_ratio_, rtol=tol)
        # the angles are as the square root of the errors of the eigenvalues
        assert np.sin(subspace_angles(found.scalings_, expected.scalings_)).max() < 1e-7


OPTIONS = [{}, {"between": "means"}, {"priors": PRIORS}, {"solver": "lsqr"}, {"solver": "eigen"}, {"n_components": 2}]


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("rows", [(160,), (100, 60), (1, 0, 59, 100)], ids=str)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_estimated_shrinkage(options, rows, weights):
    model = LinearDiscriminantAnalysis(**{"shrinkage": "auto"} | options)
    expected = model.fit(X, LABELS, weights)
    found = LinearDiscriminantAnalysis(**model.get_params())
    found.fit(da.from_array(X, chunks=(rows, 5)), LABELS, weights)
    same(found, expected, X)
    assert "second pass" in found.route_
    if "solver" in options:
        np.testing.assert_allclose(found.covariance_, expected.covariance_, rtol=0, atol=1e-10)


def test_a_constant_column_and_blocks_of_other_kinds():
    data = np.round(X)
    data[:, 3] = 7
    expected = LinearDiscriminantAnalysis(shrinkage="auto").fit(data, LABELS)
    assert np.isfinite(expected.coef_).all()
    for blocks in (
        da.from_array(data.astype(int), chunks=(50, 8)),
        da.from_array(data, chunks=(50, 8)).map_blocks(sp.csc_array),
    ):
        same(LinearDiscriminantAnalysis(shrinkage="auto").fit(blocks, LABELS), expected, data)


@pytest.fixture
def unformed(monkeypatch):
    """Send no matrix of the size of the columns, and slabs of three columns."""

    def refuse(*_, **__):
        raise AssertionError("the scatter matrix was formed")

    monkeypatch.setattr(distributed, "MAX_SENT_BYTES", 0)
    monkeypatch.setattr(grouped, "SLAB_BYTES", 8 * 3 * 70 * 3)
    monkeypatch.setattr(Blocks, "moments", refuse)


# a hundred passes over the blocks
SLOW = pytest.mark.slow


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"shrinkage": 0.3}, marks=SLOW),
        {"shrinkage": 0.3, "between": "means", "priors": [0.2, 0.3, 0.5]},
        pytest.param({"shrinkage": "auto"}, marks=SLOW),
        {"shrinkage": "auto", "between": "means"},
        {},
        {"priors": [0.2, 0.3, 0.5]},
        {"b_policy": "ridge"},
    ],
    ids=str,
)
def test_many_columns(unformed, options, sparse):
    expected = LinearDiscriminantAnalysis(**options).fit(WIDE, WIDE_LABELS)
    blocks = da.from_array(WIDE, chunks=(20, 30))
    if sparse:
        blocks = blocks.rechunk({1: -1}).map_blocks(sp.csr_array)
    found = LinearDiscriminantAnalysis(**options).fit(blocks, WIDE_LABELS)
    same(found, expected, WIDE)
    assert "too large to be summed over the blocks" in found.route_


@pytest.mark.parametrize("options", [{"shrinkage": 0.3, "between": "means"}, {"shrinkage": "auto"}], ids=str)
def test_many_rows_and_columns(unformed, options):
    expected = LinearDiscriminantAnalysis(**options).fit(X, LABELS, WEIGHTS)
    found = LinearDiscriminantAnalysis(**options).fit(da.from_array(X, chunks=(50, 8)), LABELS, WEIGHTS)
    same(found, expected, X)
    assert "conjugate gradients" in found.route_


def test_without_shrinkage_many_rows_need_the_matrix(monkeypatch):
    monkeypatch.setattr(distributed, "MAX_SENT_BYTES", 0)
    found = LinearDiscriminantAnalysis().fit(da.from_array(X, chunks=(50, 8)), LABELS)
    same(found, LinearDiscriminantAnalysis().fit(X, LABELS), X)
    assert "was summed over the blocks" in found.route_


@pytest.mark.parametrize("policy", ["restrict", "ridge", "error"])
@pytest.mark.parametrize("blocks", [True, False], ids=["dask", "memory"])
def test_without_shrinkage_and_without_memory_for_the_matrix(unformed, monkeypatch, blocks, policy):
    expected = LinearDiscriminantAnalysis(b_policy=policy).fit(X, LABELS, 1 + WEIGHTS)
    monkeypatch.setattr(choice, "free_memory", lambda: 0)
    data = da.from_array(X, chunks=(50, 8)) if blocks else X
    found = LinearDiscriminantAnalysis(b_policy=policy).fit(data, LABELS, 1 + WEIGHTS)
    # a ridge of tol² = 1e-8 is added whether it is needed or not, as that is not known
    same(found, expected, X, 1e-4 if policy == "ridge" else 1e-10)
    assert "conjugate gradients" in found.route_
    assert ("was added" in found.route_) == (policy == "ridge")


def test_constant_columns_without_the_matrix(monkeypatch):
    # constant within each class only
    data = np.column_stack([X, 0.1 * LABELS, np.full(160, 0.3)])
    expected = LinearDiscriminantAnalysis().fit(data, LABELS)
    monkeypatch.setattr(choice, "free_memory", lambda: 0)
    found = LinearDiscriminantAnalysis().fit(data, LABELS)
    same(found, expected, data)
    assert "2 of 10 dimensions were dropped" in found.route_
    with pytest.raises(
        NotPositiveDefinite, match="give shrinkage='auto' or a number as shrinkage, or another b_policy"
    ):
        LinearDiscriminantAnalysis(b_policy="error").fit(data, LABELS)
    for noise in (0.0, 1e-9, 1e-6):
        data = np.column_stack([X, X @ RNG.standard_normal((8, 2)) + noise * RNG.standard_normal((160, 2))])
        with pytest.raises(NotPositiveDefinite, match="give a number as shrinkage"):
            LinearDiscriminantAnalysis().fit(data, LABELS)


@pytest.mark.parametrize("kept", [None, np.arange(0, 160, 3)], ids=["all", "some"])
def test_rows_of_blocks(kept):
    source, chosen = Blocks(da.from_array(X, chunks=(50, 8))), slice(None) if kept is None else kept
    source = source if kept is None else source[kept]
    weights = 1 + WEIGHTS[chosen]
    found = BlockGrouped(source, LABELS[chosen], 4, weights)
    expected = Grouped(X[chosen], LABELS[chosen], 4, weights)
    factors = np.array([1.0, 0.5, 2.0, 3.0])[LABELS[chosen]]
    for one, other in (
        (found, expected),
        (found.reweighted(factors * weights), expected.reweighted(factors * weights)),
    ):
        V, U = RNG.standard_normal((8, 2)), RNG.standard_normal((other.rows, 2))
        np.testing.assert_allclose(one.totals, other.totals)
        np.testing.assert_allclose(one.means, other.means)
        np.testing.assert_allclose(one.variances(), other.variances())
        np.testing.assert_allclose(one.times(V), other.times(V), atol=1e-12)
        np.testing.assert_allclose(one.transposed(U), other.transposed(U), atol=1e-12)
        np.testing.assert_allclose(one.gram_times(V), other.gram_times(V), atol=1e-10)
        np.testing.assert_allclose(np.triu(one.gram(V[:, 0])), np.triu(other.gram(V[:, 0])), atol=1e-10)


def test_bad_values_are_found_without_the_matrix(unformed):
    hole = np.where(np.arange(WIDE.size).reshape(WIDE.shape) == 7, np.nan, WIDE)
    for bad in (hole, 1e200 * WIDE):
        with pytest.raises(ValueError, match="X contains NaN, infinity or values whose squares overflow"):
            LinearDiscriminantAnalysis(shrinkage=0.3).fit(da.from_array(bad, chunks=(20, 70)), WIDE_LABELS)
    with pytest.raises(ValueError, match="constant within every class"):
        LinearDiscriminantAnalysis(shrinkage="auto").fit(da.ones((45, 70)), WIDE_LABELS)
