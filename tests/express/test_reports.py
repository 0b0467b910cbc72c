"""What the short way reports: counts, steps, history, decisions and bounds, on each of its ways and in any unit."""

import math
import sys
from functools import lru_cache

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from checking import choices, figures_of
from pairs import pair_of
from rotated import pair as rotated_pair
from splitmerge.express import express
from splitmerge.express.plain import plain_pair
from splitmerge.express.search import searched
from splitmerge.express.sparse import by_products as by_products_module
from splitmerge.verification import verdict
from strategies import unitary

N = 300
POSITIVE = np.r_[0.5, 0.8, 1.3, np.linspace(2.0, 9.0, N - 7), 11.0, 14.0, 19.0, 27.0]
SIGNS = POSITIVE - 6.0
# the way, what is asked, and whether an inverse is searched
WAYS = {
    "dense, largest": ("dense", {"which": "largest"}, False),
    "dense, smallest": ("dense", {"which": "smallest"}, True),
    "sparse, largest": ("lumped", {"which": "largest"}, False),
    "sparse, magnitude": ("lumped", {"which": "magnitude"}, False),
    "sparse, smallest": ("consistent", {"which": "smallest"}, True),
    "sparse, smallest, lumped": ("lumped", {"which": "smallest"}, True),
    "sparse, sigma": ("consistent", {"sigma": 0.9}, True),
    "sparse, badly scaled": ("badly scaled", {"sigma": 0.9}, True),
}


@lru_cache
def matrices(kind, *, signs=False):
    values = SIGNS if signs else POSITIVE
    if kind == "dense":
        return pair_of(values, condition=9.0)
    return rotated_pair(values, kind)


def shortly(A, B, k, monkeypatch, tol=1e-8, **question):
    """The solution, which must be that of the short way."""
    taken, solve = [], sys.modules["splitmerge.solve"]
    with monkeypatch.context() as patch:
        patch.setattr(solve, "express", lambda *args: taken.append(express(*args)) or taken[-1])
        sol = sm.solve(A, B, k, tol=tol, rng=0, **question)
    assert taken[-1] is sol
    return sol


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("way", WAYS)
def test_history_counts_and_residuals(way, k, unit, monkeypatch):
    kind, question, inverse = WAYS[way]
    A, B = matrices(kind)
    question = {name: value * unit if name == "sigma" else value for name, value in question.items()}
    sol = shortly(unit * A, B, k, monkeypatch, **question)
    history, counts, monitoring = sol.history, sol.counts, sol.counts.monitoring
    assert sol.steps == int((history.step > 0).sum()) < len(history)
    assert history.products[-1] == counts.products == (counts.K_solves if inverse else counts.A_products)
    assert (np.diff(history.products) >= 0).all()
    assert (history.seconds <= sol.seconds.iteration).all()
    for i in range(k):
        own = history.pair == i
        assert history.value[own][-1] == pytest.approx(sol.eigenvalues[i], rel=1e-6)
        assert history.residual[own][-1] <= 1e-8
        # the objective of the pair that is iterated with: of 1/λ for an inverse
        if not inverse:
            np.testing.assert_allclose(history.f[own], -(history.value[own] + sol.shift) / 4, rtol=1e-9)
        elif "sigma" not in question:
            np.testing.assert_allclose(history.f[own], -1 / history.value[own] / 4, rtol=1e-9)
    assert monitoring.A_products >= k
    assert monitoring.K_solves == (k if inverse else 0)
    # a lumped B takes solves in a search with A, and nothing in one with an inverse; the error norms take k more
    lumped = kind == "lumped"
    assert counts.B_solves == (0 if inverse else counts.A_products)
    assert counts.B_products == (counts.K_solves if inverse and not lumped else 0)
    assert monitoring.B_products == (2 * k if inverse and not lumped else k)
    assert 0 <= sol.seconds.verification <= sol.seconds.iteration
    V, M = sol.eigenvectors, B
    r = unit * (A @ V) - M @ V * sol.eigenvalues
    sizes = np.abs(sol.eigenvalues) * np.linalg.norm(M @ V, axis=0)
    level = unit * abs(A).sum(axis=0).max() + np.abs(sol.eigenvalues) * abs(M).sum(axis=0).max()
    sizes = np.maximum(sizes, 2.0**-26 * level * np.linalg.norm(V, axis=0))
    # the residuals are those of the user's own matrices
    np.testing.assert_allclose(sol.residuals, np.linalg.norm(r, axis=0) / sizes, rtol=0.02, atol=1e-13)
    assert figures_of(sol, "WANTED")["k"] == k
    assert figures_of(sol, "WANTED")["n"] == N


