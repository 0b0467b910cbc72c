"""Covariances of frames: as they are defined, and of matrices that are not Toeplitz."""

import numpy as np
import pytest
import scipy.linalg

from splitmerge.learn import harmonic_retrieval
from splitmerge.learn.harmonic import frames

RNG = np.random.default_rng(0)
REAL = RNG.standard_normal(50)
RECORDS = {"real": REAL, "complex": REAL + 1j * RNG.standard_normal(50)}


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("m", [1, 4, 50])
def test_covariance_is_the_mean_over_frames_in_both_directions(name, m):
    x = RECORDS[name]
    both = [x[i : i + m] for i in range(x.size - m + 1)]
    both += [frame[::-1].conj() for frame in both]
    expected = np.mean([np.outer(frame, frame.conj()) for frame in both], axis=0)
    found = frames.covariance(x, m)
    np.testing.assert_allclose(found, expected, atol=1e-13)
    # persymmetric, which no mean over one direction is
    np.testing.assert_allclose(found[::-1, ::-1].conj(), found, atol=1e-14)


def test_covariance_of_a_periodic_record_is_toeplitz():
    """Over whole periods, so that every lag has the same mean."""
    x = np.cos(2 * np.pi * np.arange(8 + 7) / 8)
    found = frames.covariance(x, 8)
    np.testing.assert_allclose(found, scipy.linalg.toeplitz(found[0]), atol=1e-14)


def uneven(n):
    """A covariance whose leading blocks differ from all others."""
    return np.diag(0.4 * np.arange(n)) + scipy.linalg.toeplitz(0.5 ** np.arange(n))


@pytest.mark.parametrize("method", ["music", "esprit", "pisarenko"])
def test_the_leading_block_of_a_noise_matrix_is_used(method):
    t = np.arange(120)
    x = np.cos(2 * np.pi * 0.21 * t) + 0.3 * RNG.standard_normal(120)
    order = None if method == "pisarenko" else 20
    whole = harmonic_retrieval(x, 1, noise=uneven(80), order=order, method=method)
    block = harmonic_retrieval(x, 1, noise=uneven(80)[: whole.order, : whole.order], order=order, method=method)
    np.testing.assert_allclose(whole.eigenvalues, block.eigenvalues, rtol=1e-10)
    np.testing.assert_allclose(whole.frequencies, block.frequencies, rtol=1e-10)
    R = frames.covariance(x, whole.order)
    expected = scipy.linalg.eigh(R, uneven(whole.order), eigvals_only=True)[::-1]
    np.testing.assert_allclose(whole.eigenvalues, expected, rtol=1e-8)


def test_given_covariance_is_made_hermitian_and_nothing_else():
    N = uneven(5)
    N[0, 1] *= 1 + 1e-10
    found = frames.given_covariance(N)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found, uneven(5), rtol=1e-9)
    N[0, 1] *= 1.01
    with pytest.raises(ValueError, match="not Hermitian"):
        frames.given_covariance(N)
