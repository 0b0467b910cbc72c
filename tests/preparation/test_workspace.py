"""What the set-up counts, hands on and tells: entries computed, trials of preconditioners, and options without use."""

import math
from dataclasses import asdict, replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from asking import Counted, asked
from checking import choices, figures_of, operator_of
from pairs import grid, pair_of
from splitmerge.linalg.cholesky import DenseFactor
from splitmerge.planning.choose import choose
from splitmerge.preconditioners import UserDiagonal
from splitmerge.preparation.matrix_free import _definite_shift, _prepared_for_A, _trials_of_A, smallest
from splitmerge.preparation.prepare import setups
from splitmerge.preparation.trials import TRIAL_STEPS, Trial, attempt, trials_of
from splitmerge.preparation.workspace import Workspace
from splitmerge.problem.products import Counts, Products
from splitmerge.problem.start import Spent, Warm
from splitmerge.problem.target import Target

N = 30
A, B = pair_of(np.linspace(-2, 9, N))


def workspace_of(A, B=None, k=1, **options):
    problem, pencil = asked(A, B, k, **options)
    return Workspace(problem, pencil, choose(problem, pencil), np.random.default_rng(0))


class TestEntries:
    @pytest.mark.parametrize("which", ["A", "B", "AB", ""])
    @pytest.mark.parametrize("operators", ["A", "B", "AB"])
    def test_n_products_of_each_operator(self, which, operators):
        """Those of a matrix cost none."""
        given = [Counted(M) if name in operators else M for name, M in (("A", A), ("B", B))]
        workspace = workspace_of(*given, method=sm.Accelerated())
        for M in given:
            if isinstance(M, Counted):
                M.columns = 0
        workspace.form(A="A" in which, B="B" in which)
        found = asdict(workspace.counts.setup)
        for name, M in zip("AB", given, strict=True):
            expected = N if name in which and name in operators else 0
            assert found[f"{name}_products"] == expected
            assert not isinstance(M, Counted) or M.columns == expected
            op = getattr(workspace.pencil, name)
            assert (op.matrix is not None) == (name in which or name not in operators)
        assert workspace.formed_A == ("A" in which and "A" in operators)
        assert found["B_solves"] == workspace.counts.A_products == workspace.counts.monitoring.A_products == 0

    @pytest.mark.parametrize("unit", [1e-40, 1.0, 1e40])
    @pytest.mark.parametrize("method", [None, sm.Accelerated(), sm.SplitMerge()], ids=repr)
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_operators_whose_entries_are_computed(self, unit, method, which):
        """With their units and signs, equilibrated or not."""
        d = np.geomspace(1, 1e-3, N)
        for D in (np.eye(N), np.diag(d)):
            given = [operator_of(D @ M @ D * u) for M, u in ((A, unit), (B, 1 / unit))]
            sol = sm.solve(*given, 1, which=which, method=method, rng=0)
            expected = (9 if which == "largest" else -2) * unit**2
            assert sol.eigenvalues[0] == pytest.approx(expected, rel=1e-7)
            assert sol.residuals[0] <= 1e-8


class TestSetup:
    @pytest.mark.parametrize("unit", [2.0**-150, 1.0, 2.0**150])
    def test_of_a_resumed_solve(self, unit):
        """What is known of the shift is in the units of the scaled pair."""
        spent = Spent(3, Counts(), 1.0)
        X = np.ones((N, 2))
        for warm in (Warm(X, 3.0 * unit, spent), Warm(X, 3.0 * unit, trusted=True), Warm(X, 3.0 * unit, spent, True)):
            workspace = workspace_of(A * unit, B, method=sm.Accelerated(), x0=warm)
            workspace.X = np.ones((N, 2))
            setup = workspace.setup(workspace.products(), Target.LARGEST)
            assert setup.lowest * abs(workspace.pencil.unit) == pytest.approx(-3.0 * unit)
            assert (setup.continued, setup.trusted) == (warm.spent is not None, warm.trusted)
            assert (setup.given, setup.width, setup.k) == (True, 2, 1)

    @pytest.mark.parametrize("certify", [False, True])
    def test_what_is_handed_on(self, certify):
        workspace = workspace_of(A, B, 3, method=sm.Accelerated(), certify=certify)
        workspace.max_products, workspace.provisional, workspace.semidefinite = 7.0, True, True
        setup = workspace.setup(workspace.products(), Target.ENDS)
        assert (setup.k, setup.target, setup.certify, setup.given) == (3, Target.ENDS, certify, False)
        assert (setup.max_products, setup.provisional, setup.semidefinite) == (7.0, True, True)
        assert setup.products.counts is workspace.counts
        assert setup.products.budget is workspace.budget
        assert setup.width == 1


