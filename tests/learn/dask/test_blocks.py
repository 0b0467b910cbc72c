"""Estimators of groups of rows, given Dask arrays: the same numbers as in memory, on a cluster, and after a kill."""

import os
import signal
import threading
import time
from collections import Counter

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.covariance import LedoitWolf
from sklearn.exceptions import NotFittedError

from splitmerge.learn import LinearDiscriminantAnalysis, SlicedAverageVariance, SlicedInverseRegression
from splitmerge.learn.dask.blocks import Blocks
from splitmerge.learn.dask.tasks import group_moments, merge_moments
from splitmerge.learn.discriminant import distributed

# sockets of a worker that was killed are closed by the collector, whenever that runs
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("in_this_process"),
]

RNG = np.random.default_rng(0)
# sorted, so that most blocks of rows lack most classes
LABELS = np.sort(np.arange(240) % 4)
X = RNG.standard_normal((240, 6)) @ RNG.standard_normal((6, 6)) + 0.7 * RNG.standard_normal((4, 6))[LABELS] + 50
CENTRED = X - X.mean(axis=0)
RESPONSE = CENTRED[:, 0] + 0.3 * CENTRED[:, 1] ** 2 + 0.1 * RNG.standard_normal(240)
WEIGHTS = RNG.integers(0, 4, 240).astype(float)
CHUNKS = [(240,), (100, 140), (1, 7, 100, 132), (30,) * 8, (0, 120, 120)]
SLICED = [SlicedInverseRegression, SlicedAverageVariance]


def chunked(rows, data=X):
    return da.from_array(data, chunks=(rows, 4))


def same(found, expected, names):
    for name in names:
        a, b = getattr(found, name), getattr(expected, name)
        assert a.dtype == b.dtype
        # results for float32 are rounded to float32
        tol = 1e-6 if b.dtype == np.float32 else 1e-10
        np.testing.assert_allclose(a, b, rtol=tol, atol=tol * np.abs(b).max(), err_msg=name)


def same_up_to_sign(found, expected):
    """Directions in rows."""
    signs = np.sign(np.einsum("ij,ij->i", found, expected))[:, None]
    tol = 1e-6 if expected.dtype == np.float32 else 1e-10
    np.testing.assert_allclose(signs * found, expected, rtol=0, atol=tol * np.abs(expected).max())


def same_discriminants(found, expected, data=X):
    same(found, expected, ["classes_", "priors_", "means_", "xbar_", "coef_", "intercept_", "eigenvalues_"])
    same(found, expected, ["explained_variance_ratio_"])
    same_up_to_sign(found.scalings_.T, expected.scalings_.T)
    np.testing.assert_array_equal(found.predict(data), expected.predict(data))
    tol = 1e-3 if found.coef_.dtype == np.float32 else 1e-10
    np.testing.assert_allclose(found.predict_proba(data), expected.predict_proba(data), rtol=0, atol=tol)


def same_sliced(found, expected):
    same(found, expected, ["eigenvalues_", "mean_", "slices_"])
    same_up_to_sign(found.directions_, expected.directions_)


@pytest.mark.parametrize("weights", [None, WEIGHTS, da.from_array(WEIGHTS, chunks=50)], ids=["plain", "numpy", "dask"])
@pytest.mark.parametrize("rows", CHUNKS, ids=str)
def test_discriminants(rows, weights):
    expected = LinearDiscriminantAnalysis().fit(X, LABELS, None if weights is None else WEIGHTS)
    found = LinearDiscriminantAnalysis().fit(chunked(rows), da.from_array(LABELS, chunks=70), weights)
    same_discriminants(found, expected)
    assert found.n_features_in_ == 6


