"""Probes: when they are decided, and what they must find before."""

import math

import numpy as np
import pytest
import scipy.linalg

import splitmerge as sm
from splitmerge.methods.krylov import basis
from splitmerge.methods.krylov.basis import Basis
from splitmerge.methods.krylov.complement import MIN_PROBE_STEPS, Complement
from splitmerge.methods.krylov.thick_restart import MAX_STAGNATING, ThickRestart
from splitmerge.methods.lobpcg.iteration import Lobpcg
from splitmerge.methods.setup import Setup
from splitmerge.methods.subspace import Slack
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.products import Products
from splitmerge.problem.target import Target
from splitmerge.transforms import Whitened

N = 400
# one value far above the others, which a random vector hardly shows, and one between
HIDDEN = np.r_[np.linspace(0.0, 0.01, N - 2), 0.5, 1.0]
SLACK = Slack(1e-10, 1e-10)


def setup_of(values, k=1, target=Target.LARGEST):
    products = Products(sm.Pencil(np.diag(values)))
    return Setup(products, target, k, np.random.default_rng(0), transform=Whitened(products), given=True)


class TestDecided:
    """Two pairs, 10 and 9, and the Ritz values of a probe of their complement."""

    def decided(self, others, errors, steps, start=1000, low=-math.inf, high=9.0, *, blind=True, path=()):
        search = ThickRestart(setup_of(HIDDEN, 2))
        search.blind = blind
        search.values = np.r_[10.0, 9.0, others]
        search.errors = np.r_[0.0, 0.0, errors]
        search.path, search.basis.products = path, start
        complement = Complement(search, Slack(1e-6, 1e-6))
        complement.low, complement.high = low, high
        return complement._decided(search.values, search.errors, steps, [2], [3])

    def test_not_before_the_least_number_of_steps(self):
        assert not self.decided([5.0, 4.0], [0.0, 0.0], MIN_PROBE_STEPS - 1, start=1)
        assert self.decided([5.0, 4.0], [0.0, 0.0], MIN_PROBE_STEPS, start=1)

    def test_not_within_the_residual(self):
        assert not self.decided([8.0, 1.0], [1.5, 0.0], 2000)
        assert self.decided([8.0, 1.0], [0.5, 0.0], 2000)

    def test_a_small_residual_decides(self):
        """A further copy of the last pair is not more wanted."""
        assert self.decided([9.0, 1.0], [1e-7, 0.0], 2000)

    def test_not_within_what_few_steps_do_not_see(self):
        """A spectrum of width 7 below 8: after 20 steps there may be something beyond 9, after 60 there is not."""
        assert not self.decided([8.0, 1.0], [0.0, 0.0], 14)
        assert self.decided([8.0, 1.0], [0.0, 0.0], 60)

    def test_as_many_steps_as_the_search_took_have_seen_as_much(self):
        assert self.decided([8.0, 1.0], [0.0, 0.0], 14, start=14)

    def test_as_many_as_it_took_to_resolve_its_pairs(self):
        """From 30 products on its errors stayed below a ten thousandth of the distance 1 between 9 and 8."""
        path = [(10, 1e-5), (20, 1e-3), (30, 9e-5), (40, 1e-6)]
        assert self.decided([8.0, -50.0], [0.0, 0.0], 30, path=path)
        assert not self.decided([8.0, -50.0], [0.0, 0.0], 29, path=path)
        assert not self.decided([8.999, -50.0], [0.0, 0.0], 39, path=path)

    def test_a_search_from_a_given_start_has_seen_nothing(self):
        assert not self.decided([8.0, 1.0], [1e-3, 1e-3], 14, start=1, blind=False)
        assert self.decided([8.0, 1.0], [1e-3, 1e-3], 60, start=1, blind=False)

    def test_beside_a_given_start_a_converged_pair_decides(self):
        assert self.decided([8.0, 1.0], [1e-8, 1e-8], 14, start=1, blind=False)
        assert not self.decided([8.0, 1.0], [1e-6, 1e-8], 14, start=1, blind=False)

    def test_both_ends(self):
        assert not self.decided([8.0, 1.0], [0.0, 0.6], 2000, low=0.5)
        assert self.decided([8.0, 1.0], [0.0, 0.4], 2000, low=0.5)