HINT = aslinearoperator(np.eye(N) / 2)
USED = {
    "CG for B": (A, operator_of(B), {"method": sm.Accelerated()}),
    "LOBPCG": (A + 3 * B, B, {"method": sm.LocallyOptimal(), "which": "smallest"}),
    "LOBPCG beside the identity": (A + 3 * B, None, {"method": sm.LocallyOptimal(), "which": "smallest"}),
    "by itself": (sp.csr_array(A + 3 * B), sp.csr_array(B), {"which": "smallest", "stop": sm.Residual(1e-8)}),
}
UNUSED = {
    "LAPACK": (A, B, {}),
    "the identity": (A, None, {"method": sm.Accelerated()}),
    "the smallest by LAPACK": (A, B, {"which": "smallest"}),
}


class TestUnusedPreconditioner:
    """It is told where nothing uses a preconditioner that was given, and only there."""

    @pytest.mark.parametrize("name", USED)
    def test_used(self, name):
        A, B, options = USED[name]
        sol = sm.solve(A, B, 1, preconditioner=HINT, rng=0, **options)
        assert "UNUSED_PRECONDITIONER" not in choices(sol)
        phases = sol.counts, sol.counts.setup, sol.counts.monitoring
        assert sum(phase.P_solves for phase in phases) > 0

    @pytest.mark.parametrize("name", UNUSED)
    def test_unused(self, name):
        A, B, options = UNUSED[name]
        sol = sm.solve(A, B, 1, preconditioner=sm.Diagonal(), rng=0, **options)
        assert figures_of(sol, "UNUSED_PRECONDITIONER")["preconditioner"] == "Diagonal()"
        assert sol.counts.P_solves == sol.counts.setup.P_solves == 0
        assert "UNUSED_PRECONDITIONER" not in choices(sm.solve(A, B, 1, rng=0, **options))


class TestTrials:
    def test_steps_of_a_trial(self):
        """d digits take d ln 10 / −ln(rate) steps; no rate counts as less than 10⁻³ or as 1."""
        trial = Trial(sm.Diagonal(), None, 0.1, 5.0, 0.0, 0.0)
        assert trial.steps(8) == pytest.approx(8)
        assert replace(trial, rate=10**-0.5).steps(8) == pytest.approx(16)
        assert replace(trial, rate=0.0).steps(9) == replace(trial, rate=1e-3).steps(9) == pytest.approx(3)
        assert replace(trial, rate=1.0).steps(1) == pytest.approx(-math.log(10) / math.log(0.9999))

    @pytest.mark.parametrize("condition", [4.0, 100.0, 1e4])
    @pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
    def test_the_rate_of_conjugate_gradients(self, condition, unit):
        """About (√κ − 1)/(√κ + 1), in any units."""
        n = 2000
        values = 1 + (condition - 1) * np.sin(np.linspace(0, np.pi / 2, n)) ** 2
        products = Products(sm.Pencil(sp.eye_array(n), sp.csr_array(sp.diags_array(unit * values))))
        trial = attempt(products, UserDiagonal(np.full(n, 3.0)))
        root = condition**0.5
        assert trial.rate == pytest.approx((root - 1) / (root + 1), rel=0.15)
        assert products.counts.B_products <= TRIAL_STEPS + 2
        assert trial.setup >= 0
        assert trial.step >= 0

    def test_of_an_exact_preconditioner(self):
        products = Products(sm.Pencil(np.eye(N), B))
        assert attempt(products, sm.Exact()).rate < 1e-3
        assert [
            trial.preconditioner for trial in trials_of(Products(sm.Pencil(np.eye(N), np.diag(1.0 + np.arange(N)))))
        ] == [sm.Diagonal()]

    def test_further_ones_while_they_are_poor(self):
        """The diagonal of a Laplacian is poor, multigrid is not, and an incomplete factor is not tried any more."""
        K = sp.csr_array(grid(24))
        kinds = [type(trial.preconditioner).__name__ for trial in trials_of(Products(sm.Pencil(K, K)))]
        assert kinds == ["Diagonal", "MultiGrid"]
        figures = trials_of(Products(sm.Pencil(K, K)))[1].figures()
        assert figures["preconditioner"] == "MultiGrid()"
        assert set(figures) == {"preconditioner", "rate", "setup", "step"}

    @pytest.mark.parametrize("low", [-1e-3, -0.5])
    def test_none_of_an_indefinite_matrix(self, low):
        for values in (np.r_[low, np.linspace(1, 3, 50)], np.r_[low * 1e3, np.linspace(1e-3, 3, 50)]):
            Q = np.linalg.qr(np.random.default_rng(0).standard_normal((51, 51)))[0]
            assert trials_of(Products(sm.Pencil(np.eye(51), (Q * values) @ Q.T))) == []

    def test_are_booked_as_products_with_A(self):
        """And as set-up, though it is the B of the pair (B, A)."""
        for given in (None, sp.csr_array(sp.eye_array(576) * 2.0)):
            workspace = workspace_of(sp.csr_array(grid(24)), given, which="smallest")
            trials = _trials_of_A(workspace, 0.0)
            found = asdict(workspace.counts.setup)
            assert found["A_products"] > 2 * len(trials)
            assert found["P_solves"] > 0
            assert found["B_products"] == found["B_solves"] == found["K_solves"] == 0
            assert workspace.counts.A_products == workspace.counts.P_solves == 0


