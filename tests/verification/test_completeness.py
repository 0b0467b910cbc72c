"""Verdicts through `solve`: each says what was done, and none claims what was not decided."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from splitmerge.methods.subspace import SubspaceIteration
from splitmerge.problem.start import random_vector
from splitmerge.verification import verdict

N = 2000
# the largest eigenvalues of a chain are so close to each other that a probe sees no end of them
CHAIN = sm.gallery.grid_laplacian((N,))[0]
SINES = np.sin(np.pi * np.outer(np.arange(1, N + 1), [N, N - 1, N - 2]) / (N + 1))
KINDS = {"sparse": lambda A: A, "operator": aslinearoperator}
SEARCHES = {
    "default": None,
    "small basis": sm.Accelerated(max_basis=8),
    "lobpcg": sm.LocallyOptimal(),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("search", SEARCHES)
def test_an_undecided_probe_proves_nothing(kind, search, monkeypatch):
    """From eigenvectors the search is over at once, and its probe ends without an answer: right or wrong, they may
    not be all there is.
    """
    monkeypatch.setattr("splitmerge.methods.lobpcg.iteration.MAX_PROBE_STEPS", 30)
    method, answers = SEARCHES[search], []
    probe = SubspaceIteration.probe

    def watched(self, *, repeated):
        before = self.probes
        found = probe(self, repeated=repeated)
        answers.append(found if self.probes > before else None)
        return found

    monkeypatch.setattr(SubspaceIteration, "probe", watched)
    for columns in ([0, 1], [1, 2]):
        answers.clear()
        sol = sm.solve(kind(CHAIN), k=2, x0=SINES[:, columns], method=method, rng=0)
        assert sol.converged
        assert answers[-1] is None
        assert (sol.verdict, sol.verdict.why) == ("unchecked", verdict.UNDECIDED.why)


VALUES = np.r_[np.linspace(0.0, 1.0, 297), 3.0, 5.0, 7.0]
EVEN = np.linspace(0.0, 1.0, 300)
CLUSTER = np.r_[np.full(12, 1.0), np.linspace(0.0, 0.9, 88)]
# solves with it that take as few steps leave more than bounds on errors allow
INEXACT, MASS = sm.ConjugateGradient(30), aslinearoperator(np.diag(np.logspace(0, -3, 40)))
PROBED = sm.Verdict("probed", "of the B-orthogonal complement found no further eigenvalue")
SURVEYED = sm.Verdict("unchecked", "consistent with the lower bounds of a Lanczos survey")
REACHED = {
    "one random start": (verdict.RANDOM_START, VALUES, {}),
    "two random starts": (verdict.TWO_STARTS, VALUES, {"k": 2}),
    "a probe": (PROBED, VALUES, {"k": 2, "x0": np.eye(300)[:, -2:]}),
    "a probe of lobpcg": (PROBED, VALUES, {"k": 2, "method": sm.LocallyOptimal(), "tol": 1e-3}),
    "lobpcg that ends early": (
        *(verdict.EARLY, EVEN),
        {"k": 2, "method": sm.LocallyOptimal(), "tol": 1e-3, "max_steps": 40},
    ),
    "inexact solves": (
        *(verdict.INEXACT, np.linspace(-1, 1, 40)),
        {"B": MASS, "method": sm.Accelerated(inner=INEXACT), "tol": 1e-2},
    ),
    "a survey": (SURVEYED, VALUES, {"k": 2, "method": sm.Power(), "tol": 1e-4}),
    "a limit": (verdict.UNFINISHED, EVEN, {"k": 2, "max_steps": 3}),
    "LAPACK": (verdict.BY_LAPACK, np.diag(VALUES[-50:]), {"k": 2}),
    "a count": (verdict.COUNTED, np.diag(VALUES), {"k": 2, "method": sm.Accelerated()}),
    "a count asked for": (verdict.COUNTED, np.diag(VALUES), {"certify": True, "method": sm.Accelerated()}),
    "a cut cluster": (verdict.CUT, np.diag(CLUSTER), {"k": 5, "method": sm.Accelerated()}),
}


@pytest.mark.parametrize("reached", REACHED)
def test_every_verdict_says_what_it_rests_on(reached):
    expected, A, options = REACHED[reached]
    # of a diagonal alone only products are known
    A = A if A.ndim == 2 else aslinearoperator(np.diag(A))
    try:
        sol = sm.solve(A, rng=0, **options)
    except sm.NotConverged as error:
        sol = error.solution
    assert sol.converged is (expected is not verdict.UNFINISHED)
    assert sol.verdict == expected
    assert expected.why in sol.verdict.why


@pytest.mark.parametrize(("k", "said"), [(1, "the first pair is consistent"), (3, "the first 3 pairs are consistent")])
def test_the_paper_s_methods_say_how_many_pairs_were_compared(k, said):
    A, B = sm.gallery.synthetic_pair(60, kappa_B=10, rng=0)
    assert said in sm.solve(A, B, k=k, method=sm.SplitMerge(), tol=1e-5, rng=0).verdict.why


@pytest.mark.parametrize("start", [None, SINES[:, 0]], ids=["random", "given"])
def test_a_count_that_was_asked_for_and_not_made_is_told(start, monkeypatch):
    """Also after probes."""
    monkeypatch.setattr("splitmerge.verification.completeness.counted", lambda *_, **__: None)
    A = sm.gallery.grid_laplacian((20, 30))[0]
    start = None if start is None else np.linalg.eigh(A.toarray())[1][:, -1]
    sol = sm.solve(A, k=1, certify=True, x0=start, method=sm.Accelerated(), rng=0)
    assert sol.verdict == "probed"
    assert "the inertia count that was asked for could not be made" in sol.verdict.why
    assert sol.counts.monitoring.A_products > 0


def test_a_count_that_does_not_fit_is_tried_once_and_told_with_its_figures(monkeypatch):
    tried = []

    def refused(K, what):
        tried.append(what)
        raise MemoryError(f"the factorisation of {what} takes 3 GiB, and 2 GiB are free; do without")

    monkeypatch.setattr("splitmerge.verification.inertia.check_fits", refused)
    A = sm.gallery.grid_laplacian((20, 30))[0]
    sol = sm.solve(A, k=1, certify=True, method=sm.Accelerated(), rng=0)
    assert sol.verdict == "probed"
    assert tried == ["A − τB"]
    assert sol.verdict.why.endswith("was not made: the factorisation of A − τB takes 3 GiB, and 2 GiB are free")


@pytest.mark.parametrize("seed", [0, 2, 11])
def test_deflation_that_skips_an_eigenvalue_is_noticed(seed):
    """Lanczos for one pair after the other passes by eigenvalues that are tiny relative to the deflated ones."""
    powers = [19, 17, 12, 8, 7, 7, 5, 2, -3, -7, -7, -12, -12, -14, -17, -17, -19]
    negative = [-16, -15, -13, -5, -1, 6, 9, 17, 17, 18]
    values = np.r_[2.0 ** np.array(powers), -(2.0 ** np.array(negative))]
    n = values.size
    rng = np.random.default_rng(seed)
    L = np.eye(n) + np.tril(rng.integers(-1, 2, (n, n)) * (rng.random((n, n)) < 3 / n), -1)
    A, B = L @ np.diag(values) @ L.T, L @ L.T
    missed = False
    try:
        sol = sm.solve(A, B, 16, method=sm.Lanczos(), tol=1e-14, rng=seed, max_steps=1500)
    except sm.NotConverged as error:
        sol = error.solution
        missed = sol.reason is sm.Reason.MISSED
    # rounding, which depends on the processor, may let it find all of them
    assert missed or (np.abs(sol.eigenvalues - np.sort(values)[::-1][:16]) <= sol.error_bounds).all()


def test_deflation_from_starts_that_do_not_show_an_eigenvalue_is_held_to_a_krylov_search(monkeypatch):
    """At a loose tolerance the second of several pairs is the second largest, or it is told that one is missing."""

    def deaf(*args):
        x = random_vector(*args)
        x[-2] = 0
        return x

    monkeypatch.setattr("splitmerge.methods.deflation.random_vector", deaf)
    for seed in range(4):
        try:
            sol = sm.solve(np.diag(np.r_[np.linspace(0, 1, 139), 1.2]), k=2, method=sm.Power(), tol=1e-3, rng=seed)
        except sm.NotConverged as error:
            sol = error.solution
        assert sol.reason is sm.Reason.MISSED or 1 - sol.eigenvalues[1] <= sol.error_bounds[1] + 1e-3
