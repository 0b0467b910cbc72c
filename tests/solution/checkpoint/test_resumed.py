"""Going on from the checkpoint of a solve that died: every family of methods, options, costs, and what is refused."""

import os
import pickle
from dataclasses import asdict, replace

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from checking import choices, figures_of, operator_of
from checkpoints import count_of, left_behind
from resuming import N, close, dense_pair, laplacian, sparse_pair
from splitmerge.problem.products import Counts, Tally

SPARSE, DENSE = sparse_pair(), dense_pair()
SINGULAR = sp.csr_array(sp.diags_array(np.r_[np.zeros(10), np.linspace(1, 2, N - 10)]))
SCALES = np.geomspace(1, 1e6, N)
FAMILIES = {
    "thick restart": (*DENSE, {"k": 4, "method": sm.Accelerated()}),
    "small basis": (*DENSE, {"k": 4, "method": sm.Accelerated(max_basis=16)}),
    "mixed precision": (*DENSE, {"k": 1}),
    "sparse": (*SPARSE, {"k": 6}),
    "standard": (DENSE[0], None, {"k": 3, "method": sm.Accelerated()}),
    "operators": (*map(operator_of, DENSE), {"k": 2}),
    "LOBPCG": (*SPARSE, {"k": 3, "method": sm.LocallyOptimal()}),
    "LOBPCG, smallest": (*SPARSE, {"k": 3, "which": "smallest", "method": sm.LocallyOptimal(sm.Diagonal())}),
    "Lanczos": (*DENSE, {"k": 3, "method": sm.Lanczos()}),
    "Split-Merge": (*DENSE, {"k": 3, "method": sm.SplitMerge(), "tol": 1e-5}),
    "power": (*DENSE, {"k": 3, "method": sm.Power(), "tol": 1e-3}),
    "power, smallest": (sp.diags_array(np.r_[-9.0, -7.0, np.linspace(0, 1, 98)]), None, {"k": 2, "method": sm.Power()}),
    "smallest": (*SPARSE, {"k": 9, "which": "smallest", "method": sm.Accelerated()}),
    "sigma": (*SPARSE, {"k": 9, "sigma": 2.0, "tol": 1e-10, "method": sm.Accelerated()}),
    "magnitude": (DENSE[0] - np.eye(N), None, {"k": 3, "which": "magnitude"}),
    "indefinite": (DENSE[0] - np.eye(N), DENSE[1], {"k": 3, "method": sm.Accelerated()}),
    "complex": (*dense_pair(complex), {"k": 3, "method": sm.Accelerated()}),
    "float32": (*dense_pair(np.float32), {"k": 3, "method": sm.Accelerated(), "tol": 1e-4}),
    "complex64": (*dense_pair(np.complex64), {"k": 3, "method": sm.Accelerated(), "tol": 1e-4}),
    "equilibrated": (
        *(M * SCALES * SCALES[:, None] for M in DENSE),
        {"k": 3, "method": sm.Accelerated()},
    ),
    "restricted": (laplacian(N), SINGULAR, {"k": 3, "b_policy": "restrict", "tol": 1e-6}),
    "lumped": (SPARSE[0], np.linspace(1.0, 2.0, N), {"k": 4, "method": sm.Accelerated()}),
}
FAMILIES["power, smallest"][2]["which"] = "smallest"
each_family = pytest.mark.parametrize("name", FAMILIES)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ckpt"


