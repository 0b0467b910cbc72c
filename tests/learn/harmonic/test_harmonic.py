"""Frequencies in noise: exact without it, whatever the scale; close ones in coloured noise, where whiteness fails."""

import dataclasses
import pickle

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from splitmerge import NotPositiveDefinite
from splitmerge.learn import harmonic_retrieval
from splitmerge.learn.harmonic.frames import covariance
from splitmerge.learn.harmonic.harmonic import METHODS
from splitmerge.problem.b_policy import mend

RHO, SAMPLES = 0.98, 128
# half the resolution of a Fourier transform apart, where the noise is weak
CLOSE = np.array([0.3, 0.3 + 0.5 / SAMPLES])


def coloured(samples, rng, rho=RHO):
    """An AR(1) process: its power at frequency 0 is ((1 + ρ)/(1 − ρ))² times that at ½."""
    return lfilter([1.0], [1.0, -rho], rng.standard_normal(samples + 1000))[1000:]


def close_pair(seed, level=0.2, noise_samples=4096):
    """Two cosines in coloured noise, and a record of noise alone."""
    rng = np.random.default_rng(seed)
    t = np.arange(SAMPLES)
    clean = np.cos(2 * np.pi * CLOSE[0] * t) + np.cos(2 * np.pi * CLOSE[1] * t + 1)
    return clean + level * coloured(SAMPLES, rng), level * coloured(noise_samples, rng)


def found_both(result):
    return np.abs(result.frequencies - CLOSE).max() < (CLOSE[1] - CLOSE[0]) / 3


@pytest.mark.parametrize("method", ["music", "esprit"])
def test_the_pair_finds_two_close_lines_where_white_noise_is_a_wrong_guess(method):
    records = [close_pair(seed) for seed in range(10)]
    with_noise = [found_both(harmonic_retrieval(x, 2, noise=noise, method=method)) for x, noise in records]
    without = [found_both(harmonic_retrieval(x, 2, method=method)) for x, _ in records]
    assert sum(with_noise) >= 9
    assert sum(without) <= 1


def least_variance(frequency, phase, covariance):
    """Cramér and Rao's bound for the frequency of one cosine whose amplitude and phase are unknown, too."""
    t = np.arange(covariance.shape[0])
    angle = 2 * np.pi * frequency * t + phase
    slopes = np.stack([-2 * np.pi * t * np.sin(angle), np.cos(angle), -np.sin(angle)], axis=1)
    return np.linalg.inv(slopes.T @ np.linalg.solve(covariance, slopes))[0, 0]


@pytest.mark.parametrize("method", ["music", "esprit"])
def test_no_unbiased_estimate_could_be_much_better(method):
    level, frequency, phase = 0.3, 0.3, 1.0
    N = level**2 / (1 - RHO**2) * scipy.linalg.toeplitz(RHO ** np.arange(float(SAMPLES)))
    clean = np.cos(2 * np.pi * frequency * np.arange(SAMPLES) + phase)
    records = [clean + level * coloured(SAMPLES, np.random.default_rng(seed)) for seed in range(50)]
    found = [harmonic_retrieval(x, 1, noise=N, method=method).frequencies[0] for x in records]
    ratio = np.mean((np.array(found) - frequency) ** 2) / least_variance(frequency, phase, N)
    assert 0.5 < ratio < 2


def test_a_covariance_does_what_a_record_does():
    x, _ = close_pair(0)
    N = scipy.linalg.toeplitz(RHO ** np.arange(90.0))
    result = harmonic_retrieval(x, 2, noise=N)
    assert found_both(result)
    assert result.order == SAMPLES // 2
    np.testing.assert_allclose(np.abs(result.amplitudes), 1, atol=0.2)
    # the scale of the noise is found, not needed: 0.2²/(1 − ρ²)
    assert 0.3 < result.noise_power / (0.04 / (1 - RHO**2)) < 3
    again = harmonic_retrieval(x, 2, noise=1e6 * N)
    np.testing.assert_allclose(again.frequencies, result.frequencies, atol=1e-9)
    np.testing.assert_allclose(again.noise_power, 1e-6 * result.noise_power, rtol=1e-6)


def test_the_eigenvalues_are_those_of_the_pair():
    x, noise = close_pair(1)
    result = harmonic_retrieval(x, 2, noise=noise, order=20)

    def covariance(z):
        frames = np.array([z[i : i + 20] for i in range(z.size - 19)])
        R = frames.T @ frames / len(frames)
        return (R + R[::-1, ::-1]) / 2

    values = scipy.linalg.eigh(covariance(x), covariance(noise), eigvals_only=True)[::-1]
    np.testing.assert_allclose(result.eigenvalues, values, rtol=1e-8)
    np.testing.assert_allclose(result.noise_power, values[4:].mean(), rtol=1e-8)