OPTIONS = [
    {"shrinkage": 0.3},
    {"shrinkage": 0.3, "between": "means"},
    {"priors": [0.4, 0.3, 0.2, 0.1]},
    {"priors": [0.4, 0.3, 0.2, 0.1], "shrinkage": 0.1, "n_components": 2},
    {"store_covariance": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options_of_discriminants(options):
    expected = LinearDiscriminantAnalysis(**options).fit(X, LABELS, WEIGHTS)
    found = LinearDiscriminantAnalysis(**options).fit(chunked((100, 140)), LABELS, WEIGHTS)
    same_discriminants(found, expected)
    if "store_covariance" in options:
        same(found, expected, ["covariance_"])


def test_labels_of_any_kind_and_classes_without_weight():
    names = np.array(["ash", "birch", "cedar", "dogwood"])[LABELS]
    weights = np.where(LABELS == 2, 0.0, 1.5)
    expected = LinearDiscriminantAnalysis().fit(X, names, weights)
    found = LinearDiscriminantAnalysis().fit(chunked((30,) * 8), names, weights)
    assert list(found.classes_) == ["ash", "birch", "dogwood"]
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-10)
    assert list(found.predict(chunked((30,) * 8)).compute()) == list(expected.predict(X))


@pytest.mark.parametrize("weights", [None, WEIGHTS, da.from_array(WEIGHTS, chunks=50)], ids=["plain", "numpy", "dask"])
@pytest.mark.parametrize("rows", CHUNKS, ids=str)
@pytest.mark.parametrize("estimator", SLICED)
def test_slices(estimator, rows, weights):
    expected = estimator(2, n_slices=5).fit(X, RESPONSE, None if weights is None else WEIGHTS)
    found = estimator(2, n_slices=5).fit(chunked(rows), da.from_array(RESPONSE, chunks=70), weights)
    same_sliced(found, expected)


@pytest.mark.parametrize("estimator", SLICED)
@pytest.mark.parametrize("options", [{"shrinkage": 0.2}, {"n_slices": [-1.0, 1.0]}], ids=str)
def test_options_of_slices(estimator, options):
    same_sliced(estimator(2, **options).fit(chunked((100, 140)), RESPONSE), estimator(2, **options).fit(X, RESPONSE))


@pytest.mark.parametrize("kind", ["float32", "integers", "sparse", "constant column"])
def test_kinds_of_blocks(kind):
    data = X.astype(np.float32) if kind == "float32" else np.round(X).astype(int) if kind == "integers" else X.copy()
    if kind == "constant column":
        data[:, 2] = 0.1
    blocks = da.from_array(data, chunks=(80, 6))
    if kind == "sparse":
        data = np.where(X > 50, X, 0.0)
        blocks = da.from_array(data, chunks=(80, 6)).map_blocks(sp.csc_array)
    same_discriminants(
        LinearDiscriminantAnalysis().fit(blocks, LABELS, WEIGHTS),
        LinearDiscriminantAnalysis().fit(data, LABELS, WEIGHTS),
        data,
    )
    for estimator in SLICED:
        same_sliced(estimator(2).fit(blocks, RESPONSE), estimator(2).fit(data, RESPONSE))


def test_threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        found = LinearDiscriminantAnalysis().fit(chunked((30,) * 8), LABELS)
    same_discriminants(found, LinearDiscriminantAnalysis().fit(X, LABELS))


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("rows", [(100, 140), (0, 120, 120)], ids=str)
def test_answers_are_lazy(classes, rows):
    y = LABELS % classes
    model = LinearDiscriminantAnalysis().fit(X, y)
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform"):
        answers = getattr(model, name)(chunked(rows))
        expected = getattr(model, name)(X)
        assert isinstance(answers, da.Array)
        assert answers.shape == expected.shape
        assert answers.chunks[0] == rows
        assert answers.dtype == expected.dtype
        np.testing.assert_allclose(answers.compute(), expected, rtol=1e-12, atol=1e-12)
    sliced = SlicedInverseRegression(2).fit(X, RESPONSE)
    np.testing.assert_allclose(sliced.transform(chunked(rows)).compute(), sliced.transform(X), rtol=0, atol=1e-12)
    assert model.score(chunked(rows), y) == model.score(X, y)


@pytest.mark.parametrize("priors", [None, [0.4, 0.3, 0.2, 0.1]])
def test_partial_fit(priors):
    shuffled = np.random.default_rng(1).permutation(240)
    data, labels, response = X[shuffled], LABELS[shuffled], RESPONSE[shuffled]
    rows = da.from_array(data, chunks=(50, 6))
    found = LinearDiscriminantAnalysis(priors=priors).fit(rows[:100], labels[:100])
    found.partial_fit(rows[100:200], labels[100:200]).partial_fit(data[200:], labels[200:])
    same_discriminants(found, LinearDiscriminantAnalysis(priors=priors).fit(data, labels))
    sliced = SlicedInverseRegression(2, n_slices=[-1.0, 0.0, 1.0])
    sliced.fit(rows[:100], response[:100]).partial_fit(rows[100:], response[100:])
    same_sliced(sliced, SlicedInverseRegression(2, n_slices=[-1.0, 0.0, 1.0]).fit(data, response))


def test_merging_leaves_both_as_they_are():
    """Or a task that runs again, after a worker died, would merge twice."""
    halves = [group_moments([part, np.zeros(120, np.int8)], None, 1, False) for part in np.split(X, 2)]
    once, again = merge_moments(*halves), merge_moments(*halves)
    np.testing.assert_array_equal(once.scatter[0], again.scatter[0])
    assert once.weights == again.weights == 240


class TestBadInput:
    @pytest.mark.parametrize("estimator", [LinearDiscriminantAnalysis, *SLICED])
    def test_of_all(self, estimator):
        rows, y = chunked((100, 140)), LABELS
        unknown = rows[rows[:, 0] > 50]
        with pytest.raises(ValueError, match=r"X is a Dask array with chunks of unknown size; call X.compute_chunk_"):
            estimator().fit(unknown, y)
        model = estimator().fit(rows, y)
        with pytest.raises(ValueError, match=r"call X.compute_chunk_sizes\(\)"):
            model.transform(unknown)
        with pytest.raises(ValueError, match=r"X has 5 features, but .* is expecting 6"):
            model.transform(rows[:, :5])
        with pytest.raises(NotFittedError):
            estimator().transform(rows)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            estimator().fit(rows, y[:-1])
        with pytest.raises(ValueError, match="requires y"):
            estimator().fit(rows, None)
        for bad in (np.nan, np.inf, 1e200):
            with pytest.raises(ValueError, match="X contains NaN, infinity or values whose squares overflow"):
                estimator().fit(da.where(rows > 50, rows, bad), y)
        with pytest.raises(ValueError, match="zero for all rows"):
            estimator().fit(rows, y, da.zeros(240))
        with pytest.raises(ValueError, match="Negative values"):
            estimator().fit(rows, y, -da.ones(240))
        with pytest.raises(ValueError, match="with 2 dimensions"):
            estimator().fit(rows[:, 0], y)
        with pytest.raises(ValueError, match=r"one (value or )?class only"):
            estimator().fit(rows, 0 * y)
        with pytest.raises(ValueError, match="constant"):
            estimator().fit(da.ones((240, 6)), y)

    @pytest.mark.parametrize("kind", [np.asarray, da.asarray], ids=["numpy", "dask"])
    @pytest.mark.parametrize("value", [-5.0, -1e-300, np.nan, np.inf])
    @pytest.mark.parametrize("estimator", [LinearDiscriminantAnalysis, *SLICED])
    def test_one_bad_weight(self, estimator, value, kind):
        weights = np.ones(240)
        weights[200] = value
        told = (
            "Negative values in data passed to sample_weight" if value < 0 else "sample_weight contains NaN or infinity"
        )
        with pytest.raises(ValueError, match=told):
            estimator().fit(chunked((100, 140)), LABELS, kind(weights))

    @pytest.mark.parametrize("estimator", [LinearDiscriminantAnalysis, *SLICED])
    def test_options_are_refused_as_in_memory(self, estimator):
        bad = {
            "n_components": (0, 99),
            "shrinkage": (2.0, -1.0, "x"),
            "tol": (-1.0,),
            "b_policy": ("mend",),
            "between": ("all",),
            "priors": ([1, 2], [1, 2, 3, -1]),
            "n_slices": (0, 1, [2, 1]),
        }
        for name in bad.keys() & estimator().get_params().keys():
            for value in bad[name]:
                messages = []
                for data in (X, chunked((100, 140))):
                    with pytest.raises(ValueError, match=name) as caught:
                        estimator(**{name: value}).fit(data, LABELS)
                    messages.append(str(caught.value))
                assert messages[0] == messages[1]

    def test_of_discriminants(self):
        with pytest.raises(ValueError, match="covariance_estimator needs all rows in memory; give shrinkage"):
            LinearDiscriminantAnalysis(covariance_estimator=LedoitWolf()).fit(chunked((100, 140)), LABELS)

    def test_a_slice_of_one_row(self):
        with pytest.raises(ValueError, match="one row only"):
            SlicedAverageVariance(n_slices=[RESPONSE.max()]).fit(chunked((100, 140)), RESPONSE)


class TestCluster:
    @pytest.mark.slow
    def test_discriminants_without_a_matrix(self, client, monkeypatch):
        monkeypatch.setattr(distributed, "MAX_SENT_BYTES", 0)
        rows = chunked((100, 140)).persist()
        model = LinearDiscriminantAnalysis(shrinkage="auto", between="means")
        found, expected = clone(model).fit(rows, LABELS, WEIGHTS), clone(model).fit(X, LABELS, WEIGHTS)
        same(found, expected, ["coef_", "intercept_", "means_"])
        assert "too large" in found.route_

    def test_all(self, client):
        rows = chunked((60, 60, 120)).persist()
        model = LinearDiscriminantAnalysis().fit(rows, LABELS, WEIGHTS)
        expected = LinearDiscriminantAnalysis().fit(X, LABELS, WEIGHTS)
        same_discriminants(model, expected)
        np.testing.assert_array_equal(model.predict(rows).compute(), expected.predict(X))
        for estimator in SLICED:
            same_sliced(
                estimator(2).fit(rows, da.from_array(RESPONSE, chunks=60), WEIGHTS),
                estimator(2).fit(X, RESPONSE, WEIGHTS),
            )

    @pytest.mark.parametrize("estimator", [LinearDiscriminantAnalysis, SlicedAverageVariance])
    def test_a_killed_worker_does_not_lose_the_fit(self, client, estimator, tmp_path):
        """SIGKILL while it makes its second block: what it had of the first is gone, too."""
        killed = []

        def slowly(block):
            (tmp_path / f"{os.getpid()}-{time.time_ns()}").touch()
            time.sleep(0.1)
            return block

        def begun():
            return Counter(int(name.partition("-")[0]) for name in os.listdir(tmp_path))

        def kill():
            while not (busy := [pid for pid, blocks in begun().items() if blocks > 1]):
                time.sleep(0.002)
            os.kill(busy[0], signal.SIGKILL)
            killed.append(busy[0])

        rows = da.from_array(X, chunks=(30, 6)).map_blocks(slowly, meta=X[:0])
        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        model = estimator(n_components=2)
        found, expected = clone(model).fit(rows, LABELS), clone(model).fit(X, LABELS)
        killer.join(5)
        assert killed
        assert sum(begun().values()) > 8
        assert killed[0] not in client.run(os.getpid).values()
        (same_discriminants if estimator is LinearDiscriminantAnalysis else same_sliced)(found, expected)


def test_rows_may_be_selected_again():
    """The second indices are among the rows that the first ones have left."""
    first, second = np.flatnonzero(RNG.random(240) < 0.5), np.array([0, 3, 4, 50, 70])
    rows = Blocks(chunked((100, 140)))[first][second]
    assert rows.shape == (5, 6)
    found = rows.moments(np.zeros(5, int), None, 1, separate=False)
    np.testing.assert_allclose(found.means[0], X[first][second].mean(axis=0), rtol=1e-13)