class TestFamilies:
    @each_family
    def test_goes_on(self, name, path):
        A, B, options = FAMILIES[name]
        whole, loaded = left_behind(path, A, B, 0.8, **options)
        assert loaded.vectors.shape[0] == A.shape[0]
        assert loaded.vectors.dtype == whole.eigenvectors.dtype
        assert 0 < count_of(loaded) <= count_of(whole)
        sol = loaded.resume(A, B)
        assert sol.converged
        assert sol.eigenvectors.dtype == whole.eigenvectors.dtype
        allowed = sol.error_bounds + whole.error_bounds
        assert (np.abs(sol.eigenvalues - whole.eigenvalues) <= allowed).all()
        assert count_of(sol) < count_of(whole)
        assert "RESUMED" in choices(sol)

    @each_family
    def test_writing_changes_nothing(self, name, path):
        A, B, options = FAMILIES[name]
        plain = sm.solve(A, B, rng=0, **options)
        writing = sm.solve(A, B, rng=0, checkpoint=sm.Checkpoint(path, 0), **options)
        assert (plain.eigenvectors == writing.eigenvectors).all()
        assert (plain.counts.A_products, plain.counts.B_products) == (
            writing.counts.A_products,
            writing.counts.B_products,
        )
        assert plain.steps == writing.steps
        assert path.exists(), "the file remains"

    def test_lapack_writes_its_result(self, path):
        A, B = sm.gallery.synthetic_pair(50, kappa_B=10, rng=0)
        sol = sm.solve(A, B, 2, checkpoint=path)
        assert "LAPACK" in choices(sol)
        np.testing.assert_array_equal(sm.load(path).resume(A, B).eigenvalues, sol.eigenvalues)

    def test_columns_are_ritz_vectors_with_guards(self, path):
        A, B, options = FAMILIES["thick restart"]
        _, loaded = left_behind(path, A, B, **options)
        assert loaded.vectors.shape[1] > 4
        X = loaded.vectors
        np.testing.assert_allclose(X.T @ B @ X, np.eye(X.shape[1]), atol=1e-10)

    def test_a_method_that_deflates_has_found_pairs_and_its_iterate(self, path):
        A, B, options = FAMILIES["Split-Merge"]
        whole, loaded = left_behind(path, A, B, **options)
        pairs = whole.history.pair
        assert loaded.vectors.shape[1] == pairs[int(np.ceil(0.6 * pairs.size)) - 1] + 1
        x = loaded.vectors[:, 0]
        assert abs(x @ B @ whole.eigenvectors[:, 0]) / np.sqrt(x @ B @ x) == pytest.approx(1, abs=1e-7)

    def test_at_once(self, path):
        A, B, options = FAMILIES["sparse"]
        whole, loaded = left_behind(path, A, B, 0.0, **options)
        close(loaded.resume(A, B), whole)

    def test_the_basis_is_no_larger(self, path, monkeypatch):
        """A run whose basis has fitted into memory can be resumed."""
        from splitmerge.methods.krylov.basis import Basis

        capacities, made = [], Basis.__init__
        monkeypatch.setattr(
            Basis, "__init__", lambda self, *given: (made(self, *given), capacities.append(self.capacity))[0]
        )
        A, B = SPARSE
        _, loaded = left_behind(path, A, B, k=30)
        capacities.clear()
        loaded.resume(A, B)
        assert capacities[0] <= 2 * 30 + 44

    def test_another_pair_of_the_same_size(self, path):
        """Then the vectors are no Ritz vectors, and their residuals have as many directions."""
        A, B = DENSE
        _, loaded = left_behind(path, A, B, k=4)
        rng = np.random.default_rng(5)
        G = rng.standard_normal((N, N))
        other = A + 0.1 * (G + G.T)
        close(loaded.resume(other, B), sm.solve(other, B, 4, rng=0))