@pytest.mark.parametrize("kind", ["dense", "lumped", "identity"])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_shift_and_the_objective_of_an_indefinite_pair(kind, unit, monkeypatch):
    """η is positive, at most what A needs, and f is that of A + ηB in every row."""
    A, B = matrices(kind, signs=True)
    sol = shortly(unit * A, B, 1, monkeypatch)
    assert 0 < sol.shift <= 5.5 * unit * (1 + 1e-9)
    found = -4 * sol.history.f - sol.history.value
    # the shift of the rows grows up to that of the solution
    assert (np.diff(found) >= -1e-9 * unit).all()
    assert found[-1] == pytest.approx(sol.shift, rel=1e-9)


@pytest.mark.parametrize("which", ["largest", "magnitude"])
@pytest.mark.parametrize("masses", ["identity", "lumped"])
def test_products_of_a_probe_are_monitoring(masses, which, monkeypatch):
    """All that was multiplied is told, be it by the search, the verification or the probe."""
    monkeypatch.setattr(by_products_module, "COUNTED_NONZEROS", 0)
    A, B = matrices(masses)
    own, multiplied = by_products_module.DirectSearch.__init__, []

    def watched(self, *args, **options):
        own(self, *args, **options)
        times = self.process.times
        self.process.times = lambda v: multiplied.append(1) or times(v)

    monkeypatch.setattr(by_products_module.DirectSearch, "__init__", watched)
    sol = shortly(A, B, 3, monkeypatch, which=which)
    counts = sol.counts
    assert sol.verdict == "probed"
    assert counts.A_products + counts.monitoring.A_products == len(multiplied) + 3
    if B is not None:
        assert counts.B_solves + counts.monitoring.B_solves == len(multiplied) + 3


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("copies", [2, 3])
def test_a_cut_cluster_is_told_and_bounded(copies, side, monkeypatch):
    """k is among equal eigenvalues: the verdict says so, and no angle of the last vector is claimed."""
    A, B = rotated_pair(np.sort(np.r_[np.linspace(2.0, 9.0, N - copies - 1), 1.0, np.full(copies, 1.5)]), "lumped")
    sol = shortly(side * A, B, 2, monkeypatch, which="smallest" if side > 0 else "largest")
    assert sol.verdict.why == verdict.CUT.why
    np.testing.assert_allclose(sol.eigenvalues, [side, 1.5 * side], rtol=1e-8)
    assert sol.angle_bounds[1] == 1
    assert sol.angle_bounds[0] < 1e-3
    # without the cluster, a count is a count
    whole = shortly(side * A, B, 1, monkeypatch, which="smallest" if side > 0 else "largest", certify=True)
    assert whole.verdict.why == verdict.COUNTED.why


@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("close", [1e-9, 1e-12])
def test_a_nearly_double_value_is_bounded_by_what_is_known(close, which, monkeypatch):
    """A search shows one copy of it: with k = 1, no gap beyond is known."""
    values = np.r_[30.0, 30.0 * (1 - close), np.linspace(1.0, 20.0, 218)]
    values = values if which == "largest" else 31.5 - values
    Q = unitary(np.random.default_rng(0), 220, float)
    A = (Q * values) @ Q.T
    sol = shortly((A + A.T) / 2, None, 1, monkeypatch, which=which)
    v = sol.eigenvectors[:, 0]
    assert sol.angle_bounds[0] >= np.linalg.norm(v - Q[:, 0] * (Q[:, 0] @ v)) - 1e-12
    assert sol.error_bounds[0] >= np.abs(sol.eigenvalues[0] - values).min() - 1e-13
    sign = 1.0 if which == "largest" else -1.0
    search = searched(np.asfortranarray(A), None, 1, 1e-8, np.random.default_rng(0), sign=sign, inverse=False)
    assert search.extreme.gaps[0] <= 0


