"""Counts certify the pairs if, and only if, nothing that is wanted is missing on any side."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from asking import asked
from splitmerge.methods.subspace import _order
from splitmerge.planning.choose import choose
from splitmerge.preparation.prepare import setups
from splitmerge.preparation.workspace import Workspace
from splitmerge.run.iteration import RitzBlock
from splitmerge.verification.counts import _is_narrow, counted
from splitmerge.verification.residuals import Pairs, measured

EVERY = np.r_[-np.arange(1.0, 20.0)[::-1] - 0.3, np.arange(1.0, 22.0)]
MASS = 1 + np.arange(EVERY.size) % 3
K = 4
KINDS = {"dense": np.asarray, "sparse": sp.csr_array}
QUESTIONS = [
    *({"which": which} for which in ("largest", "smallest", "magnitude", "ends")),
    *({"sigma": sigma} for sigma in (0.1, 30.0, -30.0)),
]
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
each_question = pytest.mark.parametrize("question", QUESTIONS, ids=str)


def setup_of(question, kind, every=EVERY, k=K):
    A, B = kind(np.diag(every * MASS[: every.size])), kind(np.diag(1.0 * MASS[: every.size]))
    problem, pencil = asked(A, B, k, method=sm.Accelerated(), **question)
    workspace = Workspace(problem, pencil, choose(problem, pencil), np.random.default_rng(0))
    return next(setups(workspace))[1]


def ranked(question, every=EVERY):
    """The indices of all eigenvalues, the most wanted first."""
    rising = np.argsort(every, kind="stable")
    if "sigma" in question:
        return np.argsort(np.abs(every - question["sigma"]), kind="stable")
    if question["which"] == "ends":
        turns = np.stack([rising[::-1], rising], axis=1).ravel()
        return turns[: every.size]
    return {
        "largest": rising[::-1],
        "smallest": rising,
        "magnitude": np.argsort(-np.abs(every), kind="stable"),
    }[question["which"]]


def found(setup, indices, every=EVERY):
    """The exact pairs with these indices, as an iteration would have found them."""
    X = np.eye(every.size)[:, indices] / np.sqrt(MASS[indices])
    return measured(setup, RitzBlock(every[indices], X, _order(setup.transform, setup.target)))


@each_kind
@each_question
def test_nothing_is_missing(kind, question):
    setup = setup_of(question, kind)
    assert counted(setup, found(setup, ranked(question)[:K]), None)


@each_kind
@each_question
@pytest.mark.parametrize("place", range(K))
def test_any_one_that_is_missing_is_missed(kind, question, place):
    """Whichever of the wanted ones it is, and on whichever side: those found are the next best."""
    setup, others = setup_of(question, kind), np.delete(np.arange(EVERY.size), ranked(question)[place])
    chosen = others[ranked(question, EVERY[others])[:K]]
    assert counted(setup, found(setup, chosen), None) is False


@each_kind
@each_question
def test_wide_intervals_excuse_nothing(kind, question):
    """A gap that the error intervals cover is no multiple eigenvalue."""
    setup = setup_of(question, kind)
    pairs = found(setup, np.delete(ranked(question), 1)[:K])
    pairs = replace(pairs, deltas=np.full(K, 2.5))
    assert not counted(setup, pairs, None)


@pytest.mark.parametrize("question", QUESTIONS[:4], ids=str)
def test_a_value_is_as_far_off_as_its_interval(question):
    """The count is made beyond the interval, as the eigenvalue may be at its end."""
    setup = setup_of(question, sp.csr_array)
    pairs = found(setup, ranked(question)[:K])
    last, middle = pairs.values[-1], EVERY.mean()
    values = np.r_[pairs.values[:-1], last + 0.2 * np.sign(last - middle)]
    assert counted(setup, replace(pairs, values=values, deltas=np.full(K, 0.25)), None)


def test_a_value_beside_a_shift_is_as_far_off_as_its_interval():
    setup = setup_of({"sigma": 0.1}, sp.csr_array)
    pairs = found(setup, ranked({"sigma": 0.1})[:K])
    values = np.r_[pairs.values[:-1], pairs.values[-1] - 0.2 * np.sign(pairs.values[-1])]
    assert counted(setup, replace(pairs, values=values, deltas=np.full(K, 0.25)), None)


class TestMultiple:
    """k cuts a multiple eigenvalue in two, and its computed copies differ within their intervals."""

    EVERY = np.r_[np.arange(1.0, 30.0), np.full(4, 40.0)]
    WRONG = 1e-7 * np.array([1.0, -1.0])

    def pairs(self, setup, indices):
        pairs = found(setup, np.array(indices), self.EVERY)
        return replace(pairs, values=pairs.values + self.WRONG[: len(indices)], deltas=np.full(len(indices), 3e-7))

    @each_kind
    @pytest.mark.parametrize("question", [{"which": "largest"}, {"which": "magnitude"}, {"sigma": 50.0}], ids=str)
    def test_any_two_copies_will_do(self, kind, question):
        setup = setup_of(question, kind, self.EVERY, 2)
        assert counted(setup, self.pairs(setup, [30, 32]), None)

    @each_kind
    def test_but_not_beside_a_missing_one(self, kind):
        """The cluster is allowed for, what is beyond it is not."""
        every = np.r_[self.EVERY[:-1], 41.0]
        setup = setup_of({"which": "largest"}, kind, every, 2)
        pairs = found(setup, np.array([29, 30]), every)
        pairs = replace(pairs, values=pairs.values + self.WRONG, deltas=np.full(2, 3e-7))
        assert counted(setup, pairs, None) is False


@each_kind
@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-4])
def test_a_loose_tolerance_certifies_nothing_wrong(kind, tol):
    """A cluster as wide as the tolerance would excuse any three of ten values: they are told apart first."""
    every = np.r_[np.linspace(0, 15, 30), 18.5, 18.7, 18.9, 19.0, 19.35, 19.4, 19.5, 20.8]
    A, B = kind(np.diag(every * MASS[: every.size])), kind(np.diag(1.0 * MASS[: every.size]))
    for seed in range(5):
        sol = sm.solve(A, B, 4, method=sm.Accelerated(), tol=tol, certify=True, rng=seed)
        assert sol.verdict == "certified"
        wrong = np.abs(sol.eigenvalues - every[::-1][:4])
        assert (wrong <= sol.error_bounds + 1e-12).all()


@each_kind
@pytest.mark.parametrize("side", [1, -1])
def test_the_shift_that_was_asked_for_is_the_centre(kind, side):
    """Where σ is an eigenvalue and has to give way, the count is still of those nearest to where it was."""
    every = side * np.r_[0.0, -1.0, 1.0002, 2.0, np.linspace(3, 10, 40)]
    mass = 1.0 + np.arange(every.size) % 3
    A, B = kind(np.diag(every * mass)), kind(np.diag(mass))
    for k in (1, 2, 3):
        sol = sm.solve(A, B, k, sigma=0.0, method=sm.Accelerated(), certify=True, rng=0)
        assert sol.converged
        assert sol.verdict == "certified"


class TestNarrow:
    """A cluster may be cut where its width is a fraction of its own values, whatever the others are."""

    def narrow(self, width, *, margin=0.0, noise=0.0, apart=0.0, delta=0.0):
        values = np.array([1e6, 1.0, 1.0 + apart])
        none, rows, deltas = np.zeros(3), [np.ones((1, 3))] * 3, np.full(3, delta or noise)
        pairs = Pairs(values, np.eye(3), *rows, none, none, deltas, none + noise, none, deltas)
        return _is_narrow(pairs, np.array([False, True, True]), values, width, margin)

    def test_relative_to_its_own_values(self):
        assert self.narrow(0.9e-6) is True
        assert self.narrow(1.1e-6) is False

    def test_rounding_leaves_it_open(self):
        assert self.narrow(3e-6, margin=1.1e-6) == "unclear"
        assert self.narrow(1e-3, noise=1e-9) is False

    def test_values_that_differ_by_more_than_their_errors_are_no_cluster(self):
        """Rounding allows for the width, but only the margin of the count has joined them."""
        assert self.narrow(2e-3, noise=1e-4, apart=1e-3, delta=6e-4) is True
        assert self.narrow(2e-3, noise=1e-4, apart=1e-3, delta=4e-4) == "unclear"


class TestSinglePrecision:
    """The margin of a count in single precision is wider than the errors of the pairs."""

    @staticmethod
    def pair(seed, n=250, copies=6, kappa=1e2):
        rng = np.random.default_rng(seed)
        values = np.r_[np.ones(copies), np.full(copies, -0.99), rng.uniform(-0.9, 0.9, n - 2 * copies)]
        Q, W = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
        G = (Q * kappa ** (-np.sort(rng.random(n)) / 2)) @ W.T
        A, B = (G * values) @ G.T, G @ G.T
        return ((A + A.T) / 2).astype(np.float32), ((B + B.T) / 2).astype(np.float32)

    @pytest.mark.parametrize("seed", range(8))
    @pytest.mark.parametrize("certify", [False, True])
    def test_pairs_that_differ_are_no_cluster(self, seed, certify):
        """Copies of 1 were missing in favour of -0.99, certified."""
        A, B = self.pair(seed)
        sol = sm.solve(A, B, k=3, which="magnitude", rng=seed, certify=certify)
        np.testing.assert_allclose(sol.eigenvalues, 1, atol=1e-4)