@pytest.mark.parametrize("k", [1, 3])
def test_a_probe_finds_what_the_search_cannot_see(k):
    """From an eigenvector the search is over at once; the probe must not be."""
    search = ThickRestart(setup_of(HIDDEN, k))
    search.launch(np.asfortranarray(np.eye(N)[:, [N - 2, *range(k - 1)]]))
    assert search.values[0] == pytest.approx(0.5)
    assert search.look(SLACK) is True
    assert search.values[0] > 0.6


def test_a_probe_finds_nothing_where_nothing_is():
    search = ThickRestart(setup_of(HIDDEN))
    search.launch(np.eye(N)[:, [N - 1]])
    assert search.look(SLACK) is False


@pytest.mark.parametrize("target", [Target.MAGNITUDE, Target.ENDS])
def test_a_probe_looks_at_both_ends(target):
    values = np.r_[-1.0, HIDDEN[:-1]]
    k = 2 if target is Target.ENDS else 1
    search = ThickRestart(setup_of(values, k, target))
    search.launch(np.asfortranarray(np.eye(N)[:, [N - 1, 3][:k]]))
    assert search.look(SLACK) is True
    assert search.values.min() < -0.6


def test_lobpcg_probes_long_enough():
    """The first vectors of a probe show nothing above the last pair, with a residual that seems to exclude it."""
    search = Lobpcg(setup_of(HIDDEN))
    search.launch(np.eye(N)[:, N - 1 - np.arange(1, 1 + search.block_size)])
    assert search.values[0] == pytest.approx(0.5)
    assert search.look(SLACK) is True
    assert search.values[0] > 0.6


def test_lobpcg_does_not_trust_a_value_without_its_error():
    """Only the Ritz value with its error bounds the complement, and that takes a while in a slowly seen spectrum."""
    values = np.r_[np.linspace(0.0, 0.98, N - 2), 0.99, 1.0]
    search = Lobpcg(setup_of(values))
    search.launch(np.eye(N)[:, N - 1 - np.arange(1, 1 + search.block_size)])
    assert search.look(SLACK) is True