class TestOptions:
    def test_remembered(self, path):
        A, B = SPARSE
        asked = {"k": 3, "which": "smallest", "method": sm.LocallyOptimal(sm.Diagonal()), "tol": 1e-7}
        asked |= {"stop": sm.Residual(1e-5) | sm.MaxSeconds(50), "max_steps": 400}
        _, loaded = left_behind(path, A, B, **asked)
        for name, value in asked.items():
            assert getattr(loaded.problem, name) == value
        sol = loaded.resume(A, B)
        assert sol.method == asked["method"]
        assert sol.problem.stop == asked["stop"]
        assert sol.problem.max_steps == 400

    def test_overridden(self, path):
        A, B = SPARSE
        _, loaded = left_behind(path, A, B, k=3, tol=1e-4, stop=sm.Residual(1e-4))
        fine = loaded.resume(A, B, tol=1e-10)
        assert (fine.residuals <= 1e-10).all()
        assert loaded.resume(A, B, k=5).eigenvalues.shape == (5,)
        low = loaded.resume(A, B, which="smallest")
        close(low, sm.solve(A, B, 3, which="smallest", tol=1e-4, rng=0), 1e-4)
        assert loaded.resume(A, B, certify=True).verdict == "certified"
        assert "RESUMED" not in choices(loaded.resume(A, B, x0=np.ones(N)))

    def test_what_no_file_holds(self, path):
        A, B = SPARSE[0], np.full(N, 2.0)
        _, loaded = left_behind(path, A, B, k=2, method=sm.Power(inner=sm.UserSolve(lambda b: b / 2)), tol=0.1)
        with pytest.raises(ValueError, match=r"method was Power.*resume\(method=…\)"):
            loaded.resume(A, B)
        assert loaded.resume(A, B, method=None).converged

    def test_random_numbers_go_on(self, path):
        A, B = SPARSE
        _, loaded = left_behind(path, A, B, k=3)
        one, two = (sm.load(path).resume(A, B) for _ in range(2))
        assert (one.eigenvectors == two.eigenvectors).all()
        assert isinstance(loaded.generator, np.random.Generator)

    def test_given_to_load(self, path):
        A, B = SPARSE
        whole, _ = left_behind(path, A, B, k=3)
        close(sm.load(path, A, B).resume(), whole)
        with pytest.raises(ValueError, match=r"^A was a csr_array of shape \(600, 600\), .* resume\(A=…\)$"):
            sm.load(path).resume()
        with pytest.raises(ValueError, match=r"^B was "):
            sm.load(path).resume(A)


class TestCosts:
    def test_solution_tells_this_run_only(self, path):
        A, B, options = FAMILIES["Split-Merge"]
        whole, loaded = left_behind(path, A, B, **options)
        sol = loaded.resume(A, B)
        assert sol.steps < whole.steps
        assert len(sol.history) < len(whole.history)
        told = figures_of(sol, "RESUMED")
        assert told["steps"] == loaded.steps > 0
        assert told["counts"] == loaded.counts
        assert told["seconds"] == loaded.seconds > 0
        assert f"had cost {loaded.steps} steps, {loaded.counts.A_products} products with A" in sol.explain()

    def test_costs_add_up(self, path, tmp_path):
        A, B, options = FAMILIES["sparse"]
        _, loaded = left_behind(path, A, B, 0.5, **options)
        second = tmp_path / "second.ckpt"
        sol = loaded.resume(A, B, checkpoint=second)
        both = sm.load(second)
        assert both.steps == loaded.steps + sol.steps
        assert both.counts.A_products == loaded.counts.A_products + sol.counts.A_products
        assert both.counts.B_solves == loaded.counts.B_solves + sol.counts.B_solves
        assert both.seconds > loaded.seconds

    def test_costs_of_every_phase_add_up(self, path, tmp_path):
        """Those of the set-up and of monitoring as well as those of the iteration."""
        A, B = DENSE
        own = Counts(2, 3, 5, 7, 11, setup=Tally(13, 17, 19, 23, 29), monitoring=Tally(31, 37, 41, 43, 47))
        _, loaded = left_behind(path, A, B, 0.5, k=2, method=sm.Accelerated())
        before = replace(loaded, spent=replace(loaded.spent, counts=own))
        costs = []
        for name, run in (("with.ckpt", before), ("without.ckpt", loaded)):
            run.resume(A, B, rng=0, checkpoint=tmp_path / name)
            costs.append(asdict(sm.load(tmp_path / name).counts))
        first, second, known = costs[0], costs[1], asdict(loaded.counts)
        for phase in ("setup", "monitoring"):
            given = asdict(getattr(own, phase))
            assert first[phase] == {n: second[phase][n] - known[phase][n] + given[n] for n in given}
        assert first["P_solves"] == second["P_solves"] - known["P_solves"] + own.P_solves

    def test_products_of_a_swapped_pair(self, path):
        A, B = SPARSE
        sol = sm.solve(A, B, 3, which="smallest", method=sm.Accelerated(), rng=0, checkpoint=path)
        assert sm.load(path).counts.K_solves == sol.counts.K_solves > 0

    def test_no_second_run_from_a_perturbed_start(self, path):
        """The vectors of a run from random ones lie in no invariant subspace; those of a given start may."""
        A, B = sm.gallery.synthetic_pair(60, kappa_B=10, rng=0)
        options = {"method": sm.Power(), "tol": 1e-6}
        _, ours = left_behind(path, A, B, **options)
        assert ours.trusted
        _, theirs = left_behind(path, A, B, x0=np.ones(60), **options)
        assert not theirs.trusted
        cheap, dear = ours.resume(A, B), theirs.resume(A, B)
        assert cheap.counts.monitoring.A_products < dear.counts.monitoring.A_products

    @pytest.mark.parametrize(("question", "trusted"), [({}, True), ({"which": "smallest"}, False)])
    def test_vectors_for_the_other_end_are_not_trusted(self, path, question, trusted):
        """They are nearly orthogonal to those that are wanted."""
        A, B = sm.gallery.synthetic_pair(60, kappa_B=10, rng=0)
        _, loaded = left_behind(path, A, B, method=sm.Power(), tol=1e-6)
        start = loaded._start({"which": "largest", "sigma": None, "A": A} | question)
        assert start.trusted is trusted

    def test_explained(self, path):
        sol = sm.solve(*SPARSE, 3, rng=0, checkpoint=path)
        assert figures_of(sol, "CHECKPOINT")["written"] == 1
        assert f"The checkpoint {path} was written 1 time" in sol.explain()