@settings(max_examples=40, deadline=None)
@given(data=st.data(), seed=st.integers(0, 10_000), method=st.sampled_from(METHODS), is_complex=st.booleans())
def test_without_noise_the_frequencies_are_exact(data, seed, method, is_complex):
    count = data.draw(st.integers(1, 3))
    scale = 10.0 ** data.draw(st.integers(-100, 100))
    fs = 10.0 ** data.draw(st.integers(-3, 6))
    rng = np.random.default_rng(seed)
    # apart by 0.06 at least, and as far from 0 and ½
    places = rng.permutation(7)[:count]
    turns = np.sort(0.05 + 0.06 * places + rng.uniform(-1e-3, 1e-3, count))
    if is_complex:
        turns = np.sort(turns * rng.choice([-1, 1], count))
    amplitudes = rng.uniform(0.5, 2, count) * np.exp(2j * np.pi * rng.uniform(size=count))
    x = np.exp(2j * np.pi * np.outer(np.arange(70), turns)) @ amplitudes
    result = harmonic_retrieval(scale * (x if is_complex else x.real), count, method=method, fs=fs)
    atol = 1e-4 if method == "pisarenko" else 1e-7
    np.testing.assert_allclose(result.frequencies / fs, turns, atol=atol)
    np.testing.assert_allclose(result.amplitudes / scale, amplitudes, atol=200 * atol)
    half = 1 if is_complex else 0.5
    np.testing.assert_allclose(result.powers / scale**2, half * np.abs(amplitudes) ** 2, atol=500 * atol)
    at_lines = result.spectrum(result.frequencies)
    assert (at_lines > 1e3 * np.median(result.spectrum(fs * np.linspace(-0.5, 0.5, 99)))).all()


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    method=st.sampled_from(METHODS),
    count=st.integers(1, 4),
    kind=st.sampled_from(["noise", "constant", "alternating", "integers", "complex"]),
)
def test_whatever_comes_in_as_many_numbers_come_out(seed, method, count, kind):
    rng = np.random.default_rng(seed)
    x = {
        "noise": rng.standard_normal(40),
        "constant": np.ones(40),
        "alternating": (-1.0) ** np.arange(40),
        "integers": rng.integers(-1, 2, 40) + np.eye(40, dtype=int)[0] * 5,
        "complex": rng.standard_normal(40) + 1j * rng.standard_normal(40),
    }[kind]
    result = harmonic_retrieval(x, count, method=method)
    low = -0.5 if kind == "complex" else 0.0
    assert result.frequencies.shape == result.amplitudes.shape == (count,)
    assert (result.frequencies >= low).all()
    assert (result.frequencies <= 0.5).all()
    assert np.isfinite(result.amplitudes).all()
    assert np.isfinite(result.spectrum(np.linspace(0, 0.5, 50))).all()


def test_a_record_without_lines_says_so():
    with pytest.raises(ValueError, match="only 0 frequencies were found in x"):
        harmonic_retrieval(np.eye(40)[11], 1, method="pisarenko")


def test_long_records_are_taken_in_parts(monkeypatch):
    x, noise = close_pair(3)
    at_once = harmonic_retrieval(x, 2, noise=noise)
    monkeypatch.setattr("splitmerge.learn.harmonic.frames.BLOCK_FRAMES", 7)
    in_parts = harmonic_retrieval(x, 2, noise=noise)
    np.testing.assert_allclose(in_parts.frequencies, at_once.frequencies, atol=1e-9)
    np.testing.assert_allclose(in_parts.eigenvalues, at_once.eigenvalues, rtol=1e-9)


def test_a_mean_is_a_line_at_zero():
    t = np.arange(60)
    result = harmonic_retrieval(3 + np.cos(2 * np.pi * 0.2 * t), 2)
    np.testing.assert_allclose(result.frequencies, [0, 0.2], atol=1e-6)
    np.testing.assert_allclose(result.amplitudes, [3, 1], atol=1e-4)


def test_a_singular_noise_is_left_to_the_policy():
    x, noise = close_pair(2)
    short = noise[:60]
    with pytest.raises(NotPositiveDefinite, match="covariance of noise is singular"):
        harmonic_retrieval(x, 2, noise=short, order=50)
    # half of it, unasked, is regular
    assert harmonic_retrieval(x, 2, noise=short).order == 30
    restricted = harmonic_retrieval(x, 2, noise=short, order=50, b_policy="restrict")
    assert restricted.eigenvalues.size == 22
    ridged = harmonic_retrieval(x, 2, noise=short, order=50, b_policy="ridge")
    assert ridged.eigenvalues.size == 50
    for result in (restricted, ridged):
        assert np.isfinite(result.frequencies).all()
    esprit = harmonic_retrieval(x, 2, noise=short, order=50, b_policy="restrict", method="esprit")
    assert np.isfinite(esprit.frequencies).all()
    # a band without noise shows the lines in it exactly
    t = np.arange(60)
    band = scipy.linalg.toeplitz(np.cos(2 * np.pi * 0.1 * t) + np.cos(2 * np.pi * 0.13 * t) + 1)
    with pytest.raises(ValueError, match="has rank 5, but it must exceed 6"):
        harmonic_retrieval(x, 3, noise=band, order=30, b_policy="restrict")


