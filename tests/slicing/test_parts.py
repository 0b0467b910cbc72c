"""The pairs of slices: bounded by their cuts, orthogonal to each other, joined and cut to the interval."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from asking import asked
from pairs import pair_of
from splitmerge.planning.choose import choose
from splitmerge.planning.plan import Candidate, Engine
from splitmerge.preparation.prepare import prepare
from splitmerge.preparation.workspace import Workspace
from splitmerge.run.iteration import RitzBlock
from splitmerge.slicing.cuts import Counter, Cut
from splitmerge.slicing.parts import Part, bounded, joined, kept, orthogonalised
from splitmerge.slicing.slices import Slice
from splitmerge.verification.residuals import measured

EVERY = np.arange(1.0, 31.0)


class Sliced:
    """A pair, and exact or wrong pairs of it from shift-invert."""

    def __init__(self, dtype=float):
        self.A, self.B = pair_of(EVERY, dtype=dtype)
        L = np.linalg.cholesky(self.B)
        C = np.linalg.solve(L, np.linalg.solve(L, self.A).conj().T)
        self.X = np.linalg.solve(L.conj().T, np.linalg.eigh((C + C.conj().T) / 2)[1])

    def setup(self, sigma, k):
        problem, pencil = asked(self.A, self.B, k, sigma=sigma, method=sm.Accelerated())
        workspace = Workspace(problem, pencil, choose(problem, pencil), np.random.default_rng(0))
        return prepare(Candidate(Engine.SHIFT_INVERT, sigma=sigma), workspace)

    def pairs(self, setup, X):
        block = RitzBlock(np.arange(X.shape[1]), X, lambda values: np.arange(values.size), projected=True)
        return measured(setup, block)

    def part(self, low, high):
        """The exact pairs of a slice."""
        sigma = (low + high) / 2 + 0.1
        inside = (low < EVERY) & (high > EVERY)
        setup = self.setup(sigma, int(inside.sum()))
        ends = (Cut(tau, int((tau > EVERY).sum()), np.round(tau), 1e-14) for tau in (low, high))
        return bounded(self.pairs(setup, self.X[:, inside]), setup, Slice(*ends))


@pytest.mark.parametrize(("low", "high"), [(10.4, 14.6), (10.9, 14.1), (10.1, 14.9)])
def test_the_gap_of_a_slice_is_to_its_own_end(low, high):
    """1/(λ − σ) of all other eigenvalues is beyond that of the cut on the same side."""
    part = Sliced().part(low, high)
    sigma = part.pairs.sigma
    others = EVERY[(low > EVERY) | (high < EVERY)]
    thetas = 1 / (part.pairs.values - sigma)
    true = np.abs(thetas[:, None] - 1 / (others - sigma)).min(axis=1)
    assert (part.pairs.gaps > 0).all()
    assert (part.pairs.gaps <= true).all()
    for i, value in enumerate(part.pairs.values):
        end = high if value > sigma else low
        assert part.pairs.gaps[i] == pytest.approx(abs(thetas[i]) - 1 / abs(end - sigma))


@pytest.mark.parametrize("dtype", [float, complex])
def test_orthogonal_to_the_other_slices(dtype):
    sliced = Sliced(dtype)
    found = [sliced.part(3.5, 6.5), sliced.part(6.5, 9.5)]
    setup = sliced.setup(11.1, 3)
    exact = sliced.X[:, 9:12]
    wrong = exact + 1e-5 * (sliced.X[:, 3:6] - 2 * sliced.X[:, 6:9])
    pairs = orthogonalised(sliced.pairs(setup, wrong), setup, found)
    for part in found:
        assert np.abs(part.pairs.vectors.conj().T @ sliced.B @ pairs.vectors).max() <= 1e-13
    G = pairs.vectors.conj().T @ sliced.B @ pairs.vectors
    np.testing.assert_allclose(G, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.sort(pairs.values), [10, 11, 12], rtol=1e-10)
    # measured again
    assert pairs.residuals.max() <= 1e-9
    # those that are orthogonal already are left as they are
    good = sliced.pairs(setup, exact)
    assert orthogonalised(good, setup, found) is good


def test_joined():
    sliced = Sliced()
    parts = [sliced.part(3.5, 6.5), sliced.part(6.5, 9.5), sliced.part(9.5, 11.5)]
    whole = joined(sliced.setup(1.1, 1).products, parts)
    np.testing.assert_allclose(whole.pairs.values, EVERY[3:11], rtol=1e-12)
    assert whole.pairs.vectors.shape == (30, 8)
    # no two slices share a cluster
    assert np.unique(whole.bounds.clusters).size == 8
    assert whole.bounds.values.tolist() == np.concatenate([part.bounds.values for part in parts]).tolist()


def test_kept_up_to_the_errors():
    part = Sliced().part(3.5, 8.5)
    assert kept(part, 4.5, 7.5).pairs.values.tolist() == part.pairs.values[1:4].tolist()
    # an end on an eigenvalue, off by less than its error
    off = 0.5 * float(part.pairs.noise.min())
    assert kept(part, part.pairs.values[1] + off, part.pairs.values[3] - off).pairs.values.size == 3
    far = 10 * float(np.maximum(part.bounds.values, part.pairs.noise).max())
    assert kept(part, part.pairs.values[1] + far, part.pairs.values[3] - far).pairs.values.size == 1
    assert sorted(kept(part, 4.5, 7.5).bounds.clusters.tolist()) == [0, 1, 2]


def test_errors_that_exceed_an_end_bring_nothing_inside():
    """Rounding of large eigenvalues may move small ones over a small end, but zero is an end up to rounding."""
    pairs, bounds = Sliced().part(3.5, 8.5)
    wide = np.full(5, 100.0)
    part = Part(replace(pairs, estimates=wide, deltas=wide), replace(bounds, values=wide))
    assert kept(part, 5.5, 1e12).pairs.values.tolist() == pairs.values[2:].tolist()
    assert kept(part, -1e12, 5.5).pairs.values.tolist() == pairs.values[:2].tolist()
    assert kept(part, -1e12, 0.0).pairs.values.size == kept(part, -np.inf, np.inf).pairs.values.size == 5


@pytest.mark.parametrize("mirrored", [False, True])
def test_what_is_beyond_an_end_by_more_than_its_error_is_left_out(mirrored):
    """An end on an eigenvalue is moved outwards, past another one that is not in the interval."""
    every = np.r_[np.linspace(3, 40, 200), 2.0]
    rounding = Counter(sm.Pencil(sp.diags_array(every, format="csr")).products).rounding(2.0)
    every = np.sort(np.r_[every, 2 - 2.5 * rounding])
    a, b = 2.0, 2.5
    if mirrored:
        every, a, b = -every, -b, -a
    sol = sm.solve(sp.diags_array(every, format="csr"), interval=(a, b), method=sm.Accelerated(), rng=0)
    assert sol.eigenvalues.tolist() == pytest.approx([-2.0 if mirrored else 2.0], abs=rounding)
