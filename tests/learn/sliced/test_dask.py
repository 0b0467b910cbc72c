"""Sliced inverse regression of Dask arrays with many columns: no p×p matrix, and a killed worker is no loss."""

import os
import signal
import threading
import time
from collections import Counter

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from splitmerge.learn import SlicedAverageVariance, SlicedInverseRegression
from splitmerge.learn.moments import Moments
from splitmerge.learn.sliced import route

# sockets of a worker that was killed are closed by the collector, whenever that runs
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("in_this_process"),
]

RNG = np.random.default_rng(0)
X = RNG.standard_normal((240, 12)) @ (np.eye(12) + 0.2 * RNG.standard_normal((12, 12))) + 5
Y = X[:, 0] - X[:, 1] + 0.3 * RNG.standard_normal(240)
WEIGHTS = RNG.integers(0, 4, 240).astype(float)


@pytest.fixture
def unformed(monkeypatch):
    """Few columns are many, and moments with a scatter matrix are an error."""
    expected = {
        (name, weighted): SlicedInverseRegression(2, shrinkage=name).fit(X, Y, WEIGHTS if weighted else None)
        for name in (None, 0.3)
        for weighted in (False, True)
    }

    def refuse(*_, **__):
        raise AssertionError("a p×p matrix was formed")

    monkeypatch.setattr(route, "MAX_DASK_COLUMNS", 10)
    monkeypatch.setattr(Moments, "__init__", refuse)
    return expected


def same(found, expected):
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(found.mean_, expected.mean_, rtol=1e-12)
    np.testing.assert_allclose(found.directions_, expected.directions_, atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shrinkage", [None, 0.3])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_many_columns(kind, shrinkage, weighted, unformed):
    rows = da.from_array(X, chunks=((1, 7, 100, 0, 132), 5))
    if kind == "sparse":
        rows = da.from_array(X, chunks=(80, 12)).map_blocks(sp.csr_array)
    model = SlicedInverseRegression(2, shrinkage=shrinkage)
    model.fit(rows, da.from_array(Y, chunks=70), WEIGHTS if weighted else None)
    assert "conjugate gradients" in model.route_
    same(model, unformed[shrinkage, weighted])


def test_average_variance_in_batches():
    rows = da.from_array(X, chunks=(50, 12))
    model = SlicedAverageVariance(2, n_slices=[-1.0, 1.0])
    whole = clone(model).fit(X, Y)
    model.fit(rows[:150], Y[:150]).partial_fit(rows[150:], Y[150:])
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(model.directions_, whole.directions_, atol=1e-8)
    with pytest.raises(ValueError, match="bias_correction=True needs the rows twice, which a Dask array"):
        SlicedAverageVariance(bias_correction=True).fit(rows, Y)
    with pytest.raises(ValueError, match="bias_correction=True needs the rows twice, which partial_fit"):
        SlicedAverageVariance(bias_correction=True).partial_fit(X, Y)


def test_bad_rows_are_named(unformed):
    rows = da.from_array(X, chunks=(80, 12))
    for bad in (np.nan, np.inf, 1e200):
        with pytest.raises(ValueError, match="X contains NaN, infinity or values whose squares overflow"):
            SlicedInverseRegression().fit(da.where(rows > 5, rows, bad), Y)
    with pytest.raises(ValueError, match="X is constant"):
        SlicedInverseRegression().fit(da.ones((240, 12), chunks=(80, 12)), Y)


@pytest.mark.slow
def test_a_killed_worker_does_not_lose_the_fit(client, unformed, tmp_path):
    """SIGKILL in a later pass: what the worker had of the earlier ones is gone."""
    killed = []

    def noted(block):
        (tmp_path / f"{os.getpid()}-{time.time_ns()}").touch()
        return block

    def begun():
        return Counter(int(name.partition("-")[0]) for name in os.listdir(tmp_path))

    def kill():
        while not (busy := [pid for pid, blocks in begun().items() if blocks > 20]):
            time.sleep(0.002)
        os.kill(busy[0], signal.SIGKILL)
        killed.append(busy[0])

    rows = da.from_array(X, chunks=(30, 12)).map_blocks(noted, meta=X[:0])
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = SlicedInverseRegression(2).fit(rows, Y)
    killer.join(5)
    assert killed
    same(found, unformed[None, False])
