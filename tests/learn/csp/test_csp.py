"""Common spatial patterns: those of a dense eigh, on data of any rank, by scikit-learn's rules."""

import pickle
import sys

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

from recordings import KINDS, deficient, distinct_classes, recordings, same_up_to_sign
from splitmerge.learn import CSP, SPoC


def class_covariance(X, y, which, cov_est="concat", norm_trace=False):
    """The sum of xxᵀ over the samples of a class, or the mean over its trials, by degrees of freedom."""
    S = X @ X.transpose(0, 2, 1)
    samples = X.shape[2]
    chosen = S[y == which]
    C = chosen.mean(axis=0) / (samples - 1) if cov_est == "epoch" else chosen.sum(axis=0) / (len(chosen) * samples - 1)
    return C / np.trace(C) if norm_trace else C


@pytest.mark.parametrize("norm_trace", [True, False])
@pytest.mark.parametrize("cov_est", ["concat", "epoch"])
@pytest.mark.parametrize("order", ["mutual_info", "alternate"])
def test_it_is_the_dense_eigh(order, cov_est, norm_trace):
    X, y, _ = recordings(trials=41)
    A, D = (class_covariance(X, y, i, cov_est, norm_trace) for i in (0, 1))
    values, vectors = scipy.linalg.eigh(A, A + D)
    chosen = np.argsort(-abs(values - 0.5)) if order == "mutual_info" else [5, 0, 4, 1, 3, 2]
    csp = CSP(4, cov_est=cov_est, norm_trace=norm_trace, component_order=order).fit(X, y)
    np.testing.assert_allclose(csp.eigenvalues_, values[chosen], atol=1e-10)
    same_up_to_sign(csp.filters_, vectors.T[chosen], 1e-9)
    np.testing.assert_allclose(csp.patterns_, np.linalg.pinv(csp.filters_).T, atol=1e-9)
    powers = np.mean((csp.filters_[:4] @ X) ** 2, axis=2)
    np.testing.assert_allclose(csp.transform(X), np.log(powers), rtol=1e-10)
    np.testing.assert_allclose(csp.mean_, powers.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(csp.std_, powers.std(axis=0), rtol=1e-10)
    # the largest entry of a filter is positive
    assert (csp.filters_.max(axis=1) >= -csp.filters_.min(axis=1)).all()


def test_features():
    X, y, _ = recordings()
    logs = CSP(3).fit_transform(X, y)
    np.testing.assert_array_equal(CSP(3, log=True).fit_transform(X, y), logs)
    scores = CSP(3, log=False).fit_transform(X, y)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scores.std(axis=0), 1)
    csp = CSP(3, transform_into="csp_space").fit(X, y)
    np.testing.assert_allclose(csp.transform(X), csp.filters_[:3] @ X, rtol=1e-12)
    np.testing.assert_allclose(np.log(np.mean(csp.transform(X) ** 2, axis=2)), logs)
    back = CSP(3).fit(X, y).inverse_transform(logs)
    np.testing.assert_allclose(back[5, :, 1], logs[5, 1] * csp.patterns_[1])
    with pytest.raises(NotImplementedError, match="average_power"):
        csp.inverse_transform(logs)
    with pytest.raises(ValueError, match=r"\(trials, 3\)"):
        CSP(3).fit(X, y).inverse_transform(logs[:, :2])


def test_patterns_are_how_the_sources_were_mixed():
    X, y, mixing = recordings(trials=200)
    csp = CSP(n_components=2, component_order="alternate").fit(X, y)
    for pattern, column in zip(csp.patterns_[:2], mixing.T, strict=False):
        cosine = abs(pattern @ column) / np.linalg.norm(pattern) / np.linalg.norm(column)
        assert cosine > 0.99
    assert csp.eigenvalues_[0] > 0.8
    assert csp.eigenvalues_[1] < 0.2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_missing_directions_are_left_out(kind, classes, dtype):
    X, y, _ = recordings(classes=classes, dtype=dtype)
    X, rank = deficient(X, kind)
    csp = CSP(n_components=20).fit(X, y)
    assert csp.rank_ == rank < X.shape[1]
    assert csp.filters_.shape == csp.patterns_.shape == (rank, X.shape[1])
    features = csp.transform(X)
    assert features.dtype == dtype
    assert features.shape[1] == rank
    assert np.isfinite(features).all()
    np.testing.assert_allclose(csp.filters_ @ csp.patterns_.T, np.eye(rank), atol=1e-4)
    # no filter leans on what the data do not have
    covariances = [class_covariance(X.astype(float), y, i) for i in range(classes)]
    Q = np.linalg.svd(sum(covariances))[0][:, :rank]
    for rows in (csp.filters_, csp.patterns_):
        np.testing.assert_allclose(Q @ (Q.T @ rows.T), rows.T, atol=1e-4 * abs(rows).max())
    if classes == 2:
        A, D = (Q.T @ C @ Q for C in covariances)
        values = scipy.linalg.eigh(A, A + D, eigvals_only=True)
        np.testing.assert_allclose(np.sort(csp.eigenvalues_), values, atol=1e-8 if dtype == np.float64 else 1e-5)