BAD = {
    "NaN": (np.array([1.0, np.nan] * 20), 1, {}, "x contains NaN"),
    "text": (np.array(["a"] * 20), 1, {}, "give real or complex numbers"),
    "two axes": (np.ones((4, 20)), 1, {}, "x has shape"),
    "zero": (np.zeros(20), 1, {}, "x is zero"),
    "huge": (np.full(20, 1e200), 1, {}, "rescale x"),
    "short": (np.ones(4), 2, {}, "x has 4 samples, too few for n_frequencies; give at least 7"),
    "no lines": (np.ones(20), 0, {}, "n_frequencies is 0"),
    "too many": (np.ones(20), 10, {}, "too few for n_frequencies"),
    "half a line": (np.ones(20), 1.5, {}, "n_frequencies is 1.5"),
    "method": (np.ones(20), 1, {"method": "fft"}, "method is 'fft'"),
    "policy": (np.ones(20), 1, {"b_policy": "drop"}, "b_policy is 'drop'"),
    "fs": (np.ones(20), 1, {"fs": 0.0}, "fs is 0.0"),
    "order": (np.ones(20), 1, {"order": 2}, "order is 2; give a whole number from 3 to 20"),
    "long order": (np.ones(20), 1, {"order": 21}, "order is 21"),
    "pisarenko's order": (np.ones(20), 1, {"order": 5, "method": "pisarenko"}, "method='pisarenko' needs 3"),
    "short noise": (np.ones(20), 1, {"noise": np.ones(2)}, "noise has 2 samples"),
    "noise NaN": (np.ones(20), 1, {"noise": np.full(9, np.nan)}, "noise contains NaN"),
    "noise not square": (np.ones(20), 1, {"noise": np.ones((3, 4))}, "square covariance"),
    "noise not Hermitian": (np.ones(20), 1, {"noise": np.triu(np.ones((4, 4)))}, "not Hermitian"),
    "complex noise": (np.ones(20), 1, {"noise": 1j * np.ones(9)}, "noise is complex but x is real"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_refused(name):
    x, count, options, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        harmonic_retrieval(x, count, **options)


def test_the_computation_is_described():
    x, noise = close_pair(0)
    told = "music on 65 frames of 64 samples, signal dimension 4, "
    assert harmonic_retrieval(x, 2).why == told + "white noise."
    described = harmonic_retrieval(x, 2, noise=noise).why
    assert described == told + "noise with the covariance of a record of 4096 samples."
    report = mend(np.eye(50), covariance(noise[:60], 50), "restrict").report
    assert str(report) in harmonic_retrieval(x, 2, noise=noise[:60], order=50, b_policy="restrict").why


def test_the_result_is_frozen_and_pickles():
    x, noise = close_pair(0)
    result = harmonic_retrieval(x, 2, noise=noise)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.order = 3
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(again.frequencies, result.frequencies)
    assert "polynomial" not in repr(result)
    before = x.copy()
    harmonic_retrieval(x, 2, noise=noise)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("fs", [1.0, 0.01, 250.0, 44_100.0])
@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("method", ["music", "esprit"])
def test_powers_are_mean_squares_at_every_frequency(method, is_complex, fs):
    """Also at 0 and at half the sampling frequency, which in a real record are no pairs of frequencies."""
    t = np.arange(80)
    middle = np.exp(2j * np.pi * 0.2 * t)
    parts = np.array([np.full(80, 3.0), 2 * (middle if is_complex else middle.real), 1.5 * (-1.0) ** t])
    found = harmonic_retrieval(parts.sum(axis=0), 3, method=method, fs=fs)
    turns = np.abs(found.frequencies / fs)
    order = np.argsort(turns)
    np.testing.assert_allclose(turns[order], [0, 0.2, 0.5], atol=1e-7)
    np.testing.assert_allclose(found.powers[order], np.mean(np.abs(parts) ** 2, axis=1), rtol=1e-5)


def test_extended_precision_and_noise_without_content():
    x = np.cos(0.7 * np.arange(60)) + 0.1 * np.sin(np.arange(60) ** 2)
    expected = harmonic_retrieval(x, 1)
    for method in ("music", "esprit", "pisarenko"):
        assert np.isfinite(harmonic_retrieval(x.astype(np.longdouble), 1, method=method).frequencies).all()
    np.testing.assert_array_equal(harmonic_retrieval(x.astype(np.longdouble), 1).frequencies, expected.frequencies)
    with pytest.raises(ValueError, match="noise has rows of different lengths"):
        harmonic_retrieval(x, 1, noise=[[1.0, 2.0], [3.0]])
    with pytest.raises(NotPositiveDefinite, match="give other noise"):
        harmonic_retrieval(x, 2, noise=np.ones(200), b_policy="ridge")
