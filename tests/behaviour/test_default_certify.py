"""`certify=True`: it proves what is right, and does not let pass what is not."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from covering import parametrise
from pairs import pair_of
from splitmerge.methods.krylov.thick_restart import ThickRestart
from strategies import gep, make_pair

KINDS = {"dense": np.asarray, "sparse": sp.csr_array}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
QUESTIONS = [
    {"which": "largest"},
    {"which": "smallest"},
    {"which": "magnitude"},
    {"which": "ends"},
    {"sigma": 0.33},
    {"sigma": -9.0},
    {"sigma": 9.0},
]
each_question = pytest.mark.parametrize("question", QUESTIONS, ids=str)


def expected(values, question, k):
    """The k wanted ones, ascending."""
    values = np.sort(values)
    if "sigma" in question:
        return np.sort(values[np.argsort(np.abs(values - question["sigma"]))][:k])
    which = question["which"]
    if which == "ends":
        return np.sort(np.r_[values[: k // 2], values[values.size - (k + 1) // 2 :]])
    order = {"largest": -values, "smallest": values, "magnitude": -np.abs(values)}[which]
    return np.sort(values[np.argsort(order, kind="stable")][:k])


@parametrise(
    k=[1, 5],
    dtype=[float, complex],
    n=[60, 150],
    method={"chosen": None, "accelerated": sm.Accelerated()},
    question=QUESTIONS,
    kind=KINDS,
)
def test_certified(k, dtype, n, method, question, kind):
    A, B = pair_of(np.linspace(-1.7, 2, n), 1, dtype, condition=100.0)
    sol = sm.solve(kind(A), kind(B), k, certify=True, method=method, rng=0, **question)
    assert sol.verdict == "certified"
    assert sol.verdict.why
    np.testing.assert_allclose(np.sort(sol.eigenvalues), expected(gep(A, B)[0], question, k), atol=1e-9)


@each_kind
@each_question
def test_certified_multiplicities(kind, question):
    A, B = pair_of(np.repeat(np.linspace(-1.7, 2, 40), 4), 2)
    sol = sm.solve(kind(A), kind(B), 6, certify=True, rng=0, **question)
    assert sol.verdict == "certified"
    np.testing.assert_allclose(np.sort(sol.eigenvalues), expected(gep(A, B)[0], question, 6), atol=1e-9)


def invariant(n=150, top=4):
    """A diagonal pair and a start without any part of the `top` largest and smallest."""
    values = np.linspace(-1.7, 2.0, n)
    x0 = np.zeros(n)
    x0[top:-top] = np.random.default_rng(0).standard_normal(n - 2 * top)
    return np.diag(values), values, x0


@each_kind
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("question", QUESTIONS[:4], ids=str)
def test_a_start_in_an_invariant_subspace(kind, k, question):
    """The probe finds the way out; nothing wrong is certified."""
    A, values, x0 = invariant()
    sol = sm.solve(kind(A), k=k, x0=x0, certify=True, rng=0, **question)
    assert sol.verdict == "certified"
    np.testing.assert_allclose(np.sort(sol.eigenvalues), expected(values, question, k), atol=1e-9)


@each_kind
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("question", QUESTIONS[:4], ids=str)
def test_the_count_catches_what_probes_miss(kind, k, question, monkeypatch):
    """With probes that never find anything, the answer is wrong and the count says so."""
    monkeypatch.setattr(ThickRestart, "look", lambda self, slack: False)
    A, values, x0 = invariant()
    # the start must stay invariant: no random vector may help it out of there
    try:
        sol = sm.solve(kind(A), k=k, x0=x0, certify=True, rng=0, **question)
    except sm.NotConverged as error:
        sol = error.solution
        assert sol.reason is sm.Reason.MISSED
        assert sol.verdict == "unchecked"
    else:
        assert sol.verdict == "certified"
        np.testing.assert_allclose(np.sort(sol.eigenvalues), expected(values, question, k), atol=1e-9)


@each_kind
@pytest.mark.parametrize("question", [{"which": "largest"}, {"which": "smallest"}, {"which": "magnitude"}], ids=str)
def test_the_count_catches_a_missed_copy(kind, question, monkeypatch):
    monkeypatch.setattr(ThickRestart, "look", lambda self, slack: False)
    values = np.r_[np.full(3, 5.0), np.linspace(1, 2, 150), np.full(3, 0.5)]
    A = np.diag(values)
    try:
        sol = sm.solve(kind(A), k=3, certify=True, method=sm.Accelerated(), rng=0, **question)
    except sm.NotConverged as error:
        sol = error.solution
    right = np.abs(np.sort(sol.eigenvalues) - expected(values, question, 3)).max() <= 1e-9
    assert right or sol.reason is sm.Reason.MISSED


def test_needs_entries():
    A, B = pair_of(np.linspace(-1, 2, 150))
    for given in ((aslinearoperator(A), B), (A, aslinearoperator(B)), (aslinearoperator(A), None)):
        for question in ({"which": "largest"}, {"which": "smallest"}):
            with pytest.raises(ValueError, match="entries"):
                sm.solve(*given, certify=True, rng=0, **question)


def test_only_the_default_certifies():
    A, B = pair_of(np.linspace(-1, 2, 20))
    for options in ({"certify": True}, {"sigma": 0.0}, {"which": "ends"}, {"which": "magnitude"}):
        with pytest.raises(ValueError, match="default"):
            sm.solve(A, B, method=sm.SplitMerge(), rng=0, **options)


@pytest.mark.parametrize("seed", [1, 5, 7, 15, 36, 64])
def test_a_loose_tolerance_does_not_hide_a_missed_value(seed):
    """The count is made as near to the last pair as its own error allows, not some multiples of it further off."""
    values = np.sort(np.random.default_rng(seed).uniform(0.5, 2.5, 200))[::-1]
    pair = make_pair(values, kappa=200.0, seed=seed)
    sol = sm.solve(pair.A, pair.B, 10, tol=2e-3, rng=seed, method=sm.Accelerated())
    assert sol.verdict == "certified"
    assert (np.abs(sol.eigenvalues - values[:10]) <= 2 * sol.error_bounds.max()).all()


@pytest.mark.parametrize(("tol", "verdict"), [(1e-4, "certified"), (1e-8, "probed")])
def test_several_of_a_large_dense_matrix_are_counted_at_a_loose_tolerance(tol, verdict):
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((1300, 1300)))[0]
    A = (Q * np.linspace(1, 50, 1300)) @ Q.T
    assert sm.solve((A + A.T) / 2, k=3, tol=tol, rng=0).verdict == verdict