@pytest.mark.parametrize("dtype", [float, complex])
def test_the_vectors_are_orthonormal_after_a_probe(dtype):
    values = np.r_[np.linspace(0, 1, 150), 2, 3, 4]
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((153, 153)).astype(dtype))[0]
    products = Products(sm.Pencil((Q * values) @ Q.conj().T))
    setup = Setup(products, Target.LARGEST, 2, np.random.default_rng(0), transform=Whitened(products))
    search = ThickRestart(setup, 20)
    search.launch(np.random.default_rng(1).standard_normal((153, 1)).astype(dtype))
    while search.errors[:2].max() > 1e-9:
        search.advance()
    assert search.look(SLACK) is False
    V = search.basis.V[:, : search.basis.size + search.basis.width]
    assert np.abs(V.conj().T @ V - np.eye(V.shape[1])).max() <= 1e-12
    exact = scipy.linalg.eigvalsh(products.A.matrix)[::-1]
    np.testing.assert_allclose(search.values[:2], exact[:2], atol=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_basis_of_the_wanted_vectors_has_none_to_spare(k):
    """A search that began in an invariant subspace has no others, and stops before it looks for some."""
    search = ThickRestart(setup_of(HIDDEN, k))
    search.basis.start(np.asfortranarray(np.eye(N)[:, :k]))
    search.basis.expand()
    search._rayleigh_ritz()
    assert search.basis.size == k
    assert search.spare(converged=True) is None
    assert search.spare(converged=False) is None


@pytest.mark.parametrize("seed", range(6))
def test_a_shift_on_an_eigenvalue_beside_a_null_space(seed):
    """Two Ritz vectors are all that the inverse shows; from none beyond them no vectors can be made."""
    A = np.diag(np.r_[0, 0.4, np.arange(2.0, 150)])
    w = sm.eigsh(A, 2, np.eye(150), 0.4, mode="buckling", return_eigenvectors=False, rng=seed)
    np.testing.assert_allclose(w, [0.4, 2], rtol=1e-12)


def test_gaps_are_to_where_others_may_be():
    """Beside the last value, which is as far off as the worst error; both ends of a window where there are two."""
    search = ThickRestart(setup_of(HIDDEN, 2))
    search.values, search.errors = np.array([10.0, 9.0, 8.5]), np.array([0.1, 0.2, 0.5])
    np.testing.assert_allclose(search.gaps(2), [0.8, -0.2])
    search = ThickRestart(setup_of(HIDDEN, 3, Target.ENDS))
    search.values, search.errors = np.array([10.0, -5.0, 8.0, 1.0]), np.array([0.1, 0.1, 0.3, 9.0])
    np.testing.assert_allclose(search.gaps(3), [1.7, -0.3, -0.3])


class TestBasis:
    def test_holds_a_new_start_whatever_the_limit(self):
        """Six vectors, their products and the next: 18 columns."""
        assert ThickRestart(setup_of(HIDDEN, 6), max_basis=9).basis.capacity == 18
        assert ThickRestart(setup_of(HIDDEN, 6), max_basis=30).basis.capacity == 30

    def test_a_small_one_reaches_rounding(self):
        """Thousands of restarts leave errors in the basis, which only a new start removes."""
        n = 400
        A = np.diag(np.full(n, 2.0)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)
        sol = sm.solve(A, k=6, tol=1e-12, method=sm.Accelerated(max_basis=9), rng=0)
        exact = 2 - 2 * np.cos(np.arange(n, n - 6, -1) * np.pi / (n + 1))
        assert sol.residuals.max() <= 1e-12
        np.testing.assert_allclose(sol.eigenvalues, exact, rtol=1e-13)


def test_given_up_when_nothing_improves():
    """A sine that rounding does not allow: the limit of steps is not used up."""
    values = np.logspace(0, -12, 40)
    B = np.diag(np.logspace(0, -10, 40))
    stop = sm.SineAngle(np.eye(40)[:, :3], tol=1e-30)
    with pytest.raises(sm.NotConverged) as caught:
        sm.solve(np.diag(values), B, k=3, method=sm.Accelerated(max_basis=12), stop=stop, rng=0)
    assert caught.value.solution.steps <= 3 * MAX_STAGNATING


class Calls:
    """A diagonal matrix as an operator that counts; Ctrl-C comes at the product number `at`."""

    shape, dtype = (N, N), np.dtype(float)

    def __init__(self, values):
        self.values, self.count, self.at = values, 0, math.inf

    def __matmul__(self, x):
        self.count += 1
        if self.count == self.at:
            raise KeyboardInterrupt
        return self.values * x


@pytest.mark.parametrize("make", [ThickRestart, Lobpcg])
@pytest.mark.parametrize("outcome", ["found", "nothing", "interrupted"])
def test_only_the_products_of_a_probe_are_monitoring(make, outcome):
    """Before and after it, whatever comes of it, they are the iteration's own; the operator confirms their number."""
    calls = Calls(HIDDEN)
    products = Products(sm.Pencil(calls))
    setup = Setup(products, Target.LARGEST, 1, np.random.default_rng(0), transform=Whitened(products), given=True)
    search, numbers = make(setup), []

    def record():
        numbers.append((products.counts.A_products, products.counts.monitoring.A_products, calls.count))

    record()
    # from eigenvectors, with or without the first, the search is over at once; an interrupted one is not
    start = np.eye(N)[:, N - 1 - np.arange(outcome == "found", 4)]
    start = np.random.default_rng(1).standard_normal((N, 4)) if outcome == "interrupted" else start
    search.launch(np.asfortranarray(start))
    record()
    if outcome == "interrupted":
        calls.at = calls.count + 1
        with pytest.raises(KeyboardInterrupt):
            search.look(SLACK)
    else:
        assert search.look(SLACK) is (outcome == "found")
    record()
    for _ in range(3):
        search.advance()
    record()
    launched, probed, advanced = np.diff(numbers, axis=0).tolist()
    assert launched == [launched[2], 0, launched[2]]
    # a block that is interrupted is counted as a whole
    assert probed[0] == 0
    assert probed[1] == probed[2] > 0 or outcome == "interrupted"
    assert advanced == [advanced[2], 0, advanced[2]]
    assert advanced[2] > 0 or outcome == "nothing"


@pytest.mark.parametrize("method", [sm.Accelerated(), sm.LocallyOptimal()], ids=lambda method: type(method).__name__)
def test_steps_after_a_probe_that_found_something_are_counted(method):
    """The history of the products goes on, and the counts are those of the history."""
    calls = Calls(np.r_[np.linspace(0.0, 0.98, N - 2), 0.99, 1.0])
    sol = sm.solve(calls, x0=np.eye(N)[:, N - 2], method=method, rng=0)
    assert sol.eigenvalues[0] == pytest.approx(1.0)
    history, counts = sol.history, sol.counts
    stepped = np.diff(history.step) > 0
    assert stepped.sum() > 5
    assert (np.diff(history.products)[stepped] > 0).all()
    assert history.products[-1] == counts.A_products
    # two products show that the operator is symmetric
    assert counts.A_products + counts.setup.A_products + counts.monitoring.A_products == calls.count - 2


def test_plain_lanczos_does_not_bring_back_the_known_pairs():
    """Of T deflated by products only, zero is an eigenvalue above all others here, which rounding would show."""
    values = np.r_[np.linspace(-9.0, -2.0, N - 3), -1.0, -0.9, -0.8]
    search = ThickRestart(setup_of(values, 3))
    search.launch(np.asfortranarray(np.eye(N)[:, -3:]))
    assert search.look(SLACK) is False
    # the basis of the search was not needed for it
    assert search.basis.size == 3


@pytest.mark.parametrize("copies", [2, 3])
def test_what_plain_lanczos_sees_is_found(copies):
    values = np.r_[np.linspace(0.0, 1.0, N - copies), np.full(copies, 1.5)]
    search = ThickRestart(setup_of(values, 2))
    search.launch(np.asfortranarray(np.eye(N)[:, [N - 1, 3]]))
    assert search.look(SLACK) is True
    assert np.sum(search.values > 1.2) == 2


def test_the_period_without_reorthogonalisation_is_bounded():
    """It doubled with every check that found nothing lost, up to an OverflowError."""
    transform = Whitened(Products(Pencil(np.diag(np.arange(1.0, 31.0)))))
    basis = Basis(transform, 20, Target.LARGEST, np.random.default_rng(0))
    for _ in range(2000):
        basis._pace(0.0)
    assert 1 <= basis.period <= basis.capacity


@pytest.mark.parametrize(("d", "k"), [(3, 8), (4, 16), (6, 32)])
def test_a_start_in_a_small_invariant_subspace_of_a_bipartite_graph(d, k):
    """All Rayleigh quotients of its Krylov vectors are zero, which is no scale for what rounding leaves of the next."""
    A = np.zeros((1, 1))
    for _ in range(d):
        one = np.eye(len(A))
        A = np.block([[A, one], [one, A]])
    exact = np.linalg.eigvalsh(A)[::-1][:k]
    for place in (0, 3):
        sol = sm.solve(A, k=k, x0=np.eye(2**d)[place], method=sm.Accelerated(), rng=0)
        assert np.abs(sol.eigenvalues - exact).max() < 1e-7
        assert np.abs(sol.eigenvectors.T @ sol.eigenvectors - np.eye(k)).max() < 1e-12


@pytest.mark.parametrize(
    ("rest", "errors", "settled"),
    [
        ([0.9, -0.9], [0.009, 0.009], True),
        ([0.9, -0.9], [0.009, 0.011], False),
        ([0.9, -0.9], [0.011, 0.009], False),
        ([-1.0, 0.1], [1e-14, 0.05], True),
    ],
)
def test_the_last_pair_counts_once_the_next_ones_cannot_be_more_wanted(rest, errors, settled):
    search = ThickRestart(setup_of(HIDDEN, 2, Target.MAGNITUDE))
    assert search.patience == 0, "beside a given start, a probe follows"
    search.blind, search.basis.products = True, 100
    search.values, search.errors, search.pair = np.r_[2.0, 1.0, rest], np.r_[1e-12, 1e-12, errors], 1
    assert search.settled() == settled
    assert (search.patience == 0) == settled
    search.pair = 0
    assert search.patience == 0


def test_a_projection_that_divide_and_conquer_fails_on(monkeypatch):
    """QR follows, and the search goes on."""
    drivers, eigh = [], basis.eigh

    def failing(H, *, driver, **options):
        drivers.append(driver)
        if driver == "evd":
            raise np.linalg.LinAlgError
        return eigh(H, driver=driver, **options)

    monkeypatch.setattr(basis, "eigh", failing)
    A = np.diag(np.arange(1.0, 401))
    solution = sm.solve(A, k=4, which="ends", method=sm.Accelerated(), rng=0)
    np.testing.assert_allclose(np.sort(solution.eigenvalues), [1, 2, 399, 400], rtol=1e-8)
    assert set(drivers) == {"evd", "ev"}
