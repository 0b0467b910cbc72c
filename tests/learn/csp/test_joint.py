"""Joint diagonalisation: of matrices that have a common diagonaliser, and of those that have none."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from recordings import distinct_classes
from splitmerge.learn import CSP
from splitmerge.learn.csp import joint
from splitmerge.learn.csp.decomposition import _by_information
from splitmerge.learn.csp.joint import joint_diagonaliser


def criterion(V, C):
    """Pham's: zero for a diagonaliser."""
    D = V @ C @ V.T
    return np.mean([np.log(each.diagonal()).sum() - np.linalg.slogdet(each)[1] for each in D])


def matrices(n, count, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((n, n))
    C = np.array([mixing @ np.diag(rng.uniform(1, 9, n)) @ mixing.T for _ in range(count)])
    disturbances = rng.standard_normal((count, n, 3 * n))
    return C + noise * disturbances @ disturbances.transpose(0, 2, 1), mixing


@pytest.mark.parametrize(("n", "count"), [(1, 3), (2, 3), (5, 3), (12, 4), (20, 8)])
def test_a_common_diagonaliser_is_found(n, count):
    C, mixing = matrices(n, count)
    product = np.abs(joint_diagonaliser(C) @ mixing)
    product /= product.max(axis=1, keepdims=True)
    # a permutation
    np.testing.assert_allclose(np.sort(product, axis=1)[:, :-1], 0, atol=1e-8)
    np.testing.assert_array_equal(np.sort(product.argmax(axis=1)), np.arange(n))


@pytest.mark.parametrize("seed", range(4))
def test_otherwise_it_is_a_minimum(seed):
    C, _ = matrices(6, 4, seed, noise=0.5)
    V = joint_diagonaliser(C)
    least = criterion(V, C)
    assert 1e-3 < least < criterion(np.eye(6), C)
    D = V @ C @ V.T
    gradient = np.mean(D / D.diagonal(axis1=1, axis2=2)[:, :, None], axis=0) - np.eye(6)
    np.testing.assert_allclose(gradient, 0, atol=1e-8)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        assert criterion((np.eye(6) + 1e-3 * rng.standard_normal((6, 6))) @ V, C) > least


def test_it_does_not_depend_on_coordinates():
    C, _ = matrices(6, 4, noise=0.2)
    V = joint_diagonaliser(C)
    T = np.random.default_rng(1).standard_normal((6, 6))
    other = joint_diagonaliser(T @ C @ T.T) @ T
    overlap = np.abs(other @ np.linalg.inv(V))
    overlap /= overlap.max(axis=1, keepdims=True)
    np.testing.assert_allclose(np.sort(overlap, axis=1)[:, :-1], 0, atol=1e-6)


def test_too_few_steps_are_told(monkeypatch):
    monkeypatch.setattr(joint, "MAX_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        joint_diagonaliser(matrices(6, 4, noise=0.5)[0])


def mutual_information(powers, weights):
    return -weights @ np.log(powers) / 2 - 3 / 16 * (weights @ (powers**2 - 1)) ** 2


@pytest.mark.parametrize("cov_est", ["concat", "epoch"])
def test_csp_orders_by_mutual_information(cov_est):
    X, y = distinct_classes()
    # fewer trials of class 2
    X, y = X[:50], np.where(np.arange(50) < 30, y[:50], y[:50] % 2)
    csp = CSP(cov_est=cov_est).fit(X, y)
    assert csp.eigenvalues_ is None
    assert list(csp.classes_) == [0, 1, 2]
    counts = np.bincount(y)
    weights = counts / 50 if cov_est == "epoch" else np.ones(3) / 3
    degrees = [80 / 79 if cov_est == "epoch" else 80 * n / (80 * n - 1) for n in counts]
    powers = np.array([np.mean((csp.filters_ @ X[y == i]) ** 2, axis=(0, 2)) * degrees[i] for i in range(3)])
    np.testing.assert_allclose(weights @ powers, 1, rtol=1e-9)
    found = mutual_information(powers, weights)
    assert (np.diff(found) < 0).all()
    np.testing.assert_allclose(csp.patterns_, np.linalg.inv(csp.filters_).T, rtol=1e-7, atol=1e-10)


def test_the_fourth_moments_can_decide_the_order():
    powers, weights = np.array([[2.4, 2.2, 1.8], [0.3, 0.4, 0.6], [0.3, 0.4, 0.6]]), np.ones(3) / 3
    expected = np.argsort(-mutual_information(powers, weights))
    assert list(expected) == list(_by_information(powers, weights)) == [1, 0, 2]
    # not so without them
    assert list(np.argsort(weights @ np.log(powers))) == [0, 1, 2]


def test_classes_in_spaces_of_their_own_have_one_basis():
    """Singular covariances, with equal powers: the filters do not depend on rounding."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((9, 30)), np.array([0, 1, 1, 1, 2, 2, 2, 2, 2])
    csp = CSP(9).fit(X, y)
    assert csp.rank_ == 9
    order = rng.permutation(9)
    again = CSP(9).fit(X[order], y[order])
    np.testing.assert_allclose(again.filters_, csp.filters_, atol=1e-9)
    # each filter hears one class only
    heard = np.array([np.mean((X[y == i] @ csp.filters_.T) ** 2, axis=0) for i in range(3)])
    assert (np.sort(heard, axis=0)[:2] < 1e-20).all()