def test_rank():
    X, y, _ = recordings()
    X, rank = deficient(X, "average reference")
    found = CSP(3).fit(X, y)
    for given_rank in (rank, {"mag": 2, "eeg": rank - 2}):
        np.testing.assert_allclose(CSP(3, rank=given_rank).fit(X, y).filters_, found.filters_, rtol=1e-9)
    # fewer: in the leading principal components
    few = CSP(3, rank=3).fit(X, y)
    Q = np.linalg.svd(class_covariance(X, y, 0) + class_covariance(X, y, 1))[0][:, :3]
    A, D = (Q.T @ class_covariance(X, y, i) @ Q for i in (0, 1))
    np.testing.assert_allclose(np.sort(few.eigenvalues_), scipy.linalg.eigh(A, A + D, eigvals_only=True), atol=1e-10)
    np.testing.assert_allclose(few.patterns_, np.linalg.pinv(few.filters_).T, atol=1e-9)
    for too_much in ("full", rank + 1):
        with pytest.raises(np.linalg.LinAlgError, match=r"linearly dependent.*leading minor.*rank=None"):
            CSP(rank=too_much).fit(X, y)
    with pytest.raises(np.linalg.LinAlgError, match="rank=None"):
        CSP(rank="full").fit(X, np.arange(40) % 3)
    ridged = CSP(rank="full", reg=1e-6).fit(X, y)
    assert ridged.filters_.shape == (rank + 1, rank + 1)
    np.testing.assert_allclose(ridged.eigenvalues_[:2], found.eigenvalues_[:2], atol=1e-4)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), decades=st.integers(1, 9), classes=st.integers(2, 3))
def test_units_of_channels_do_not_matter(seed, decades, classes):
    X, y = distinct_classes(12, classes=classes, seed=seed)
    X = deficient(X, "average reference")[0]
    units = 10.0 ** np.random.default_rng(seed).uniform(-decades, decades, X.shape[1])
    plain = CSP(n_components=3).fit(X, y)
    scaled = CSP(n_components=3).fit(units[:, None] * X, y)
    assert scaled.rank_ == plain.rank_
    np.testing.assert_allclose(scaled.transform(units[:, None] * X), plain.transform(X), atol=1e-4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    trials=st.integers(2, 6),
    channels=st.integers(1, 7),
    samples=st.integers(1, 4),
    classes=st.integers(2, 3),
    reg=st.sampled_from([None, 0.3, 1.0, "ledoit_wolf", "oas", "diagonal_fixed"]),
    cov_est=st.sampled_from(["concat", "epoch"]),
    log=st.sampled_from([None, False]),
)
def test_whatever_comes_in_numbers_come_out(seed, trials, channels, samples, classes, reg, cov_est, log):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (max(trials, classes), channels, samples)).astype(float)
    X[:, 0] += 1 + (X[:, 0] == -1)
    y = np.arange(len(X)) % classes
    csp = CSP(reg=reg, cov_est=cov_est, log=log)
    features = csp.fit_transform(X, y)
    assert features.shape == (len(X), min(4, csp.rank_))
    for array in (features, csp.filters_, csp.patterns_, csp.mean_, csp.std_):
        assert np.isfinite(array).all()


def test_weights_are_repetitions():
    X, y, _ = recordings(trials=10)
    weights = np.array([1, 2, 0, 3, 1, 1, 2, 0, 1, 4])
    for options in ({}, {"reg": "ledoit_wolf"}, {"reg": "oas", "cov_est": "epoch"}):
        weighted = CSP(**options).fit(X, y, sample_weight=weights)
        repeated = CSP(**options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        for name in ("filters_", "patterns_", "mean_", "std_"):
            np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-8, err_msg=name)


def test_silence_and_what_is_the_same():
    X, y, _ = recordings()
    X[3] = 0
    # the z-score of no power
    csp = CSP(log=False).fit(X, y)
    np.testing.assert_allclose(csp.transform(X)[3], -csp.mean_ / csp.std_)
    assert np.isfinite(CSP().fit(X, y).transform(X)).all()
    # two classes that are the same have nothing to find
    same = CSP().fit(np.concatenate([X, X]), np.repeat([0, 1], len(X)))
    np.testing.assert_allclose(same.eigenvalues_, 0.5, atol=1e-12)
    # one trial, twice: the power does not vary
    twice = CSP(log=False).fit(np.stack([X[0], X[0]]), [0, 1])
    np.testing.assert_allclose(twice.std_, 0, atol=1e-12)
    assert np.isfinite(twice.transform(X)).all()
    # a constant channel is one with an offset only
    X[:, 2] = 3.0
    assert np.isfinite(CSP().fit_transform(X, y)).all()


