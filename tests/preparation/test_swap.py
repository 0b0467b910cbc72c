"""The multiple of B that makes A + ηB positive definite: enough, and not much more."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from asking import asked
from checking import figures_of
from splitmerge.planning.choose import choose
from splitmerge.preparation.definiteness import check_B
from splitmerge.preparation.swap import ETA_MARGIN, MAX_ETA_RATIO, _clear, swapped_below
from splitmerge.preparation.workspace import Workspace
from splitmerge.problem.adapt import adapt
from splitmerge.problem.factorise import factorise
from splitmerge.sparse_direct.choice import definite_factors
from strategies import EPS

N = 60


def eta_for(lowest, kind, *, massless):
    mass = np.ones(N)
    mass[:massless] = 0
    A = np.diag(np.r_[np.full(massless, 2.0), np.linspace(lowest, 5, N - massless)])
    problem, pencil = asked(kind(A), kind(np.diag(mass)), which="smallest", method=sm.Accelerated())
    workspace = Workspace(problem, pencil, choose(problem, pencil), np.random.default_rng(0))
    check_B(workspace)
    return -swapped_below(workspace).pencil.inverse[0]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("massless", [0, 3])
@pytest.mark.parametrize("lowest", [-1e-3, -1.0, -37.0])
def test_not_much_more_than_needed(kind, massless, lowest):
    """A shift far below the spectrum would leave all wanted values close to each other."""
    eta = eta_for(lowest, kind, massless=massless)
    assert -lowest < eta <= 1.01 * ETA_MARGIN * MAX_ETA_RATIO * -lowest


@pytest.mark.parametrize("massless", [0, 3])
def test_none_where_A_is_definite(massless):
    assert eta_for(0.5, np.asarray, massless=massless) < 1e-6


@pytest.mark.parametrize("unit", [1.0, 2.0**-150, 2.0**150])
@pytest.mark.parametrize("mass", [1.0, 2.0**-140])
def test_the_shift_is_told_in_the_units_of_the_eigenvalues(unit, mass):
    A, B = np.diag(np.linspace(-3.0, 5.0, N)), np.diag(np.linspace(1.0, 2.0, N))
    plain, scaled = (
        sm.solve(a * A, b * B, which="smallest", method=sm.Accelerated(), rng=0) for a, b in ((1, 1), (unit, mass))
    )
    told = figures_of(plain, "SWAPPED")["shift"]
    assert told == pytest.approx(plain.shift)
    assert figures_of(scaled, "SWAPPED")["shift"] == pytest.approx(told * unit / mass)


@pytest.mark.parametrize(("distance", "clear"), [(0.3, True), (1e-5, True), (1e-10, False), (1e-14, False)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_shift_next_to_an_eigenvalue_is_not_clear(kind, distance, clear):
    """In terms of the pivots of A − σI relative to its diagonal: one small pivot is enough."""
    n = 8
    A = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    sigma = 2 - 2 * np.cos(np.pi / (n + 1)) - distance
    K = adapt(kind(A - sigma * np.eye(n)), "K")
    assert _clear(factorise(K), K.diagonal(), EPS) is clear


class TestWell:
    """A particle in a well: 20 Lanczos steps see nothing of its bound states beside the kinetic energies."""

    n = 400
    x = np.linspace(-8, 8, n)
    kinetic = sp.diags_array([np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)], offsets=[-1, 0, 1])
    A = sp.csr_array(kinetic * (n / 16) ** 2 + sp.diags_array(-6 * np.exp(-(x**2) / 8)))

    @pytest.mark.parametrize("mass", [None, np.linspace(1, 2, n)], ids=["identity", "lumped"])
    def test_a_bound_by_circles(self, mass, monkeypatch):
        made = []

        def factors(K, like):
            made.append(definite_factors(K, like))
            return made[-1]

        monkeypatch.setattr("splitmerge.preparation.swap.definite_factors", factors)
        sol = sm.solve(self.A, mass, 3, which="smallest", rng=0)
        exact = scipy.linalg.eigh(self.A.toarray(), None if mass is None else np.diag(mass), eigvals_only=True)[:3]
        np.testing.assert_allclose(sol.eigenvalues, exact, rtol=1e-8)
        assert sol.verdict == "certified"
        # A, nearly A, and with the bound
        assert len(made) <= 4
        assert len({id(each.analysis) for each in made}) == 1
