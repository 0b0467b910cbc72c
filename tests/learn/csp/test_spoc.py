"""Source power comodulation: a dense eigh, and sources whose power follows the target."""

import numpy as np
import pytest
import scipy.linalg

from recordings import comodulated, deficient, same_up_to_sign
from splitmerge.learn import SPoC


def pair(X, y):
    """The mean of the covariances of the trials, and that with the standardised target."""
    C = X @ X.transpose(0, 2, 1) / (X.shape[2] - 1)
    z = (y - y.mean()) / y.std()
    return np.mean(z[:, None, None] * C, axis=0), C.mean(axis=0)


def test_it_is_the_dense_eigh():
    X, y, mixing = comodulated()
    A, B = pair(X, y)
    values, vectors = scipy.linalg.eigh(A, B)
    order = np.argsort(-np.abs(values))
    spoc = SPoC(3).fit(X, y)
    np.testing.assert_allclose(spoc.eigenvalues_, values[order], atol=1e-10)
    same_up_to_sign(spoc.filters_, vectors.T[order], 1e-9)
    np.testing.assert_allclose(spoc.patterns_, np.linalg.inv(spoc.filters_).T, atol=1e-9)
    powers = np.mean((spoc.filters_[:3] @ X) ** 2, axis=2)
    np.testing.assert_allclose(spoc.transform(X), np.log(powers), rtol=1e-10)
    np.testing.assert_allclose([spoc.mean_, spoc.std_], [powers.mean(axis=0), powers.std(axis=0)], rtol=1e-10)
    # the source is found, and λ is the covariance of its power and the target
    assert abs(np.corrcoef(spoc.patterns_[0], mixing[:, 0])[0, 1]) > 0.99
    assert np.corrcoef(powers[:, 0], y)[0, 1] > 0.9
    z = (y - y.mean()) / y.std()
    np.testing.assert_allclose(np.mean(z[:, None] * powers, axis=0) * 80 / 79, spoc.eigenvalues_[:3], atol=1e-10)


def test_features_and_options():
    X, y, _ = comodulated(trials=30)
    X, rank = deficient(X, "average reference")
    spoc = SPoC(9, log=False).fit(X, y)
    assert spoc.rank_ == rank == spoc.transform(X).shape[1]
    np.testing.assert_allclose(spoc.transform(X).std(axis=0), 1)
    assert SPoC(2, transform_into="csp_space").fit(X, y).transform(X).shape == (30, 2, 80)
    assert SPoC(2).fit(X.astype(np.float32), y).transform(X.astype(np.float32)).dtype == np.float32
    flat = SPoC(2, reg=1.0).fit(X, y)
    np.testing.assert_allclose(np.ptp(flat.eigenvalues_), 0, atol=1e-10)
    np.testing.assert_allclose(SPoC(2).fit(X, 5 - 3 * y).filters_, SPoC(2).fit(X, y).filters_, rtol=1e-6)
    with pytest.raises(np.linalg.LinAlgError, match="rank=None"):
        SPoC(rank="full").fit(X, y)
    with pytest.raises(TypeError, match="cov_est"):
        SPoC(cov_est="epoch")


def test_weights_are_repetitions():
    X, y, _ = comodulated(trials=10)
    weights = np.array([1, 2, 0, 3, 1, 1, 2, 0, 1, 4])
    for reg in (None, "oas"):
        weighted = SPoC(reg=reg).fit(X, y, sample_weight=weights)
        repeated = SPoC(reg=reg).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        for name in ("eigenvalues_", "filters_", "patterns_", "mean_", "std_"):
            np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-7, err_msg=name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, 0 * y + 7.3), "y is constant"),
        (lambda X, y: (X, np.array(["a", "b"] * 5)), "give numbers, or use CSP"),
        (lambda X, y: (X, np.where(y > 10, np.nan, y)), "y contains NaN"),
        (lambda X, y: (0 * X, y), "all trials of X are zero"),
        (lambda X, y: (np.where(X > 5, np.inf, X), y), "infinity"),
        (lambda X, y: (X[:, :, :0], y), "trials, channels, samples"),
        (lambda X, y: (X[:1], y[:1]), "minimum of 2"),
        (lambda X, y: (X, np.c_[y, y]), "1d array"),
    ],
    ids=["constant", "text", "NaN", "silence", "infinity", "no samples", "one trial", "two targets"],
)
def test_what_cannot_be_is_refused(change, message):
    X, y, _ = comodulated(trials=10)
    with pytest.raises(ValueError, match=message):
        SPoC().fit(*change(X, y))
