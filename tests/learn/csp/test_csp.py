"""Common spatial patterns: those of a dense eigh, on data of any rank, by scikit-learn's rules."""

import pickle

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from splitmerge import NotPositiveDefinite
from splitmerge.learn import CSP

SAMPLES = 80


def recordings(trials=40, channels=6, classes=2, seed=0, dtype=float):
    """Trials in which source i is loud in class i, the labels, and the mixing."""
    rng = np.random.default_rng(seed)
    y = np.arange(trials) % classes
    sources = rng.standard_normal((trials, channels, SAMPLES))
    for i in range(classes):
        sources[y == i, i] *= 3 + i
    mixing = rng.standard_normal((channels, channels))
    return (mixing @ sources).astype(dtype), y, mixing


def class_moments(X, y, which, norm_trace=True):
    S = X @ X.transpose(0, 2, 1) / X.shape[2]
    if norm_trace:
        S /= np.trace(S, axis1=1, axis2=2)[:, None, None]
    return S[y == which].mean(axis=0)


def deficient(X, kind):
    """X without some directions, and the rank that is left."""
    channels = X.shape[1]
    if kind == "average reference":
        return X - X.mean(axis=1, keepdims=True), channels - 1
    if kind == "channel twice":
        return np.concatenate([X, X[:, :1]], axis=1), channels
    if kind == "dead channel":
        return np.concatenate([X, 0 * X[:, :1]], axis=1), channels
    out = np.linalg.qr(np.random.default_rng(5).standard_normal((channels, 2)))[0].astype(X.dtype)
    return X - out @ (out.T @ X), channels - 2


KINDS = ["average reference", "channel twice", "dead channel", "components removed"]


@pytest.mark.parametrize("norm_trace", [True, False])
@pytest.mark.parametrize("select", ["distance", "ends"])
def test_it_is_the_dense_eigh(select, norm_trace):
    X, y, _ = recordings()
    A, D = (class_moments(X, y, i, norm_trace) for i in (0, 1))
    values, vectors = scipy.linalg.eigh(A, A + D)
    order = np.argsort(-abs(values - 0.5)) if select == "distance" else [5, 0, 4, 1, 3, 2]
    csp = CSP(n_components=4, select=select, norm_trace=norm_trace).fit(X, y)
    np.testing.assert_allclose(csp.eigenvalues_, values[order[:4]], atol=1e-10)
    W = vectors.T[order[:4]]
    np.testing.assert_allclose(csp.filters_ * np.sign(np.sum(csp.filters_ * W, axis=1))[:, None], W, rtol=1e-8)
    np.testing.assert_allclose(csp.patterns_, csp.filters_ @ (A + D), rtol=1e-10)
    np.testing.assert_allclose(csp.filters_ @ csp.patterns_.T, np.eye(4), atol=1e-10)
    expected = np.log(np.mean((csp.filters_ @ X) ** 2, axis=2))
    np.testing.assert_allclose(csp.transform(X), expected, rtol=1e-12)
    np.testing.assert_allclose(csp.sources(X), csp.filters_ @ X, rtol=1e-12)


def test_patterns_are_how_the_sources_were_mixed():
    X, y, mixing = recordings(trials=200)
    csp = CSP(n_components=2, select="ends").fit(X, y)
    for pattern, column in zip(csp.patterns_, mixing.T, strict=False):
        cosine = abs(pattern @ column) / np.linalg.norm(pattern) / np.linalg.norm(column)
        assert cosine > 0.99
    assert csp.eigenvalues_[0] > 0.8
    assert csp.eigenvalues_[1] < 0.2
    assert list(csp.filter_classes_) == [0, 0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS)
