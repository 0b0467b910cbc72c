"""The search that never solves: right for every kind of pair, honest where it is not done."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator, aslinearoperator, spsolve

import splitmerge as sm
from checking import check, choices
from pairs import grid, pair_of
from splitmerge.methods.lobpcg.iteration import Lobpcg
from splitmerge.methods.setup import Setup
from splitmerge.methods.subspace import Slack
from splitmerge.planning import costs
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.products import Products
from splitmerge.problem.target import Target

LO = sm.LocallyOptimal


HELD, FREE = grid(30), grid(30, free=True)
MASS = sp.csr_array(sp.diags_array(np.linspace(1, 3, 900)))


def values(K, M=None):
    return scipy.linalg.eigh(K.toarray(), None if M is None else M.toarray(), eigvals_only=True)


class TestAnswers:
    @pytest.mark.parametrize(
        "preconditioner", [None, sm.MultiGrid(), sm.IncompleteCholesky(), sm.Diagonal(), sm.Exact()], ids=repr
    )
    @pytest.mark.parametrize("M", [None, MASS], ids=["I", "M"])
    def test_smallest(self, preconditioner, M):
        sol = sm.solve(HELD, M, 5, which="smallest", method=LO(preconditioner), rng=0)
        check(sol, HELD, M, 5, "smallest")
        assert sol.counts.B_solves == sol.counts.K_solves == 0
        # two factorisations of a matrix of this size cost less than a probe
        assert sol.verdict == "certified"

    @pytest.mark.parametrize("preconditioner", [None, sm.Diagonal(), sm.Exact(), sm.LowRank(4)], ids=repr)
    def test_largest(self, preconditioner):
        A, B = sm.gallery.synthetic_pair(150, 10.0, rng=1)
        check(sm.solve(A, B, 3, method=LO(preconditioner), rng=0), A, B, 3)

    @pytest.mark.parametrize("preconditioner", [None, sm.MultiGrid()], ids=repr)
    @pytest.mark.parametrize("bodies", [1, 3])
    def test_bodies_that_float(self, bodies, preconditioner):
        K = sp.csr_array(sp.block_diag([FREE] * bodies))
        sol = sm.solve(K, k=8, which="smallest", method=LO(preconditioner), rng=0)
        np.testing.assert_allclose(sol.eigenvalues, np.repeat(values(FREE), bodies)[:8], atol=1e-10)

    @pytest.mark.parametrize("shift", [0.1, 1.0, 3.0])
    def test_indefinite(self, shift):
        K = sp.csr_array(HELD - shift * sp.eye_array(900))
        check(sm.solve(K, MASS, 4, which="smallest", method=LO(), rng=0), K, MASS, 4, "smallest")

    def test_multiplicity(self):
        d = np.r_[np.ones(7), np.linspace(1.01, 5, 293)]
        sol = sm.solve(sp.diags_array(d, format="csr"), k=5, which="smallest", method=LO(sm.Diagonal()), rng=0)
        np.testing.assert_allclose(sol.eigenvalues, 1.0)
        assert np.linalg.matrix_rank(sol.eigenvectors) == 5

    @pytest.mark.parametrize("factor", [1e-150, 1e-30, 1e30, 1e150])
    def test_extreme_size(self, factor):
        sol = sm.solve(HELD * factor, k=3, which="smallest", method=LO(sm.MultiGrid()), rng=0)
        np.testing.assert_allclose(sol.eigenvalues / factor, values(HELD)[:3], rtol=1e-10)

    def test_single_precision(self):
        sol = sm.solve(HELD.astype(np.float32), k=3, which="smallest", method=LO(sm.MultiGrid()), tol=1e-4, rng=0)
        assert sol.eigenvectors.dtype == np.float32
        np.testing.assert_allclose(sol.eigenvalues, values(HELD)[:3], rtol=1e-4)

    def test_complex(self):
        phases = np.exp(1j * np.random.default_rng(0).standard_normal(900))
        K = sp.csr_array(sp.diags_array(phases) @ HELD @ sp.diags_array(phases.conj()))
        for preconditioner in (sm.MultiGrid(), sm.MultiGrid(near_null=phases[:, None])):
            check(sm.solve(K, k=4, which="smallest", method=LO(preconditioner), rng=0), K, None, 4, "smallest")

    @pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 1), (2, 2), (3, 1), (3, 3), (5, 2), (6, 6), (8, 8)])
    def test_tiny(self, n, k):
        d = np.arange(1.0, n + 1)
        sol = sm.solve(np.diag(d), np.diag(d[::-1]), k, which="smallest", method=LO(sm.Diagonal()), rng=0)
        np.testing.assert_allclose(sol.eigenvalues, np.sort(d / d[::-1])[:k], rtol=1e-12)

    @given(seed=st.integers(0, 10**6), k=st.integers(1, 4), which=st.sampled_from(["largest", "smallest"]))
    @settings(max_examples=25, deadline=None)
    def test_random_spectra(self, seed, k, which):
        rng = np.random.default_rng(seed)
        A, B = pair_of(rng.uniform(0.5, 10, 60), seed)
        check(sm.solve(A, B, k, which=which, method=LO(sm.Exact()), rng=seed), A, B, k, which)

    def test_block_of_starts_and_bits(self):
        exact = np.linalg.eigh(HELD.toarray())[1]
        method = LO(sm.MultiGrid(), block=6)
        # in an invariant subspace that is not the wanted one
        sols = [sm.solve(HELD, k=3, which="smallest", method=method, x0=exact[:, 3:6], rng=0) for _ in range(2)]
        np.testing.assert_allclose(sols[0].eigenvalues, values(HELD)[:3], rtol=1e-10)
        np.testing.assert_array_equal(sols[0].eigenvectors, sols[1].eigenvectors)

    def test_certified(self):
        sol = sm.solve(HELD, MASS, 4, which="smallest", method=LO(sm.MultiGrid()), certify=True, rng=0)
        assert sol.verdict == "certified"

    def test_angle(self):
        u = np.linalg.eigh(HELD.toarray())[1][:, :1]
        sol = sm.solve(HELD, which="smallest", method=LO(sm.MultiGrid()), stop=sm.SineAngle(u, 1e-9), rng=0)
        assert np.linalg.norm(sol.eigenvectors - u @ (u.T @ sol.eigenvectors)) <= 1.1e-9


class TestEnds:
    def test_rounding(self):
        sol = sm.solve(HELD, k=3, which="smallest", method=LO(sm.MultiGrid()), tol=1e-15, rng=0)
        assert sol.reason is sm.Reason.PRECISION
        np.testing.assert_allclose(sol.eigenvalues, values(HELD)[:3], rtol=1e-12)

    def test_too_few_steps(self):
        with pytest.raises(sm.NotConverged) as caught:
            sm.solve(HELD, k=3, which="smallest", method=LO(sm.Diagonal()), max_steps=3, rng=0)
        assert caught.value.solution.steps == 3
        assert caught.value.solution.eigenvalues.shape == (3,)

    def test_callback_sees_it_descend(self):
        seen = []
        sm.solve(HELD, which="smallest", method=LO(sm.Diagonal()), callback=lambda s: seen.append(s.eigenvalue), rng=0)
        assert np.all(np.diff(seen) <= 1e-12 * seen[0])

    def test_as_a_generator(self):
        pencil = sm.Pencil(HELD, MASS)
        for state in sm.iterates(pencil, method=LO(sm.Diagonal()), rng=0):
            if state.residual < 1e-6:
                break
        assert pencil.counts.B_solves == pencil.counts.setup.B_solves == 0
        np.testing.assert_allclose(state.eigenvalue, values(HELD, MASS)[-1], rtol=1e-10)

    def test_no_inner_solver(self):
        with pytest.raises(ValueError, match="never solves"):
            LO(inner=sm.Cholesky())

    @pytest.mark.parametrize("options", [{"sigma": 1.0}, {"which": "ends"}], ids=str)
    def test_ends_only(self, options):
        with pytest.raises(ValueError, match="LocallyOptimal finds"):
            sm.solve(HELD, method=LO(), **options)

    def test_near_null_of_a_wrong_shape(self):
        for vectors, message in ((np.ones(900), r"shape \(n, r\)"), (np.ones((5, 2)), "with 900 rows")):
            with pytest.raises(ValueError, match=message):
                sm.solve(HELD, which="smallest", method=LO(sm.MultiGrid(near_null=vectors)), rng=0)

    def test_multigrid_of_a_dense_matrix(self):
        with pytest.raises(ValueError, match="sparse"):
            sm.solve(HELD.toarray(), which="smallest", method=LO(sm.MultiGrid()), rng=0)


INDEFINITE = {
    "some diagonal entries": grid(18) - sp.diags_array(np.linspace(0, 8, 324)),
    "all diagonal entries": -grid(18),
    "hidden": grid(18) - 2 * sp.eye_array(324),
}


class TestIndefiniteA:
    """A preconditioner of an A that is not positive definite is that of A + ηB."""

    PRECONDITIONERS = (None, sm.Diagonal(), sm.IncompleteCholesky(), sm.Exact(), sm.LowRank(4), sm.MultiGrid())
    MASS = sp.diags_array(np.linspace(1, 3, 324)).tocsr()

    @pytest.mark.parametrize("preconditioner", PRECONDITIONERS, ids=repr)
    @pytest.mark.parametrize("M", [None, MASS], ids=["I", "M"])
    @pytest.mark.parametrize("name", INDEFINITE)
    def test_smallest(self, preconditioner, M, name):
        A = INDEFINITE[name].tocsr()
        sol = sm.solve(A, M, 2, which="smallest", rng=0, method=LO(preconditioner))
        check(sol, A, M, 2, "smallest")

    def test_hint(self):
        A = INDEFINITE["some diagonal entries"].tocsr()
        sol = sm.solve(A, self.MASS, 2, which="smallest", rng=0, preconditioner=sm.Diagonal())
        check(sol, A, self.MASS, 2, "smallest")
        assert sol.method == LO(sm.Diagonal())

    @pytest.mark.parametrize("preconditioner", PRECONDITIONERS, ids=repr)
    @pytest.mark.parametrize("which", ["smallest", "largest"])
    @pytest.mark.parametrize("M", [None, MASS], ids=["I", "M"])
    @pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_array.toarray])
    def test_zero(self, preconditioner, which, M, kind):
        if kind is not sp.csr_array and isinstance(preconditioner, sm.MultiGrid):
            pytest.skip("multigrid needs sparse matrices")
        B = None if M is None else kind(M)
        sol = sm.solve(kind(0 * grid(18)), B, 3, which=which, rng=0, method=LO(preconditioner))
        np.testing.assert_allclose(sol.eigenvalues, 0, atol=1e-15)
        U = sol.eigenvectors
        np.testing.assert_allclose(U.T @ (U if M is None else M @ U), np.eye(3), atol=1e-12)

    def test_what_cannot_be_helped_names_A(self):
        A = HELD - 2 * sp.eye_array(900)
        with pytest.raises(sm.NotPositiveDefinite, match=r"^A is not positive definite"):
            sm.solve(A, aslinearoperator(MASS), which="smallest", method=LO(sm.Exact()))
        with pytest.raises(sm.NotPositiveDefinite, match=r"^the preconditioner is not positive definite"):
            sm.solve(A, MASS, which="smallest", preconditioner=lambda b: -b)

    def test_both_indefinite(self):
        with pytest.raises(sm.NotPositiveDefinite, match="B"):
            sm.solve(-HELD, -MASS, which="smallest", method=LO(sm.Diagonal()))


class TestHints:
    """What the caller knows of an inverse."""

    def solve(self, A, B=None, **options):
        sol = sm.solve(A, B, 4, rng=0, **options)
        check(sol, HELD, None if B is None else MASS, 4, options.get("which", "largest"))
        return sol

    def test_of_an_operator_A(self):
        inverse = LinearOperator(HELD.shape, matvec=lambda b: spsolve(HELD.tocsc(), b), dtype=float)
        for hint in ({"preconditioner": inverse}, {"preconditioner": inverse.matvec}, {"diagonal": HELD.diagonal()}):
            sol = self.solve(aslinearoperator(HELD), which="smallest", **hint)
            assert isinstance(sol.method, sm.LocallyOptimal)
            assert sol.method.preconditioner is not None
            assert sol.counts.K_solves == sol.counts.B_solves == 0

    def test_of_a_matrix(self):
        sol = self.solve(HELD, MASS, which="smallest", preconditioner=sm.MultiGrid())
        assert sol.method.preconditioner == sm.MultiGrid()

    def test_of_an_operator_B(self):
        for hint in ({"preconditioner": lambda b: b / MASS.diagonal()}, {"diagonal": MASS.diagonal()}):
            sol = self.solve(HELD, aslinearoperator(MASS), **hint)
            # it is the inverse: a solve is one product
            assert sol.counts.B_products <= 3 * sol.counts.A_products

    @pytest.mark.parametrize(
        "kind", [sp.csr_array, aslinearoperator, lambda M: M.toarray()], ids=["csr", "op", "dense"]
    )
    @pytest.mark.parametrize("which", ["largest", "magnitude", "ends"])
    @pytest.mark.parametrize("method", [None, sm.Accelerated()], ids=["default", "Accelerated"])
    def test_B_is_not_factorised(self, kind, which, method):
        """Neither by the default, which may do without solves, nor by a method of the user's, which is not replaced."""
        hint = {"diagonal": MASS.diagonal()}
        sol = sm.solve(kind(HELD), kind(MASS), 2, which=which, method=method, rng=0, **hint)
        assert sol.counts.P_solves > 0
        assert "UNUSED_PRECONDITIONER" not in choices(sol)
        assert all("Cholesky" not in decision.figures.get("solver", "") for decision in sol.decisions)
        if method is not None:
            assert isinstance(sol.method, sm.Accelerated)

    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_what_is_not_used_is_mentioned(self, which):
        n = 40
        small = [M[:n, :n] for M in (HELD, MASS)]
        for sol in (
            sm.solve(*small, which=which, preconditioner=sm.Diagonal(), rng=0),
            sm.solve(HELD, preconditioner=sm.Diagonal(), rng=0),
            sm.solve(HELD, method=sm.Accelerated(), preconditioner=sm.Diagonal(), rng=0),
        ):
            assert "UNUSED_PRECONDITIONER" in choices(sol)

    def test_what_is_used_is_not_called_unused(self):
        for options in ({"which": "smallest"}, {"which": "largest"}, {"which": "ends"}):
            sol = sm.solve(HELD, MASS, preconditioner=sm.Diagonal(), rng=0, **options)
            assert "UNUSED_PRECONDITIONER" not in choices(sol)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"method": sm.Accelerated(), "which": "smallest"}, "is for LocallyOptimal, but the method is Accelerated"),
            ({"method": sm.Accelerated(inner=sm.Cholesky())}, r"nothing to do beside inner=Cholesky\(\)"),
            ({"method": LO(sm.Exact())}, "given twice"),
            ({"method": sm.SplitMerge()}, "leave them out"),
            ({"sigma": 1.0}, "leave them out"),
        ],
    )
    @pytest.mark.parametrize("hint", [{"preconditioner": sm.Diagonal()}, {"diagonal": np.ones(900)}], ids=list)
    def test_what_cannot_be_used_is_refused(self, options, message, hint):
        with pytest.raises(ValueError, match=message):
            sm.solve(HELD, MASS, **options, **hint)

    def test_saves_products(self):
        d = np.geomspace(1, 1e4, 900)
        B = LinearOperator((900, 900), matvec=lambda x: d * x.ravel(), dtype=float)
        with_, without = (sm.solve(HELD, B, rng=0, **hint).counts for hint in ({"diagonal": d}, {}))
        assert with_.B_products + with_.setup.B_products < 0.5 * (without.B_products + without.setup.B_products)

    def test_functions_of_one_vector(self):
        """SciPy would hand columns (n, 1) to a function, which a transform along the last axis gets silently wrong."""
        n = 200
        symbol = 2 - 2 * np.cos(2 * np.pi * np.arange(n) / n)
        A = LinearOperator((n, n), matvec=lambda x: np.fft.ifft(symbol * np.fft.fft(x)).real, dtype=float)
        for operator in (A, 2.0 * A, A + A):
            sol = sm.solve(operator, k=3, which="smallest", method=LO(), rng=0)
            factor = 1.0 if operator is A else 2.0
            np.testing.assert_allclose(sol.eigenvalues, factor * np.sort(symbol)[:3], atol=1e-10)

    def test_bad(self):
        for options, message in (
            ({"preconditioner": 3}, "preconditioner is 3"),
            ({"diagonal": np.zeros(900)}, "diagonal has entries"),
            ({"diagonal": np.ones(5)}, "diagonal has 5"),
            ({"diagonal": np.ones((900, 1))}, "diagonal has shape"),
            ({"diagonal": np.ones(900), "preconditioner": sm.Diagonal()}, "both given"),
            ({"preconditioner": sm.Diagonal(), "sigma": 1.0}, "without sigma"),
            ({"preconditioner": sm.Diagonal(), "method": sm.Power()}, "Accelerated and LocallyOptimal"),
            ({"preconditioner": lambda b: -b}, "not positive definite"),
            ({"preconditioner": lambda b: b[:-1]}, "gave shape"),
        ):
            with pytest.raises(ValueError, match=message):
                sm.solve(
                    HELD, aslinearoperator(MASS), **({} if "sigma" in options else {"which": "smallest"}), **options
                )

    def test_sums_and_products_of_operators(self):
        K, D = aslinearoperator(HELD), aslinearoperator(sp.diags_array(np.linspace(1, 2, 900)))
        A = D @ K @ D + 0.5 * aslinearoperator(sp.eye_array(900))
        dense = A @ np.eye(900)
        for which in ("largest", "smallest"):
            check(sm.solve(A, k=3, which=which, rng=0), (dense + dense.T) / 2, None, 3, which)


