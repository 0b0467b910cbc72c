"""CSP and SPoC of Dask arrays: blocks of trials give the results of all of them, in memory and on a cluster."""

import dask.array as da
import numpy as np
import pytest

from recordings import comodulated, deficient, distinct_classes, recordings
from splitmerge.learn import CSP, SPoC

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("in_this_process"),
]

X, Y, _ = recordings(trials=30)
WEIGHTS = np.random.default_rng(0).integers(0, 3, 30).astype(float)
CHUNKS = [(30,), (10, 20), (1, 7, 12, 10), (0, 15, 15)]


def chunked(data, rows=(10, 13, 7)):
    return da.from_array(data, chunks=(rows, 2, 33))


def same(found, expected, data):
    for name in ("filters_", "patterns_", "mean_", "std_"):
        a, b = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * np.abs(b).max(), err_msg=name)
    assert found.rank_ == expected.rank_
    assert found.n_features_in_ == expected.n_features_in_
    features = found.transform(chunked(data))
    assert isinstance(features, da.Array)
    here = expected.transform(data)
    assert features.shape == here.shape
    assert features.dtype == here.dtype
    np.testing.assert_allclose(features.compute(), here, rtol=0, atol=1e-10 * np.abs(here).max())


@pytest.mark.parametrize("rows", CHUNKS, ids=str)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_blocks_of_any_size(rows, weights):
    found = CSP(3).fit(chunked(X, rows), da.from_array(Y, chunks=9), weights)
    same(found, CSP(3).fit(X, Y, weights), X)


OPTIONS = [
    {"reg": "ledoit_wolf"},
    {"reg": "oas", "cov_est": "epoch"},
    {"reg": 0.1, "norm_trace": True, "component_order": "alternate"},
    {"log": False},
    {"transform_into": "csp_space"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options(options):
    data = deficient(X, "average reference")[0]
    same(CSP(3, **options).fit(chunked(data), Y), CSP(3, **options).fit(data, Y), data)


def test_more_classes_targets_and_tables():
    data, y = distinct_classes(30)
    same(CSP(3).fit(chunked(data), y), CSP(3).fit(data, y), data)
    data, target, _ = comodulated(30)
    for reg in (None, "oas"):
        same(SPoC(3, reg=reg).fit(chunked(data), target), SPoC(3, reg=reg).fit(data, target), data)
    table = da.from_array(X[:, :, 0], chunks=(11, 4))
    found, expected = CSP(3).fit(table, Y), CSP(3).fit(X[:, :, 0], Y)
    np.testing.assert_allclose(found.filters_, expected.filters_, rtol=1e-9)
    np.testing.assert_allclose(found.transform(table), expected.transform(X[:, :, 0]), rtol=1e-9)


def test_single_precision_and_integers():
    single = X.astype(np.float32)
    same(CSP(3).fit(chunked(single), Y), CSP(3).fit(single, Y), single)
    counts = (1000 * X).astype(int)
    np.testing.assert_allclose(CSP(3).fit(chunked(counts), Y).filters_, CSP(3).fit(counts, Y).filters_, rtol=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: np.where(X > 2, np.nan, X), "X contains NaN"),
        (lambda X: 1e200 * X, "rescale X"),
        (lambda X: X * (Y == 0)[:, None, None], "class 1 are zero"),
        (lambda X: X[:29], "inconsistent numbers of samples"),
        (lambda X: X + 1j, "X must be real"),
        (lambda X: X[..., None], "X must be real with 3 dimensions"),
    ],
    ids=["NaN", "huge", "silent class", "mismatched", "complex", "four axes"],
)
def test_what_cannot_be_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        CSP().fit(da.from_array(change(X), chunks=10), Y)


def test_other_channels_are_refused():
    with pytest.raises(ValueError, match="4 features"):
        CSP().fit(X, Y).transform(chunked(X[:, :4]))


@pytest.mark.slow
def test_on_a_cluster(client):
    same(CSP(3, reg="ledoit_wolf").fit(chunked(X), Y), CSP(3, reg="ledoit_wolf").fit(X, Y), X)