class TestIndefinite:
    """LOBPCG with an A that has negative eigenvalues: a preconditioner of A + ηB with η beyond the lowest one."""

    @pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
    @pytest.mark.parametrize("lowest", [-4.0, -0.3])
    def test_the_shift_is_enough(self, unit, lowest):
        values = np.r_[lowest, np.linspace(0.5, 9, 99)]
        A, B = pair_of(values)
        workspace = workspace_of(sp.csr_array(A * unit), sp.csr_array(B), which="smallest", method=sm.LocallyOptimal())
        eta = _definite_shift(workspace, [])
        assert -lowest * unit < eta < -8 * lowest * unit
        P = _prepared_for_A(workspace, sm.Exact())
        M = np.column_stack([P.gram_solve(e) for e in np.eye(100)])
        assert np.linalg.eigvalsh((M + M.T) / 2)[0] > 0

    def test_none_where_A_is_definite(self):
        workspace = workspace_of(sp.csr_array(A + 3 * B), sp.csr_array(B), which="smallest", method=sm.LocallyOptimal())
        trials = trials_of(Products(sm.Pencil(np.eye(N), A + 3 * B)))
        assert _definite_shift(workspace, trials) == 0.0

    @pytest.mark.parametrize("shift", [-3.0, 0.0, 3.0])
    @pytest.mark.parametrize("preconditioner", [sm.Exact(), sm.IncompleteCholesky()], ids=repr)
    def test_the_smallest(self, shift, preconditioner):
        values = np.linspace(0.5, 9, 120) + shift
        A, B = (sp.csr_array(M) for M in pair_of(values))
        sol = sm.solve(A, B, 2, which="smallest", method=sm.LocallyOptimal(preconditioner), rng=0)
        np.testing.assert_allclose(np.sort(sol.eigenvalues), values[:2], rtol=1e-8)
        assert figures_of(sol, "MATRIX_FREE")["preconditioner"] == preconditioner

    def test_bounds_of_a_pair_with_a_B(self):
        """The solves with B are as accurate as bounds need."""
        A, B = (sp.csr_array(M) for M in pair_of(np.linspace(0.5, 9, 120), condition=1e3))
        sol = sm.solve(A, B, 2, which="smallest", method=sm.LocallyOptimal(sm.Exact()), rng=0)
        assert (sol.error_bounds < 1e-5).all()


def test_the_best_trial_is_the_cheapest(monkeypatch):
    """Of steps times work, not of the rate alone."""
    workspace = workspace_of(sp.csr_array(grid(24)), None, which="smallest", method=sm.LocallyOptimal())
    made = [
        Trial(sm.LowRank(), "slow", 0.99, 0.0, 0.0, 0.0),
        Trial(sm.Diagonal(), "cheap", 0.5, 0.0, 0.0, 0.0),
        Trial(sm.Exact(), "dear", 0.4, 1e9, 0.0, 0.0),
    ]
    monkeypatch.setattr("splitmerge.preparation.matrix_free._trials_of_A", lambda *_: made)
    monkeypatch.setattr("splitmerge.preparation.matrix_free._definite_shift", lambda *_: 0.0)
    setup = smallest(workspace, must=True)
    assert setup.P == "cheap"
    (figures,) = [d.figures for d in workspace.decisions if d.choice.name == "TRIAL"]
    assert [each["preconditioner"] for each in figures["trials"]] == [repr(sm.LowRank()), "Diagonal()", "Exact()"]
    assert [each["rate"] for each in figures["trials"]] == [0.99, 0.5, 0.4]


@pytest.mark.parametrize(("n", "formed"), [(100, False), (200, True)])
def test_the_explicit_matrix_is_that_of_the_pair(n, formed):
    """Formed where many products are expected, and then U⁻ᴴAU⁻¹."""
    A, B = pair_of(np.linspace(-2, 9, n))
    k = 70 if formed else 2
    workspace = workspace_of(A, B, k, method=sm.Accelerated())
    _, setup = next(setups(workspace))
    assert (setup.products.explicit is not None) == formed
    if formed:
        U = np.linalg.cholesky(B).T
        E = np.linalg.solve(U.T, np.linalg.solve(U.T, A).T)
        found = setup.products.explicit
        np.testing.assert_allclose(np.triu(found), np.triu(E), atol=1e-9)
        assert isinstance(setup.products.solver, DenseFactor)


def test_an_operator_is_given_as_it_is():
    """No entry of it is computed where products are enough."""
    given = Counted(A)
    sol = sm.solve(given, None, 1, which="largest", method=sm.Accelerated(), rng=0)
    assert "FORMED_A" not in choices(sol)
    phases = sol.counts, sol.counts.setup, sol.counts.monitoring
    assert sum(phase.A_products for phase in phases) <= given.columns
    assert sol.counts.setup.A_products < N
    assert sol.eigenvalues[0] == pytest.approx(np.linalg.eigvalsh(A)[-1])
    assert sm.solve(aslinearoperator(A), B, 1, rng=0).eigenvalues[0] == pytest.approx(9)