class TestResuming:
    def test_more_pairs_from_a_file(self, tmp_path):
        path = tmp_path / "modes.npz"
        first = sm.solve(HELD, MASS, 3, which="smallest", preconditioner=sm.MultiGrid(), rng=0)
        first.save(path)
        again = sm.load(path).resume(k=6, tol=1e-10)
        assert again.method == LO(sm.MultiGrid())
        np.testing.assert_allclose(again.eigenvalues, values(HELD, MASS)[:6], rtol=1e-10)

    def test_a_function_is_not_in_the_file(self, tmp_path):
        path = tmp_path / "modes.npz"
        d = HELD.diagonal()
        first = sm.solve(HELD, MASS, 2, which="smallest", preconditioner=lambda b: b / d, rng=0)
        first.save(path)
        with pytest.raises(ValueError, match=r"resume\(preconditioner=…\)"):
            sm.load(path).resume(k=3)
        again = sm.load(path).resume(k=3, preconditioner=sm.MultiGrid())
        np.testing.assert_allclose(again.eigenvalues, values(HELD, MASS)[:3], rtol=1e-8)


class TestInterrupt:
    @pytest.mark.parametrize("product", [5, 20, 60])
    def test_what_is_there_is_returned(self, product):
        calls = 0

        def multiply(x):
            nonlocal calls
            calls += 1
            if calls == product:
                raise KeyboardInterrupt
            return HELD @ x

        A = LinearOperator(HELD.shape, matvec=multiply, dtype=float)
        try:
            sol = sm.solve(A, k=2, which="smallest", diagonal=HELD.diagonal(), rng=0)
        except KeyboardInterrupt:
            # before there was anything
            assert product == 5
            return
        assert sol.reason is sm.Reason.INTERRUPTED
        assert not sol.converged
        R = HELD @ sol.eigenvectors - sol.eigenvectors * sol.eigenvalues
        np.testing.assert_allclose(np.linalg.norm(R, axis=0), sol.residuals * sol.eigenvalues, rtol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_random_sparse_pairs_without_factorising(seed, monkeypatch):
    """Whatever the graph, also with zero modes: the trial chooses, and the answer is right."""
    monkeypatch.setattr(costs, "PREDICTED_N", 50)
    monkeypatch.setattr(costs, "free_memory", lambda: 2.0**10)
    rng = np.random.default_rng(seed)
    n = 260
    R = sp.random_array((n, n), density=4 / n, rng=rng)
    K = sp.csr_array(R @ R.T + sp.eye_array(n)) if seed % 2 else sp.csr_array(R + R.T)
    M = sp.csr_array(sp.diags_array(np.exp(rng.uniform(-2, 2, n))))
    sol = sm.solve(K, M, 4, which="smallest", rng=seed)
    assert isinstance(sol.method, sm.LocallyOptimal)
    assert sol.counts.K_solves == sol.counts.B_solves == 0
    check(sol, K, M, 4, "smallest")


@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_the_size_of_the_block(which):
    """It is what a step multiplies: with guards of its own choice by default, as asked for otherwise."""
    A, B = grid(12), sp.eye_array(144, format="csr")
    made = {}
    for block in (None, 12):
        method = LO(block=block)
        sol = sm.solve(A, B, 2, which=which, method=method, rng=0)
        assert sol.method.block == block
        made[block] = sol.counts.A_products / max(sol.steps, 1)
    assert made[12] > 1.5 * made[None]


def test_a_probe_sees_what_lies_between_the_pairs():
    """Of 10, 8, 5, 1, … the first and the third were found."""
    products = Products(Pencil(np.diag(np.r_[10.0, 8.0, 5.0, np.linspace(1, 0, 27)]), None))
    search = Lobpcg(Setup(products, Target.LARGEST, 2, np.random.default_rng(0)), block=2)
    search.launch(np.eye(30)[:, [0, 2]])
    assert search.look(Slack(1e-8, 1e-8))


@pytest.mark.parametrize(("found", "missed"), [([0, 2], True), ([0, 1], False)])
def test_a_probe_goes_on_while_its_error_reaches_above_the_pairs(found, missed):
    """Of 0, −1, −4, −9, …, what was missed shows late: at first the best value of the complement is far below."""
    products = Products(Pencil(np.diag(-(np.arange(100.0) ** 2)), None))
    search = Lobpcg(Setup(products, Target.LARGEST, 2, np.random.default_rng(0)), block=2)
    search.launch(np.eye(100)[:, found])
    assert search.look(Slack(1e-8, 1e-8)) is missed


@pytest.mark.parametrize(("found", "missed"), [([0, 2], True), ([1, 2], True), ([0, 1], False)])
def test_a_space_without_room_for_a_probe_is_seen_at_once(found, missed):
    """Of 10, 8, 5, 1, 0, one missing pair is enough to go on from the best ones."""
    products = Products(Pencil(np.diag([10.0, 8.0, 5.0, 1.0, 0.0]), None))
    search = Lobpcg(Setup(products, Target.LARGEST, 2, np.random.default_rng(0)), block=2)
    search.launch(np.eye(5)[:, found])
    assert search.look(Slack(1e-8, 1e-8)) is missed
    np.testing.assert_allclose(search.values[:2], [10, 8])


@pytest.mark.parametrize("close", [1e-2, 1e-4, 1e-6])
def test_gaps_are_no_larger_than_they_are(close):
    """At every step, for a last pair that is next to one that is not wanted."""
    w = np.r_[3.0, 2.0, 1.0, 1.0 - close, np.linspace(-1, 0.5, 96)]
    search = Lobpcg(Setup(Products(Pencil(np.diag(w))), Target.LARGEST, 3, np.random.default_rng(0)))
    search.launch(np.random.default_rng(1).standard_normal((100, 3)))
    for _ in range(60):
        search.advance()
        if np.allclose(search.values[:3], w[:3], rtol=0, atol=0.4 * close):
            others = np.array([np.abs(value - w[3:]).min() for value in search.values[:3]])
            assert (search.gaps(3) <= others).all()


def test_gaps_are_known_up_to_the_worst_error():
    """What follows may be as near to the last value as that is to its eigenvalue."""
    search = Lobpcg(Setup(Products(Pencil(np.eye(30))), Target.LARGEST, 3, np.random.default_rng(0)))
    search.values, search.errors = np.array([10.0, 9.0, 7.0, 6.0]), np.array([0.1, 0.3, 0.2, 9.0])
    np.testing.assert_allclose(search.gaps(3), [2.7, 1.7, -0.3])