@pytest.mark.parametrize(("k", "unit"), [(1, 1e-9), (2, 1e9), (4, 1.0)])
def test_gaps_of_the_smallest_are_those_of_the_inverse(k, unit, monkeypatch):
    """A loose search for the smallest of a dense definite pair: no bound is smaller than the error."""
    values = np.r_[1.0, 2.0, 3.0, 3.2, np.linspace(4.0, 2000.0, 336)]
    A, B = pair_of(values)
    sol = shortly(unit * A, B, k, monkeypatch, which="smallest", tol=1e-2)
    assert "SWAPPED" in choices(sol)
    exact, U = scipy.linalg.eigh(unit * A, B)
    thetas = 1 / exact
    for i, v in enumerate(sol.eigenvectors.T):
        r = unit * (A @ v) - sol.eigenvalues[i] * (B @ v)
        w = np.linalg.solve(unit * A, r)
        gap = np.abs(np.delete(thetas, i) - 1 / sol.eigenvalues[i]).min()
        error = math.sqrt(w @ B @ w) / sol.eigenvalues[i]
        assert sol.angle_bounds[i] >= 0.999 * min(error / gap, 1.0)
        rest = v - U[:, i] * (U[:, i] @ B @ v)
        assert math.sqrt(rest @ B @ rest) <= sol.angle_bounds[i]


@pytest.mark.parametrize("question", ["largest", "smallest", "nearest"])
@pytest.mark.parametrize("least", [1e-3, 1e-12])
def test_a_nearly_massless_row_hides_all_but_the_largest(least, question):
    """Rounding of its huge eigenvalue hides the others from a decomposition of (A, B)."""
    n = 20
    A, B = pair_of(np.linspace(1.0, 5.0, n))
    d = np.ones(n)
    d[3] = math.sqrt(least)
    B = d[:, None] * B * d
    plain = plain_pair(A - 2 * B, B, 2, smallest=question == "smallest", near=question == "nearest")
    assert plain is not None
    assert plain.hides(question) is (least == 1e-12 and question != "largest")
    if question == "nearest":
        sol = sm.solve(A, B, 2, sigma=2.2)
        exact = np.sort(1 / scipy.linalg.eigh(B, A, eigvals_only=True))
        exact = exact[np.argsort(np.abs(exact - 2.2))[:2]]
        assert (np.abs(sol.eigenvalues - exact) <= sol.error_bounds + 1e-11).all()
        assert sol.residuals.max() <= 1e-8


def test_csr_without_its_own_diagonal_of_masses_is_not_lumped():
    """As many entries as a diagonal, but in other places, are none."""
    n = 300
    B = sp.csr_array((np.ones(n), (np.arange(n), np.roll(np.arange(n), 1))), shape=(n, n))
    A = matrices("identity")[0]
    assert express(A, B, 1, "largest", 1e-8, False, 0.0) is None
    with pytest.raises(ValueError, match="B"):
        sm.solve(A, B)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_what_makes_a_pair_definite_enough(unit):
    """Pivots of A above the root of eps, relative to their entries; and as many masses as pairs are asked for."""
    n = 9
    for size, definite in ((1e-7, True), (1e-9, False), (-1e-3, False)):
        A = np.eye(n)
        A[0, 1] = A[1, 0] = math.sqrt(1 - size)
        assert (plain_pair(unit * A, None, 1, smallest=True).definite() is not None) is definite
    B = np.diag(np.r_[1.0, 2.0, np.zeros(n - 2)])
    for k, taken in ((2, True), (3, False)):
        assert (plain_pair(unit * np.eye(n), unit * B, k, smallest=True) is not None) is taken