BAD = {
    "one class": (lambda X, y: (X, 0 * y), {}, "one class"),
    "NaN": (lambda X, y: (np.where(X > 2, np.nan, X), y), {}, "NaN"),
    "no samples": (lambda X, y: (X[:, :, :0], y), {}, "trials, channels, samples"),
    "no trials": (lambda X, y: (X[:0], y[:0]), {}, "0 sample"),
    "one trial": (lambda X, y: (X[:1], y[:1]), {}, "minimum of 2 is required"),
    "four axes": (lambda X, y: (X[..., None], y), {}, "trials, channels, samples"),
    "one axis": (lambda X, y: (X[:, 0, 0], y), {}, "Expected 2D array"),
    "mismatched": (lambda X, y: (X, y[:-1]), {}, "inconsistent numbers of samples"),
    "continuous y": (lambda X, y: (X, y + 0.5), {}, "Unknown label type"),
    "silent class": (lambda X, y: (X * (y == 0)[:, None, None], y), {}, "all trials of class 1 are zero"),
    "huge": (lambda X, y: (X * 1e200, y), {}, "rescale X"),
    "tiny": (lambda X, y: (X * 1e-200, y), {}, "rescale X"),
    "no filters": (lambda X, y: (X, y), {"n_components": 0}, "n_components is 0"),
    "too much": (lambda X, y: (X, y), {"reg": 1.5}, "reg is 1.5"),
    "no such reg": (lambda X, y: (X, y), {"reg": "shrunk"}, "reg is 'shrunk'; give None, a number"),
    "no such order": (lambda X, y: (X, y), {"component_order": "ends"}, "Invalid value for component_order"),
    "no such estimate": (lambda X, y: (X, y), {"cov_est": "trial"}, "Invalid value for cov_est"),
    "no such features": (lambda X, y: (X, y), {"transform_into": "power"}, "Invalid value for transform_into"),
    "no such rank": (lambda X, y: (X, y), {"rank": "info"}, "Invalid value for rank: 'info'"),
    "rank too large": (lambda X, y: (X, y), {"rank": 7}, "rank is 7; give a whole number from 1 to 6"),
    "three classes": (lambda X, y: (X, np.arange(8) % 3), {"component_order": "alternate"}, "use 'mutual_info'"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_refused(name):
    change, options, message = BAD[name]
    X, y, _ = recordings(trials=8)
    with pytest.raises(ValueError, match=message):
        CSP(**options).fit(*change(X, y))


@pytest.mark.parametrize(
    "options",
    [
        {"n_components": "4"},
        {"n_components": True},
        {"norm_trace": "no"},
        {"log": "yes"},
        {"transform_into": "csp_space", "log": False},
    ],
    ids=str,
)
def test_wrong_types(options):
    X, y, _ = recordings(trials=8)
    with pytest.raises(TypeError, match="must be an instance of"):
        CSP(**options).fit(X, y)


def test_weights_that_cannot_be_are_refused():
    X, y, _ = recordings(trials=8)
    with pytest.raises(ValueError, match="class 1 have sample_weight 0"):
        CSP().fit(X, y, sample_weight=(y == 0).astype(float))
    with pytest.raises(ValueError, match="zero for all rows"):
        CSP().fit(X, y, sample_weight=np.zeros(8))
    with pytest.raises(ValueError, match="egative"):
        CSP().fit(X, y, sample_weight=-np.ones(8))
    with pytest.raises(ValueError, match="4 features"):
        CSP().fit(X, y).transform(X[:, :4])


@pytest.mark.parametrize("kind", [CSP, SPoC])
def test_check_estimator(kind):
    """A 2-D X, one sample a trial, lets every check run; one is skipped unless SciPy's array API is on."""
    results = check_estimator(kind(), on_skip=None)
    assert len(results) > 50
    left = [each["check_name"] for each in results if each["status"] != "passed"]
    assert set(left) <= {"check_array_api_input"}


def test_trials_are_filtered_in_parts(monkeypatch):
    X, y, _ = recordings(trials=11, dtype=np.float32)
    at_once = [CSP(transform_into=kind).fit(X, y).transform(X) for kind in ("average_power", "csp_space")]
    assert all(each.dtype == np.float32 for each in at_once)
    monkeypatch.setattr("splitmerge.learn.csp.trials.BLOCK_ENTRIES", 3 * X[0].size)
    for kind, expected in zip(("average_power", "csp_space"), at_once, strict=True):
        np.testing.assert_allclose(CSP(transform_into=kind).fit(X, y).transform(X), expected, rtol=1e-6)


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
    search = GridSearchCV(model, {"csp__n_components": [2, 4], "csp__reg": [None, "oas"]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.9
    csp = CSP(n_components=3, reg=0.1).fit(X, y)
    assert clone(csp).get_params() == csp.get_params()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(csp)).transform(X), csp.transform(X))
    assert list(csp.get_feature_names_out()) == ["csp0", "csp1", "csp2"]


def test_plots_need_mne(monkeypatch):
    X, y, _ = recordings(trials=8)
    csp = CSP().fit(X, y)
    monkeypatch.setitem(sys.modules, "mne.decoding", None)
    with pytest.raises(ImportError, match=r"CSP\.plot_patterns needs mne, which is not installed; pip install mne"):
        csp.plot_patterns(None)