def test_missing_directions_are_left_out_and_reported(kind, dtype):
    X, y, _ = recordings(dtype=dtype)
    X, rank = deficient(X, kind)
    csp = CSP(n_components=20).fit(X, y)
    assert csp.rank_ == csp.report_.rank == rank
    assert csp.report_.dropped == X.shape[1] - rank > 0
    assert csp.filters_.shape == (rank, X.shape[1])
    features = csp.transform(X)
    assert features.dtype == dtype
    assert np.isfinite(features).all()
    # the same filters in coordinates of the range
    A, D = (class_moments(X.astype(float), y, i) for i in (0, 1))
    Q = np.linalg.svd(A + D)[0][:, :rank]
    values = scipy.linalg.eigh(Q.T @ A @ Q, Q.T @ (A + D) @ Q, eigvals_only=True)
    np.testing.assert_allclose(np.sort(csp.eigenvalues_), values, atol=1e-8 if dtype == np.float64 else 1e-5)
    # no filter leans on what the data do not have
    np.testing.assert_allclose(Q @ (Q.T @ csp.filters_.T), csp.filters_.T, atol=1e-4 * abs(csp.filters_).max())


def test_other_policies():
    X, y, _ = recordings()
    X, rank = deficient(X, "average reference")
    with pytest.raises(NotPositiveDefinite, match="b_policy='restrict'"):
        CSP(b_policy="error").fit(X, y)
    ridged = CSP(n_components=2, b_policy="ridge").fit(X, y)
    assert ridged.report_.ridge > 0
    assert np.isfinite(ridged.transform(X)).all()
    restricted = CSP(n_components=2).fit(X, y)
    np.testing.assert_allclose(ridged.eigenvalues_, restricted.eigenvalues_, atol=1e-6)
    assert CSP(n_components=9, rank_tol=0.5).fit(X, y).rank_ < rank
    full = recordings()[0]
    for policy in ("error", "ridge", "restrict"):
        report = CSP(b_policy=policy).fit(full, y).report_
        assert (report.policy, report.rank, report.dropped, report.ridge) == (policy, 6, 0, 0.0)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), decades=st.integers(1, 9))
def test_units_of_channels_do_not_matter(seed, decades):
    X, y, _ = recordings(trials=12, seed=seed)
    X = deficient(X, "average reference")[0]
    units = 10.0 ** np.random.default_rng(seed).uniform(-decades, decades, X.shape[1])
    plain = CSP(n_components=3, norm_trace=False).fit(X, y)
    scaled = CSP(n_components=3, norm_trace=False).fit(units[:, None] * X, y)
    assert scaled.rank_ == plain.rank_
    np.testing.assert_allclose(scaled.eigenvalues_, plain.eigenvalues_, atol=1e-7)
    np.testing.assert_allclose(scaled.transform(units[:, None] * X), plain.transform(X), atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    trials=st.integers(2, 6),
    channels=st.integers(1, 7),
    samples=st.integers(1, 4),
    classes=st.integers(2, 3),
    shrinkage=st.sampled_from([0.0, 0.3, 1.0, "auto"]),
    select=st.sampled_from(["distance", "ends"]),
)
def test_whatever_comes_in_numbers_come_out(seed, trials, channels, samples, classes, shrinkage, select):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (max(trials, classes), channels, samples)).astype(float)
    X[:, 0] += 1 + (X[:, 0] == -1)
    y = np.arange(len(X)) % classes
    csp = CSP(shrinkage=shrinkage, select=select)
    features = csp.fit_transform(X, y)
    assert features.shape == (len(X), min(4, csp.rank_) * (classes if classes > 2 else 1))
    assert np.isfinite(features).all()
    assert np.isfinite(csp.patterns_).all()
    assert (csp.eigenvalues_ > -1e-9).all()
    assert (csp.eigenvalues_ < 1 + 1e-9).all()


def test_shrinkage_moves_the_values_to_the_middle_and_stays_in_the_range():
    X, y, _ = recordings()
    X, rank = deficient(X, "average reference")
    spread = [np.abs(CSP(6, shrinkage=s).fit(X, y).eigenvalues_ - 0.5).max() for s in (0.0, 0.3, 1.0)]
    assert spread[0] > spread[1] > spread[2]
    assert spread[2] < 1e-6
    assert CSP(6, shrinkage=1.0).fit(X, y).eigenvalues_.size == rank
    few = CSP(6, shrinkage="auto").fit(X[:6], y[:6]).eigenvalues_
    plain = CSP(6).fit(X[:6], y[:6]).eigenvalues_
    assert np.abs(few - 0.5).max() < np.abs(plain - 0.5).max()


