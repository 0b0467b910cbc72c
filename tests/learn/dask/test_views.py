"""Views of Dask arrays: the same numbers as in memory, on a cluster of two processes, and when one is killed."""

import os
import signal
import threading
import time

import dask.array as da
import distributed
import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.learn import CCA, MCCA, View, view_pair
from splitmerge.learn.dask.dispatch import view_of
from splitmerge.learn.dask.views import DaskView

# sockets of a worker that was killed are closed by the collector, whenever that runs
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("in_this_process"),
]

X, Y = sm.gallery.two_views(240, 6, 4, [0.9, 0.6, 0.3], rng=0)
X, Y = X + 5, Y * [1, 10, 0.1, 3]
WEIGHTS = np.random.default_rng(0).integers(0, 4, 240).astype(float)


def chunked(*rows):
    return da.from_array(X, chunks=(rows, 4)), da.from_array(Y, chunks=(100, 3))


@pytest.mark.parametrize("scale", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_a_dask_view_is_a_view(scale, weights):
    w = None if weights is None else da.from_array(weights, chunks=50)
    x, y = chunked(1, 100, 139)
    view, other = view_of(x, w, scale=scale), DaskView(y, weights, scale=scale)
    mine, yours = View(X, weights, scale=scale), View(Y, weights, scale=scale)
    V, U = (np.random.default_rng(1).standard_normal((n, 2)) for n in (6, 240))
    assert np.allclose(view.variances(), mine.variances(), rtol=1e-13)
    assert np.allclose(view.gram(), mine.gram(), rtol=1e-13)
    assert np.allclose(view.cross(other), mine.cross(yours), rtol=1e-12, atol=1e-13)
    assert np.allclose(view.gram_times(V), mine.gram_times(V), atol=1e-12)
    assert np.allclose(view.times(V).compute(), mine.times(V), atol=1e-12)
    assert np.allclose(view.dual(U), mine.dual(U), atol=1e-12)
    assert np.allclose(view.dual(view.times(V)), mine.gram_times(V), atol=1e-12)
    assert view.samples == mine.samples


@pytest.mark.parametrize("solver", ["formed", "operators"])
@pytest.mark.parametrize("weights", [None, WEIGHTS, da.from_array(WEIGHTS, chunks=60)], ids=["plain", "numpy", "dask"])
def test_the_pair(solver, weights):
    in_memory = view_pair([X, Y], weights=None if weights is None else WEIGHTS, ridge=0.1, solver="formed", scale=True)
    pair = view_pair(chunked(100, 140), weights=weights, ridge=0.1, solver=solver, scale=True)
    assert np.allclose(pair.A @ np.eye(10), in_memory.A, atol=1e-12)
    assert np.allclose(pair.B @ np.eye(10), in_memory.B, atol=1e-12)
    assert np.allclose(pair.diagonal, in_memory.diagonal)
    if solver == "operators":
        sol = sm.solve(pair.A, pair.B, 2, diagonal=pair.diagonal, rng=0)
        assert np.allclose(sol.eigenvalues, sm.solve(in_memory.A, in_memory.B, 2).eigenvalues, atol=1e-12)


@pytest.mark.parametrize("solver", ["formed", "operators"])
def test_estimators(solver):
    data, same = chunked(60, 60, 120), CCA(2).fit(X, Y)
    cca = CCA(2, solver=solver, random_state=0).fit(*data)
    assert np.allclose(cca.correlations_, same.correlations_, rtol=0, atol=1e-12)
    scores = cca.transform(data[0])
    assert isinstance(scores, da.Array)
    assert np.allclose(scores.compute(), same.transform(X), atol=1e-6)
    assert np.allclose(cca.predict(data[0]).compute(), same.predict(X), atol=1e-6)
    mixed = CCA(2, solver=solver, random_state=0).fit(data[0], sp.csr_array(Y))
    assert np.allclose(mixed.correlations_, same.correlations_, rtol=0, atol=1e-12)
    three = [*data, da.from_array(X[:, :2] + Y[:, :2], chunks=50)]
    assert np.allclose(
        MCCA(2, solver=solver, random_state=0, ridge=0.1).fit(three).eigenvalues_,
        MCCA(2, ridge=0.1).fit([np.asarray(view) for view in three]).eigenvalues_,
    )


def test_sparse_blocks_stay_sparse():
    data = np.where(X > 5, X, 0.0)
    blocks = da.from_array(data, chunks=(80, 6)).map_blocks(sp.csr_array)
    pair, same = view_pair([blocks, Y], solver="operators"), view_pair([data, Y], solver="operators")
    V = np.ones((10, 1))
    assert np.allclose(pair.A @ V, same.A @ V)
    assert np.allclose(pair.B @ V, same.B @ V)


def test_partial_fit_and_ill_conditioned_views():
    data = chunked(240)
    parts = CCA(2).partial_fit(data[0][:100], data[1][:100]).partial_fit(data[0][100:], data[1][100:])
    assert np.allclose(parts.correlations_, CCA(2).fit(X, Y).correlations_, rtol=0, atol=1e-13)
    bad = np.hstack([X, X[:, :1] + 1e-5 * Y[:, :1]])
    assert np.allclose(
        CCA(2).fit(da.from_array(bad, chunks=50), data[1]).correlations_, CCA(2).fit(bad, Y).correlations_
    )


def test_bad_input():
    x, y = chunked(60, 60, 120)
    with pytest.raises(
        ValueError, match=r"X is a Dask array with chunks of unknown size; call X.compute_chunk_sizes\(\)"
    ):
        CCA().fit(x[x[:, 0] > 0], y)
    with pytest.raises(ValueError, match=r"y.compute_chunk_sizes\(\)"):
        CCA().fit(x, y[y[:, 0] > 0])
    with pytest.raises(ValueError, match="different numbers of rows"):
        CCA().fit(x, y[:-1])
    with pytest.raises(ValueError, match="X contains NaN"):
        CCA().fit(da.where(x > 0, x, np.nan), y)
    for weights in (np.zeros(240), da.zeros(240)):
        with pytest.raises(ValueError, match="zero for all rows"):
            CCA().fit(x, y, weights)
    with pytest.raises(ValueError, match="Negative values"):
        CCA().fit(x, y, -da.ones(240))
    with pytest.warns(UserWarning, match="constant column"):
        CCA().fit(da.hstack([x, da.ones((240, 1))]), y)
    with pytest.raises(ValueError, match="X has 5 features"):
        CCA().fit(x, y).transform(x[:, :5])
    with pytest.raises(ValueError, match="samples in rows"):
        CCA().fit(x[0], y)


def with_one(value):
    weights = np.ones(240)
    weights[3] = value
    return weights


def refusal(fit, *given):
    with pytest.raises(ValueError, match=" ") as caught:
        fit(*given)
    return str(caught.value)


ROUTES = ["auto", "formed", "operators"]
BAD_WEIGHTS = {
    "negative": with_one(-5.0),
    "hardly negative": with_one(-1e-300),
    "NaN": with_one(np.nan),
    "infinite": with_one(np.inf),
    "zero": np.zeros(240),
}


@pytest.mark.parametrize("solver", ROUTES)
@pytest.mark.parametrize("bad", BAD_WEIGHTS)
def test_weights_are_refused_as_in_memory(bad, solver):
    """One of them is enough, in whichever block, whatever is done with them then, and in the same words."""
    weights, data = BAD_WEIGHTS[bad], chunked(60, 60, 120)
    expected = refusal(lambda: CCA(2, solver=solver).fit(X, Y, weights))
    told = {"zero": "zero for all rows", "NaN": "NaN or infinity", "infinite": "NaN or infinity"}
    assert told.get(bad, "Negative values in data passed to sample_weight") in expected
    fits = (
        lambda given: CCA(2, solver=solver).fit(*data, given),
        lambda given: CCA(2, solver=solver).partial_fit(*data, given),
        lambda given: MCCA(2, solver=solver).fit(data, sample_weight=given),
        lambda given: view_pair(data, weights=given, solver=solver),
    )
    for fit in fits:
        assert refusal(fit, weights) == expected
        assert refusal(fit, da.from_array(weights, chunks=50)) == expected


BAD_OPTIONS = [
    *({"n_components": number} for number in (0, 5, 1.5)),
    *({"ridge": ridge} for ridge in (-1.0, np.nan, (1.0,), (1.0, -1.0))),
    *({"tol": tol} for tol in (0, -1.0, 2.0)),
    {"b_policy": "mend"},
    {"solver": "guess"},
]


@pytest.mark.parametrize("solver", ROUTES)
@pytest.mark.parametrize("options", BAD_OPTIONS, ids=str)
def test_options_are_refused_as_in_memory(options, solver):
    options, data = {"solver": solver, **options}, chunked(60, 60, 120)
    assert refusal(lambda: CCA(**options).fit(*data)) == refusal(lambda: CCA(**options).fit(X, Y))
    assert refusal(lambda: MCCA(**options).fit(data)) == refusal(lambda: MCCA(**options).fit([X, Y]))


@pytest.mark.parametrize("policy", ["ridge", "restrict"])
def test_products_mend_no_covariance(policy):
    options, data = {"solver": "operators", "b_policy": policy}, chunked(60, 60, 120)
    assert "needs the covariances as matrices" in refusal(lambda: CCA(**options).fit(*data))
    assert "needs the covariances as matrices" in refusal(lambda: MCCA(**options).fit(data))


class TestCluster:
    @pytest.mark.slow
    def test_both_ways(self, client):
        data = [M.persist() for M in chunked(60, 60, 120)]
        same = CCA(2).fit(X, Y)
        for solver in ("formed", "operators"):
            cca = CCA(2, solver=solver, random_state=0).fit(*data)
            assert np.allclose(cca.correlations_, same.correlations_, rtol=0, atol=1e-12)
        assert np.allclose(cca.transform(data[0]).compute(), same.transform(X), atol=1e-6)
        pair = view_pair(data, solver="operators")
        sol = sm.solve(pair.A, pair.B, 2, diagonal=pair.diagonal, rng=0)
        assert np.allclose(sol.eigenvalues, same.correlations_, rtol=0, atol=1e-12)

    @pytest.mark.slow
    def test_a_killed_worker_does_not_lose_the_fit(self, client, monkeypatch):
        """SIGKILL in the middle of a pass: half of the data are gone, too."""
        from splitmerge.learn.dask import views

        X, Y = sm.gallery.two_views(400, 60, 45, [0.95, 0.8], rng=0)
        data = [da.from_array(M, chunks=(200, -1)).persist() for M in (X, Y)]
        distributed.wait(data)
        victim = next(iter(client.run(os.getpid).values()))
        whole, passes, killed = views.reduce_blocks, [], []

        def kill():
            time.sleep(0.003)
            os.kill(victim, signal.SIGKILL)
            killed.append(len(passes))

        def counted(*arguments):
            passes.append(arguments[0].__name__)
            if len(passes) == 10:
                threading.Thread(target=kill).start()
            return whole(*arguments)

        monkeypatch.setattr(views, "reduce_blocks", counted)
        cca = CCA(1, ridge=10.0, solver="operators", random_state=0).fit(*data)
        assert killed
        assert killed[0] < len(passes)
        assert victim not in client.run(os.getpid).values()
        assert np.allclose(cca.correlations_, CCA(1, ridge=10.0).fit(X, Y).correlations_, rtol=0, atol=1e-12)