class TestLoaded:
    def test_is_no_solution(self, path):
        _, loaded = left_behind(path, *SPARSE, k=3)
        assert not isinstance(loaded, sm.Solution)
        assert not hasattr(loaded, "eigenvalues")
        assert repr(loaded).startswith("LoadedCheckpoint(the 3 largest of n = 600, tol 1e-08: ")
        assert f"{loaded.vectors.shape[1]} columns after {loaded.steps} steps" in repr(loaded)
        assert repr(pickle.loads(pickle.dumps(loaded))) == repr(loaded)

    def test_repr_of_a_shift_and_a_method(self, path):
        _, loaded = left_behind(path, *SPARSE, k=3, sigma=2.0, method=sm.Accelerated())
        assert "the 3 nearest to 2 of n = 600, tol 1e-08, Accelerated:" in repr(loaded)

    def test_another_size(self, path):
        _, loaded = left_behind(path, *SPARSE, k=3)
        with pytest.raises(ValueError, match=r"^A has shape \(50, 50\), but the checkpoint is of a pair with 600 rows"):
            loaded.resume(np.eye(50))
        with pytest.raises(ValueError, match=r"^A has shape \(50, 50\)"):
            sm.load(path, np.eye(50))

    def test_an_identity_stays_one(self, path):
        _, loaded = left_behind(path, DENSE[0], None, k=3)
        with pytest.raises(ValueError, match=r"^B is given, but the checkpoint is of a problem without B"):
            loaded.resume(*DENSE)

    def test_complex_vectors_for_a_real_pair(self, path):
        _, loaded = left_behind(path, *dense_pair(complex), k=3, method=sm.Accelerated())
        with pytest.raises(ValueError, match="the start of a resumed solve is complex"):
            loaded.resume(*DENSE)

    def test_no_interval(self, path):
        _, loaded = left_behind(path, *SPARSE, k=3)
        with pytest.raises(ValueError, match=r"^interval is given"):
            loaded.resume(*SPARSE, interval=(0, 1))
        with pytest.raises(ValueError, match=r"^checkpoint and interval are both given"):
            sm.solve(*SPARSE, interval=(0, 1), checkpoint=path)

    def test_unknown_option(self, path):
        _, loaded = left_behind(path, *SPARSE, k=3)
        with pytest.raises(TypeError, match="colour"):
            loaded.resume(*SPARSE, colour="red")


def test_pathlike_and_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sm.solve(*SPARSE, 2, checkpoint="run.ckpt")
    assert os.listdir() == ["run.ckpt"]
    assert sm.load("run.ckpt").resume(*SPARSE).converged