def test_weights_are_repetitions():
    X, y, _ = recordings(trials=10)
    weights = np.array([1, 2, 0, 3, 1, 1, 2, 0, 1, 4])
    for shrinkage in (0.0, "auto"):
        weighted = CSP(shrinkage=shrinkage).fit(X, y, sample_weight=weights)
        repeated = CSP(shrinkage=shrinkage).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        np.testing.assert_allclose(weighted.filters_, repeated.filters_, rtol=1e-8)


def test_more_classes_are_each_held_against_the_rest():
    X, y, _ = recordings(trials=60, classes=3)
    names = np.array(["feet", "hand", "tongue"])
    csp = CSP(n_components=2).fit(X, names[y])
    assert csp.transform(X).shape == (60, 6)
    assert list(csp.filter_classes_) == list(np.repeat(names, 2))
    for i, name in enumerate(names):
        alone = CSP(n_components=2).fit(X, np.where(y == i, 0, 1))
        chosen = csp.filter_classes_ == name
        np.testing.assert_allclose(csp.eigenvalues_[chosen], alone.eigenvalues_, atol=1e-10)
        np.testing.assert_allclose(csp.filters_[chosen], alone.filters_, rtol=1e-7)


def test_centring_silence_and_power():
    X, y, _ = recordings()
    offset = X + 50 * np.arange(6)[:, None]
    moved = CSP(center=True).fit(offset, y)
    np.testing.assert_allclose(moved.transform(offset), CSP(center=True).fit(X, y).transform(X), atol=1e-9)
    X[3] = 0
    csp = CSP(log=False).fit(X, y)
    assert (csp.transform(X)[3] == 0).all()
    assert np.isfinite(CSP().fit(X, y).transform(X)).all()
    # two classes that are the same have nothing to find
    same = CSP().fit(np.concatenate([X, X]), np.repeat([0, 1], len(X)))
    np.testing.assert_allclose(same.eigenvalues_, 0.5, atol=1e-12)


