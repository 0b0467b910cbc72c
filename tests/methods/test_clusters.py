"""Where a probe looks after a search from two random vectors, which show two copies of every eigenvalue and no more."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.methods.krylov.thick_restart import ThickRestart
from splitmerge.methods.setup import Setup
from splitmerge.problem.products import Products
from splitmerge.problem.target import Target
from splitmerge.transforms import Whitened


def search_with(values, k, target=Target.LARGEST, errors=1e-12, companions=1):
    """A search whose Ritz values are these, best first."""
    products = Products(sm.Pencil(np.diag(np.arange(1.0, 61.0))))
    setup = Setup(products, target, k, np.random.default_rng(0), transform=Whitened(products))
    search = ThickRestart(setup)
    search.companions = companions
    search.values, search.errors = np.array(values), np.full(len(values), errors)
    return search


@pytest.mark.parametrize(
    ("values", "crowded"),
    [
        ([5.0, 4.0, 3.0, 2.0], False),
        ([5.0, 5.0, 3.0, 2.0], True),
        # split by rounding of the matrix, by much more than the errors of the values
        ([5.0, 4.0, 4.0 * (1 - 1e-9), 2.0], True),
        ([5.0, 4.0, 4.0 * (1 - 1e-4), 2.0], True),
        ([5.0, 4.0, 4.0 * (1 - 1e-2), 2.0], False),
        ([-1.0, -1.0 - 1e-6, -3.0, -4.0], True),
        # the fourth is not among the three
        ([5.0, 4.0, 3.0, 3.0], False),
    ],
)
def test_two_values_that_are_close_to_each_other(values, crowded):
    assert search_with(values, 3).crowded() == crowded


@pytest.mark.parametrize(
    ("values", "target", "doubtful"),
    [
        # a copy of the cluster that is missing must be clear of the edge of the window
        ([5.0, 5.0, 3.0, 2.0, 1.0], Target.LARGEST, 3),
        ([5.0, 4.0, 4.0, 2.0, 1.0], Target.LARGEST, 4),
        ([5.0, 4.0, 3.0, 2.0, 2.0], Target.LARGEST, 5),
        ([5.0, 5.0, 4.999, 4.998, 1.0], Target.LARGEST, 5),
        ([5.0, 4.0, 3.0, 2.0, 1.0], Target.LARGEST, 5),
        # by magnitude the two signs are as far from zero
        ([5.0, 5.0, -5.0, 3.0, -2.0], Target.MAGNITUDE, 4),
        ([-5.0, -5.0, 4.0, 3.0, -2.0], Target.MAGNITUDE, 3),
        # at both ends by turns
        ([5.0, -5.0, 4.0, -5.0, 3.0], Target.ENDS, 5),
        ([5.0, -5.0, 5.0, -4.0, 3.0], Target.ENDS, 5),
        # a window that is clear of the cluster at one end only
        ([5.0, -5.0, 4.0, -5.0, 3.0, -4.0, 2.0], Target.ENDS, 6),
        ([5.0, 1e-17, 4.0, 2e-17, 3.0, 0.5], Target.ENDS, 6),
        ([5.0, 1e-17, 4.0, 2e-17, 3.0, 3e-17], Target.ENDS, 6),
    ],
)
def test_how_far_a_probe_looks(values, target, doubtful):
    k = len(values)
    assert search_with(values, k, target)._doubtful() == doubtful
    assert search_with(values, k, target, companions=0)._doubtful() == k


@pytest.mark.parametrize("seed", range(12))
def test_copies_at_one_end_of_a_small_spectrum(seed):
    """Found by the campaign: the window of the probe was clear of the cluster at the other end only."""
    rng = np.random.default_rng(seed)
    d = np.r_[np.zeros(10), rng.uniform(0.1, 1, 17)]
    Q = np.linalg.qr(rng.standard_normal((27, 27)))[0]
    inner = sm.ConjugateGradient()
    solution = sm.solve((Q * d) @ Q.T, k=13, which="ends", method=sm.Accelerated(inner=inner), rng=seed)
    expected = np.sort(np.r_[np.sort(d)[:6], np.sort(d)[-7:]])
    np.testing.assert_allclose(np.sort(solution.eigenvalues), expected, atol=1e-7)


@pytest.mark.parametrize("copies", [3, 5])
@pytest.mark.parametrize("width", [0.0, 1e-13, 1e-9, 1e-5, 1e-3])
@pytest.mark.parametrize("mirrored", [False, True])
def test_copies_next_to_a_shift_are_all_found(copies, width, mirrored):
    """By solves alone where they are on both sides: from 1,501 unknowns on no count follows."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        cluster = 0.5 * (1 + width * np.linspace(-1, 1, copies))
        others = np.r_[0.3, 0.8, 1.1, rng.uniform(2, 9, 1600 - copies)]
        d = np.r_[cluster, others * (rng.choice([-1, 1], others.size) if mirrored else 1)]
        A = sp.csr_array(sp.diags_array(rng.permutation(d)))
        solution = sm.solve(A, k=copies + 1, sigma=0.0, method=sm.Accelerated(), rng=seed)
        assert solution.verdict == ("probed" if mirrored else "certified")
        wanted = np.sort(np.abs(d))[: copies + 1]
        np.testing.assert_allclose(np.sort(np.abs(solution.eigenvalues)), wanted, rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize(
    "copies", [(1, 3), (2, 1, 3), (1, 2, 3), (2, 2, 3), (3, 1, 3), (2, 1, 1, 4), (2, 1, 3, 1)], ids=str
)
def test_copies_of_several_values_are_all_found(copies, which, kind):
    """A third copy of any of them, not only of the first that is multiple."""
    n, k, sign = 1100, sum(copies), 1 if which == "largest" else -1
    wanted = np.repeat(10.0 - np.arange(len(copies)), copies)
    d = sign * np.random.default_rng(0).permutation(np.r_[wanted, 5.5, np.linspace(0, 4, n - k - 1)])
    solution = sm.solve(kind(np.diag(d)), k=k, which=which, method=sm.Accelerated(), rng=0)
    np.testing.assert_allclose(np.sort(sign * solution.eigenvalues)[::-1], wanted, rtol=1e-9)


def test_a_probe_for_copies_far_inside_the_window_is_short():
    """Two copies next to σ, and the other values at the edge of a dense spectrum."""
    d = np.r_[1.0, 1.0, -50.0, 60.0, np.linspace(70, 400, 1700)]
    solution = sm.solve(sp.csr_array(sp.diags_array(d)), k=5, sigma=0.0, rng=0)
    np.testing.assert_allclose(np.sort(np.abs(solution.eigenvalues)), [1, 1, 50, 60, 70])
    assert "probe" in solution.verdict.why
    assert solution.counts.monitoring.K_solves <= 40
