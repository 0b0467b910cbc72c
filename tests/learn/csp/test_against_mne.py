"""CSP and SPoC beside MNE's on simulated epochs: the same filters, patterns, features, shapes and pictures."""

import numpy as np
import pytest

from covering import cover
from recordings import comodulated, deficient, distinct_classes, recordings, same_up_to_sign
from splitmerge.learn import CSP, SPoC

mne = pytest.importorskip("mne", reason="MNE is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

REGS = [None, "empirical", 0.2, 0, 0.9, "oas", "ledoit_wolf", "diagonal_fixed"]
CASES = [
    {"reg": reg, "cov_est": cov_est, "norm_trace": norm_trace, "component_order": order}
    for reg in REGS
    for cov_est in ("concat", "epoch")
    for norm_trace in (False, True)
    for order in ("mutual_info", "alternate")
]
FEATURES = [{}, {"log": True}, {"log": False}, {"transform_into": "csp_space"}]


@pytest.fixture(autouse=True)
def quiet():
    with mne.utils.use_log_level("ERROR"):
        yield


def epochs(X, y):
    """MNE's object of the trials."""
    info = mne.create_info(X.shape[1], 100.0, "mag")
    events = np.column_stack([100 * np.arange(len(y)), np.zeros(len(y), int), y])
    return mne.EpochsArray(X, info, events, verbose="error")


def same(ours, theirs, X, tol=1e-9):
    same_up_to_sign(ours.filters_, theirs.filters_, tol)
    same_up_to_sign(ours.patterns_, theirs.patterns_, tol)
    for a, b in ((ours.mean_, theirs.mean_), (ours.std_, theirs.std_), (ours.transform(X), theirs.transform(X))):
        a, b = (np.abs(each) if each.ndim == 3 else each for each in (a, b))
        np.testing.assert_allclose(a, b, rtol=0, atol=10 * tol * np.abs(b).max())
    assert ours.transform(X).shape == theirs.transform(X).shape


@pytest.mark.parametrize("case", [CASES[i] for i in cover([{k: str(v) for k, v in each.items()} for each in CASES])])
def test_two_classes(case):
    X, y, _ = recordings(trials=21)
    X[:5] *= 3
    ours, theirs = CSP(3, **case).fit(X, y), mne.decoding.CSP(3, **case).fit(X, y)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.evals_, atol=1e-10)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    same(ours, theirs, X)
    same(CSP(3, **case, rank="full").fit(X, y), theirs, X)


# MNE 1.13 counts one direction twice when it estimates a shrinkage of data with a null space: not compared here
@pytest.mark.parametrize("reg", [None, 0.2, "diagonal_fixed"])
@pytest.mark.parametrize("rank", [None, {"mag": 5}], ids=str)
def test_data_with_a_null_space(rank, reg):
    X, y, _ = recordings(trials=20)
    X, _ = deficient(X, "average reference")
    ours, theirs = CSP(3, reg, rank=rank).fit(X, y), mne.decoding.CSP(3, reg, rank=rank).fit(X, y)
    assert ours.filters_.shape == theirs.filters_.shape == (5, 6)
    same(ours, theirs, X, 1e-8)


@pytest.mark.parametrize("features", FEATURES, ids=str)
def test_features_and_epochs(features):
    X, y, _ = recordings(trials=20)
    ours, theirs = CSP(2, **features), mne.decoding.CSP(2, **features)
    same(ours.fit(epochs(X, y), y), theirs.fit(epochs(X, y), y), epochs(X, y))
    if "transform_into" not in features:
        values = theirs.transform(X)
        signs = np.sign(np.sum(ours.patterns_ * theirs.patterns_, axis=1))[:2]
        np.testing.assert_allclose(signs * ours.inverse_transform(values), theirs.inverse_transform(values), rtol=1e-7)


@pytest.mark.parametrize("cov_est", ["concat", "epoch"])
@pytest.mark.parametrize("reg", [None, 0.1, "oas"])
def test_more_classes(reg, cov_est, monkeypatch):
    """MNE's joint diagonalisation stops at four digits; with more sweeps, it finds the same filters."""
    X, y = distinct_classes(61)
    pham = mne.decoding.csp._ajd_pham
    same(CSP(3, reg, cov_est=cov_est).fit(X, y), mne.decoding.CSP(3, reg, cov_est=cov_est).fit(X, y), X, 1e-2)
    monkeypatch.setattr(mne.decoding.csp, "_ajd_pham", lambda C: pham(C, eps=1e-18, max_iter=200))
    same(CSP(3, reg, cov_est=cov_est).fit(X, y), mne.decoding.CSP(3, reg, cov_est=cov_est).fit(X, y), X, 1e-6)


@pytest.mark.parametrize("reg", REGS)
def test_spoc(reg):
    X, y, _ = comodulated(trials=20)
    same(SPoC(3, reg).fit(X, y), mne.decoding.SPoC(3, reg).fit(X, y), X)


@pytest.mark.parametrize("features", FEATURES, ids=str)
def test_spocs_features(features):
    X, y, _ = comodulated(trials=20)
    same(SPoC(2, **features).fit(X, y), mne.decoding.SPoC(2, **features).fit(X, y), X)


@pytest.mark.parametrize("kind", [CSP, SPoC])
def test_pictures(kind):
    X, y, _ = recordings(trials=20)
    info = mne.create_info(["Fz", "C3", "Cz", "C4", "Pz", "Oz"], 100.0, "eeg").set_montage("standard_1020")
    model = kind(2).fit(X, y)
    for draw in (model.plot_patterns, model.plot_filters):
        figure = draw(info, components=[0, 1], res=8, show=False)
        titles = [axes.get_title() for axes in figure.axes]
        assert [title for title in titles if title.startswith(kind.__name__)] == [f"{kind.__name__}{i}" for i in (0, 1)]


def test_every_option_of_theirs_is_ours_or_named_in_the_guide():
    """The guide says which of MNE's options we have not."""
    for ours, theirs in ((CSP, mne.decoding.CSP), (SPoC, mne.decoding.SPoC)):
        missing = set(theirs().get_params()) - set(ours().get_params())
        assert missing == {"cov_method_params", "info", "restr_type"}