BAD = {
    "one class": (lambda X, y: (X, 0 * y), {}, "one class"),
    "NaN": (lambda X, y: (np.where(X > 2, np.nan, X), y), {}, "NaN"),
    "no samples": (lambda X, y: (X[:, :, :0], y), {}, "trials, channels, samples"),
    "four axes": (lambda X, y: (X[..., None], y), {}, "trials, channels, samples"),
    "one axis": (lambda X, y: (X[:, 0, 0], y), {}, "Expected 2D array"),
    "mismatched": (lambda X, y: (X, y[:-1]), {}, "inconsistent numbers of samples"),
    "continuous y": (lambda X, y: (X, y + 0.5), {}, "Unknown label type"),
    "silent class": (lambda X, y: (X * (y == 0)[:, None, None], y), {}, "all trials of class 1 are zero"),
    "huge": (lambda X, y: (X * 1e200, y), {}, "rescale X"),
    "nothing left": (lambda X, y: (X[:, :, :1], y), {"center": True}, "makes trials with one sample zero"),
    "no filters": (lambda X, y: (X, y), {"n_components": 0}, "n_components is 0"),
    "too much": (lambda X, y: (X, y), {"shrinkage": 1.5}, "shrinkage is 1.5"),
    "no such shrinkage": (lambda X, y: (X, y), {"shrinkage": "ledoit"}, "shrinkage is 'ledoit'"),
    "no such end": (lambda X, y: (X, y), {"select": "middle"}, "select is 'middle'"),
    "no such policy": (lambda X, y: (X, y), {"b_policy": "drop"}, "b_policy is 'drop'"),
    "no such rank": (lambda X, y: (X, y), {"rank_tol": 2.0}, "rank_tol is 2.0"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_refused(name):
    change, options, message = BAD[name]
    X, y, _ = recordings(trials=8)
    with pytest.raises(ValueError, match=message):
        CSP(**options).fit(*change(X, y))


def test_weights_that_cannot_be_are_refused():
    X, y, _ = recordings(trials=8)
    with pytest.raises(ValueError, match="class 1 have sample_weight 0"):
        CSP().fit(X, y, sample_weight=(y == 0).astype(float))
    with pytest.raises(ValueError, match=r"zero|sample_weight 0"):
        CSP().fit(X, y, sample_weight=np.zeros(8))
    with pytest.raises(ValueError, match="egative"):
        CSP().fit(X, y, sample_weight=-np.ones(8))
    with pytest.raises(ValueError, match="4 features"):
        CSP().fit(X, y).transform(X[:, :4])


def test_check_estimator():
    """A 2-D X, one sample a trial, lets every check run; one is skipped unless SciPy's array API is on."""
    results = check_estimator(CSP(), on_skip=None)
    assert len(results) > 50
    left = [each["check_name"] for each in results if each["status"] != "passed"]
    assert set(left) <= {"check_array_api_input"}


def test_trials_are_filtered_in_parts(monkeypatch):
    X, y, _ = recordings(trials=11, dtype=np.float32)
    csp = CSP().fit(X, y)
    at_once = csp.transform(X)
    monkeypatch.setattr("splitmerge.learn.csp.csp.BLOCK_ENTRIES", 3 * X[0].size)
    np.testing.assert_allclose(csp.transform(X), at_once, rtol=1e-6)
    np.testing.assert_allclose(np.log(np.mean(csp.sources(X) ** 2, axis=2)), at_once, atol=1e-4)


def test_whatever_holds_the_trials(tmp_path):
    X, y, _ = recordings(trials=10)
    plain = CSP(n_components=2).fit(X, y)
    file = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", float, X.shape)
    file[:] = X
    file.flush()
    frozen = X.copy()
    frozen.flags.writeable = False
    for other in (np.load(tmp_path / "X.npy", mmap_mode="r"), frozen, X.tolist(), np.asfortranarray(X)):
        csp = CSP(n_components=2).fit(other, y)
        np.testing.assert_allclose(csp.filters_, plain.filters_, rtol=1e-9)
        np.testing.assert_allclose(csp.transform(other), plain.transform(X), rtol=1e-9)
    counts = (1e5 * X).astype(int)
    whole = CSP(n_components=2).fit(counts, y)
    assert whole.transform(counts).dtype == np.float64
    np.testing.assert_allclose(whole.eigenvalues_, plain.eigenvalues_, atol=1e-3)


def test_one_sample_a_trial_is_a_table():
    X, y, _ = recordings(trials=80)
    table = CSP(n_components=2).fit(X[:, :, 0], y)
    np.testing.assert_array_equal(table.filters_, CSP(n_components=2).fit(X[:, :, :1], y).filters_)
    import pandas

    frame = pandas.DataFrame(X[:, :, 0], columns=list("abcdef"))
    features = CSP(n_components=2).set_output(transform="pandas").fit_transform(frame, y)
    assert list(features.columns) == ["csp0", "csp1"]


def test_in_pipelines_searches_and_pickles():
    X, y, _ = recordings(trials=40)
    model = make_pipeline(CSP(n_components=2), LinearDiscriminantAnalysis())
    assert cross_val_score(model, X, y, cv=4).mean() > 0.9
    search = GridSearchCV(model, {"csp__n_components": [2, 4], "csp__shrinkage": [0.0, "auto"]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.9
    csp = CSP(n_components=3, shrinkage=0.1).fit(X, y)
    assert clone(csp).get_params() == csp.get_params()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(csp)).transform(X), csp.transform(X))
    assert list(csp.get_feature_names_out()) == ["csp0", "csp1", "csp2"]


def test_sources_are_centred_as_the_features_are():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 4, 50)) + 5, np.repeat([0, 1], 10)
    X[:10, 0] *= 2
    csp = CSP(2, center=True, log=False).fit(X, y)
    np.testing.assert_allclose((csp.sources(X) ** 2).mean(axis=2), csp.transform(X))
