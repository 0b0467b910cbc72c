"""Inertia counts, and the one factorisation in single precision that replaces them where there is a gap."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from asking import asked
from pairs import pair_of
from splitmerge.planning.choose import choose
from splitmerge.preparation.prepare import setups
from splitmerge.preparation.workspace import Workspace
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.products import Products
from splitmerge.run.iteration import RitzBlock
from splitmerge.solvers.estimate import longest_vector, resolution
from splitmerge.verification import inertia
from splitmerge.verification.inertia import count_below, count_between, nothing_in_the_gap
from splitmerge.verification.residuals import measured

EVERY = np.r_[np.linspace(1, 10, 30), 12.0, 15.0, 19.0]
K = 2


class Counting:
    """The dense pair with these eigenvalues, and its exact pairs."""

    def __init__(self, which, dtype=float, kind=np.asarray, *, standard=False):
        A, B = pair_of(EVERY, dtype=dtype, condition=1.0 if standard else 3.0)
        B = None if standard else B
        problem, pencil = asked(kind(A), None if standard else kind(B), K, which, method=sm.Accelerated())
        workspace = Workspace(problem, pencil, choose(problem, pencil), np.random.default_rng(0))
        self.setup = next(iter(setups(workspace)))[1]
        self.X = scipy.linalg.eigh(A, B)[1]

    def pairs(self, indices, best_last=False):
        order = (lambda values: np.arange(values.size)) if best_last else lambda values: np.arange(values.size)[::-1]
        pairs = measured(self.setup, RitzBlock(EVERY[indices], self.X[:, indices], order))
        pairs.gaps = np.zeros(len(indices))
        return pairs


@pytest.mark.parametrize("dtype", [float, complex])
class TestGap:
    def test_nothing_is_there(self, dtype):
        """And then it is known how far the others are."""
        counting = Counting("largest", dtype)
        pairs = counting.pairs([32, 31])
        assert nothing_in_the_gap(counting.setup, pairs, 12.0, above=True) is True
        assert (pairs.gaps > [4.0, 0.0]).all()
        assert (pairs.gaps <= np.array([19.0, 15.0]) - 12.0).all()

    @pytest.mark.parametrize("following", [12.0, 11.0, 8.0, 1.0])
    def test_no_more_is_known_than_was_counted(self, dtype, following):
        """A Ritz value may be far below what follows: between it and τ, which is nearer, others may be."""
        counting = Counting("largest", dtype)
        pairs = counting.pairs([32, 31])
        assert nothing_in_the_gap(counting.setup, pairs, following, above=True) is True
        assert (pairs.gaps > [4.0, 0.0]).all()
        assert (pairs.gaps <= np.array([19.0, 15.0]) - 12.0).all()

    def test_something_is_there(self, dtype):
        """19 is missing, or 15 between the last pair and what is thought to follow."""
        counting = Counting("largest", dtype)
        assert nothing_in_the_gap(counting.setup, counting.pairs([31, 30]), 10.0, above=True) is False
        assert nothing_in_the_gap(counting.setup, counting.pairs([32, 30]), 10.0, above=True) is False

    def test_too_narrow_to_tell(self, dtype):
        counting = Counting("largest", dtype)
        assert nothing_in_the_gap(counting.setup, counting.pairs([32, 31]), 15 - 1e-7, above=True) is None

    def test_too_inaccurate_to_tell(self, dtype):
        counting = Counting("largest", dtype)
        pairs = counting.pairs([32, 31])
        pairs.deltas = np.full(K, 1.0)
        assert nothing_in_the_gap(counting.setup, pairs, 12.0, above=True) is None

    def test_from_below(self, dtype):
        counting = Counting("smallest", dtype)
        first, second = counting.pairs([0, 1], best_last=True), counting.pairs([1, 2], best_last=True)
        assert nothing_in_the_gap(counting.setup, first, float(EVERY[2]), above=False) is True
        assert nothing_in_the_gap(counting.setup, second, float(EVERY[3]), above=False) is False

    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_where_B_is_the_identity(self, dtype, which):
        """With the outermost ones nothing is missing; without any of them something is."""
        counting, above = Counting(which, dtype, standard=True), which == "largest"
        first, second, third, fourth = (32, 31, 30, 29) if above else (0, 1, 2, 3)
        for missing, known, following in (
            (False, [first, second], third),
            (True, [second, third], fourth),
            (True, [first, third], fourth),
        ):
            pairs = counting.pairs(known, best_last=not above)
            answer = nothing_in_the_gap(counting.setup, pairs, float(EVERY[following]), above=above)
            assert answer is (not missing)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [float, complex])
def test_counts(kind, dtype):
    counting = Counting("largest", dtype, kind)
    products = counting.setup.given_pair
    for low, high in ((0.5, 25.0), (10.5, 16.0), (12.1, 12.2), (14.0, 100.0)):
        inside = int(((low < EVERY) & (high > EVERY)).sum())
        # no eigenvalue is within rounding of the ends
        assert count_between(counting.setup, low, high, 1e6) == inside
        assert count_below(products, high, None, 1e6) == (high > EVERY).sum()
    pairs = counting.pairs([32, 31])
    # rounding of A − τB, and not much more
    assert 1e-15 < resolution(products, longest_vector(products, pairs.vectors), 19.0) < 1e-9


@pytest.mark.parametrize(("sigma", "side"), [(-1.0, 1), (1e5, -1)], ids=["below all", "above all"])
def test_a_shift_outside_the_spectrum_saves_a_count(sigma, side, monkeypatch):
    """On its other side there is nothing, as the inertia of A − σB tells."""
    A, B = sm.gallery.fem_laplacian(2, 1, 12)
    counted = []
    monkeypatch.setattr(inertia, "count_below", lambda *a: counted.append(a[1]) or count_below(*a))
    sol = sm.solve(A, B, 3, sigma=sigma, certify=True, method=sm.Accelerated(), rng=0)
    assert sol.verdict == "certified"
    assert counted
    assert all(side * (tau - sigma) > 0 for tau in counted)


@pytest.mark.parametrize("widening", [1.0, 100.0])
def test_factors_with_a_large_backward_error_count_nothing(widening, monkeypatch):
    """Their signs may be those of other eigenvalues than the ones that are `widening` resolutions away."""
    factor = SimpleNamespace(negative=3, backward_error=0.0)
    monkeypatch.setattr(inertia, "counting_factor", lambda *_: factor)
    products = Products(Pencil(np.eye(4), None))
    limit = widening * inertia.MAX_BACKWARD_ERROR
    factor.backward_error = 0.99 * limit
    assert count_below(products, 0.5, None, widening) == 3
    factor.backward_error = 1.01 * limit
    assert count_below(products, 0.5, None, widening) is None
