"""LAPACK: the wanted pairs, and how far they are from the others."""

import numpy as np
import pytest

import splitmerge as sm
from pairs import pair_of
from splitmerge.methods.direct import Direct, within
from splitmerge.methods.setup import Setup
from splitmerge.problem.products import Products
from splitmerge.problem.target import Target

EVERY = np.array([-7.0, -6.5, -3.0, 1.0, 2.0, 4.0, 8.0, 8.25, 9.0, 12.0])
TARGETS = {
    "largest": Target.LARGEST,
    "magnitude": Target.MAGNITUDE,
    "ends": Target.ENDS,
    "closest": Target.closest(3.4),
}


def products_of(dtype=float):
    return Products(sm.Pencil(*pair_of(EVERY, dtype=dtype)))


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("k", [1, 3, 9, 10])
@pytest.mark.parametrize("dtype", [float, complex])
def test_gaps_are_to_the_nearest_of_the_others(target, k, dtype):
    """Bounds rest on them: a gap that is too wide makes them too small."""
    iteration = Direct(Setup(products_of(dtype), target, k, np.random.default_rng(0)))
    iteration.start(np.zeros((10, 0)))
    block = iteration.block()
    wanted, others = np.split(EVERY[target.order(EVERY)], [k])
    np.testing.assert_allclose(block.values, wanted, rtol=1e-12)
    gaps = np.abs(wanted[:, None] - others).min(axis=1, initial=np.inf)
    np.testing.assert_allclose(block.gaps, gaps, rtol=1e-10)


def test_within():
    """All from one end to the other, and how far the others are."""
    values, vectors, gaps = within(products_of(), 1.0, 8.1)
    np.testing.assert_allclose(values, [1, 2, 4, 8], rtol=1e-12)
    assert vectors.shape == (10, 4)
    others = EVERY[(EVERY < 1) | (EVERY > 8.1)]
    np.testing.assert_allclose(gaps, np.abs(values[:, None] - others).min(axis=1), rtol=1e-10)
    # an end on an eigenvalue does not lose it
    assert within(products_of(), 2.0, 2.0)[0].tolist() == pytest.approx([2.0])


def test_within_keeps_what_rounding_may_have_moved_out():
    """B has a direction in which it is tiny, and there rounding of A moves an eigenvalue by about 2e-7."""
    A, B = np.array([[1.0, 1e-4], [1e-4, -1e-16]]), np.diag([1.0, 1e-9])
    products = Products(sm.Pencil(A, B))
    w = np.linalg.eigvalsh(A / np.sqrt(np.outer(np.diag(B), np.diag(B))))
    noise = 1e-16 / 1e-9
    assert within(products, w[0] + noise / 2, w[0] + noise)[0].tolist() == pytest.approx([w[0]], rel=1e-6)
    assert within(products, w[0] - noise, w[0] - noise / 2)[0].tolist() == pytest.approx([w[0]], rel=1e-6)
    assert within(products, w[0] + 1, w[0] + 2)[0].size == within(products, w[0] - 2, w[0] - 1)[0].size == 0


@pytest.mark.parametrize(("n", "slack"), [(1, 1.0), (10, 1.0), (80, 5.0), (400, 10.0)])
def test_rounding_errors_grow_with_n(n, slack):
    products = Products(sm.Pencil(np.eye(n)))
    assert Direct(Setup(products, Target.LARGEST, 1, np.random.default_rng(0))).retry.slack == slack


def test_most_of_the_spectrum_is_lapacks_whatever_the_limit_of_steps():
    sol = sm.solve(np.diag(np.arange(1.0, 301.0)), k=60, max_steps=50)
    assert sol.converged
    assert sol.steps == 0
