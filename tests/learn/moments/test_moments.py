"""Sums that add up: in any order, about any mean, for any kind of rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from splitmerge.learn.moments import grouped
from splitmerge.learn.moments.grouped import Grouped
from splitmerge.learn.moments.moments import Moments


def data(seed, rows=40, columns=5, groups=3, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns)) @ rng.standard_normal((columns, columns)) + offset
    return X, rng.integers(0, groups, rows), rng.uniform(0.1, 3.0, rows)


def by_hand(X, members, weights, groups):
    """Means and scatter of each group."""
    means = np.stack([np.average(X[members == g], axis=0, weights=weights[members == g]) for g in range(groups)])
    Z = X - means[members]
    return means, np.stack([(Z * (weights * (members == g))[:, None]).T @ Z for g in range(groups)])


def assert_upper(found, expected, tol=1e-12):
    np.testing.assert_allclose(np.triu(found), np.triu(expected), atol=tol * np.abs(expected).max())


@pytest.mark.parametrize("separate", [False, True])
def test_they_are_what_they_say(separate):
    X, members, weights = data(0)
    sums = Moments(3, 5, separate=separate).add(X, members, weights)
    means, scatter = by_hand(X, members, weights, 3)
    np.testing.assert_allclose(sums.means, means)
    np.testing.assert_allclose(sums.mean, np.average(X, axis=0, weights=weights))
    np.testing.assert_allclose(sums.weights, np.bincount(members, weights))
    assert_upper(sums.within(), scatter.sum(axis=0) / weights.sum())
    if separate:
        shares = np.array([0.5, 0.3, 0.2])
        expected = sum(shares[g] / sums.weights[g] * scatter[g] for g in range(3))
        assert_upper(sums.within(shares), expected)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.lists(st.integers(0, 40), max_size=5),
    st.booleans(),
    st.sampled_from([0.0, 1e6]),
)
def test_any_split_gives_the_same(seed, cuts, separate, offset):
    X, members, weights = data(seed, offset=offset)
    whole = Moments(3, 5, separate=separate).add(X, members, weights)
    parts, merged = Moments(3, 5, separate=separate), Moments(3, 5, separate=separate)
    for rows in np.split(np.arange(40), sorted(cuts)):
        if rows.size:
            parts.add(X[rows], members[rows], weights[rows])
            merged.merge(Moments(3, 5, separate=separate).add(X[rows], members[rows], weights[rows]))
    for other in (parts, merged):
        np.testing.assert_allclose(other.means, whole.means, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(other.rows, whole.rows)
        for mine, its in zip(other.scatter, whole.scatter, strict=True):
            # an offset of a million costs its digits in the differences of X itself, and none in the squares
            assert_upper(mine, its, 1e-8 if offset else 1e-12)


def test_a_far_mean_costs_no_digits():
    X, members, _ = data(1)
    near = Moments(3, 5).add(X, members)
    far = Moments(3, 5)
    for first in range(0, 40, 7):
        far.add(X[first : first + 7] + 2.0**26, members[first : first + 7])
    assert_upper(far.scatter[0], near.scatter[0], 1e-6)


def test_merging_leaves_the_other_alone():
    X, members, weights = data(2)
    one, other = Moments(3, 5).add(X, members, weights), Moments(3, 5).add(X, members, weights)
    before = other.scatter[0].copy(), other.means.copy()
    one.merge(other).add(X, members, weights)
    np.testing.assert_array_equal(other.scatter[0], before[0])
    np.testing.assert_array_equal(other.means, before[1])


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_of_any_kind(kind, dtype, monkeypatch):
    # blocks of a few rows, and of a few columns
    monkeypatch.setattr(grouped, "BLOCK_ENTRIES", 37)
    X, members, weights = data(3)
    X = X.astype(dtype)
    given_X = kind(X)
    rows = Grouped(given_X, members, 3, weights)
    means, scatter = by_hand(X.astype(np.float64), members, weights, 3)
    Z = np.sqrt(weights)[:, None] * (X - means[members])
    scale = np.arange(1.0, 6.0)
    np.testing.assert_allclose(rows.means, means)
    assert_upper(rows.scatter(), scatter.sum(axis=0))
    assert_upper(rows.gram(scale), (Z * scale) @ (Z * scale).T)
    np.testing.assert_allclose(rows.variances(), (Z**2).sum(axis=0))
    np.testing.assert_allclose(rows.norms(scale), ((Z * scale) ** 2).sum(axis=1))
    V, U = np.arange(10.0).reshape(5, 2), np.arange(80.0).reshape(40, 2)
    np.testing.assert_allclose(rows.times(V), Z @ V, atol=1e-9)
    np.testing.assert_allclose(rows.transposed(U), Z.T @ U, atol=1e-9)
    assert rows.entries == (given_X.nnz if sp.issparse(given_X) else 200)


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sp.csr_array])
@pytest.mark.parametrize("held", [1, 1 << 10])
def test_groups_one_by_one(kind, held, monkeypatch):
    # with and without memory for a group, which is filled in pieces
    monkeypatch.setattr(grouped, "HELD_ENTRIES", held)
    monkeypatch.setattr(grouped, "BLOCK_ENTRIES", 37)
    X, members, weights = data(6)
    means, scatter = by_hand(X, members, weights, 3)
    scale = np.arange(1.0, 6.0)
    for k, group in enumerate(Grouped(kind(X), members, 3, weights).one_by_one()):
        Z = (np.sqrt(weights)[:, None] * (X - means[members]))[members == k]
        # twice, as a group is summed more than once
        for _ in range(2):
            assert_upper(group.scatter(), scatter[k])
            np.testing.assert_allclose(group.norms(scale), ((Z * scale) ** 2).sum(axis=1))


def test_entries_stored_twice_are_summed():
    parts = (np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 2, 3]))
    X = sp.csr_array(parts, shape=(2, 2))
    found = Grouped(X, np.array([0, 0]), 1).variances()
    np.testing.assert_allclose(found, Grouped(np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([0, 0]), 1).variances())
    assert X.nnz == 3


def test_shares_need_separate_sums():
    X, members, _ = data(4)
    with pytest.raises(ValueError, match="separate=True"):
        Moments(3, 5).add(X, members).within(np.ones(3) / 3)


def test_a_group_may_stay_empty():
    X, members, _ = data(5, groups=2)
    sums = Moments(3, 5).add(X, members).add(X, members)
    assert sums.weights[2] == 0
    assert np.isfinite(sums.means).all()
    assert np.isfinite(sums.scatter[0]).all()
