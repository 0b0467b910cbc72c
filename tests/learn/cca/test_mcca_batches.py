"""MCCA: rows added batch by batch."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from splitmerge.learn import MCCA

RNG = np.random.default_rng(1)
COMMON = RNG.standard_normal((200, 2)) * [1.0, 0.5]
VIEWS = [COMMON @ RNG.standard_normal((2, p)) + 0.5 * RNG.standard_normal((200, p)) + 5.0 for p in (3, 4, 5)]
WEIGHTS = RNG.integers(1, 4, 200).astype(float)
BATCHES = [slice(0, 2), slice(2, 90), slice(90, 200)]
ATTRIBUTES = ("rotations_", "loadings_", "means_", "deviations_")


def assert_equal_to(found, expected):
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.correlations_, expected.correlations_, rtol=0, atol=1e-10)
    for name in ATTRIBUTES:
        for one, other in zip(getattr(found, name), getattr(expected, name), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("options", [{}, {"scale": False}, {"ridge": (0.1, 0.0, 0.3)}, {"c": 0.2}, {"center": False}])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_batches_add_up(kind, options, weights):
    whole, parts = MCCA(3, **options).fit(VIEWS, sample_weight=weights), MCCA(3, **options)
    for rows in BATCHES:
        views = [kind(view[rows]) for view in VIEWS]
        parts.partial_fit(views, sample_weight=None if weights is None else weights[rows])
    assert_equal_to(parts, whole)
    assert "partial_fit" in parts.route_
    np.testing.assert_allclose(parts.score(VIEWS), whole.score(VIEWS), atol=1e-10)


def test_one_table():
    table, whole = np.hstack(VIEWS), MCCA(2).fit(VIEWS)
    parts = MCCA(2, views=[3, 4, 5])
    for rows in BATCHES:
        parts.partial_fit(table[rows])
    assert_equal_to(parts, whole)
    np.testing.assert_allclose(parts.transform(table), np.mean(whole.transform(VIEWS), axis=0), atol=1e-10)


def test_every_column_a_view():
    table = np.hstack(VIEWS)
    assert_equal_to(MCCA(3).partial_fit(table[:50]).partial_fit(table[50:]), MCCA(3).fit(table))


def test_rows_are_added_to_a_fit():
    added = MCCA(2).fit([view[:100] for view in VIEWS]).partial_fit([view[100:] for view in VIEWS])
    assert "eigenvalues_" not in vars(added)
    assert_equal_to(pickle.loads(pickle.dumps(added)), MCCA(2).fit(VIEWS))


def test_bad_input():
    parts = MCCA(2).partial_fit(VIEWS)
    with pytest.raises(ValueError, match="Expected 3 views, got 2"):
        parts.partial_fit(VIEWS[:2])
    with pytest.raises(ValueError, match="View 1 has 3 features, expected 4"):
        parts.partial_fit([VIEWS[0], VIEWS[0], VIEWS[2]])
    with pytest.raises(ValueError, match="a list of views was fitted"):
        parts.partial_fit(np.hstack(VIEWS))
    with pytest.raises(ValueError, match="begin with partial_fit"):
        MCCA(2, solver="operators", random_state=0).fit(VIEWS).partial_fit(VIEWS)
    with pytest.warns(UserWarning, match=r"view [12] has [45] columns .*only 4 samples"):
        assert np.isfinite(MCCA(1).partial_fit([view[:4] for view in VIEWS]).eigenvalues_).all()


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9])
def test_constant_columns_have_the_divisor_1(constant):
    """What rounding leaves of their variance scales nothing, whether the rows come at once or in batches."""
    views = [np.column_stack([view, np.full(200, constant)]) for view in VIEWS]
    whole, parts = MCCA(2, b_policy="restrict").fit(views), MCCA(2, b_policy="restrict")
    for rows in BATCHES:
        parts.partial_fit([view[rows] for view in views])
    assert_equal_to(parts, whole)
    assert [deviations[-1] for deviations in parts.deviations_] == [1.0, 1.0, 1.0]
