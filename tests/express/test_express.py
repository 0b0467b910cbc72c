"""The short way through LAPACK must agree with the pipeline in everything it reports, and leave it all the rest."""

import sys

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.express import express
from splitmerge.express import found as found_module
from splitmerge.express import shortcut as shortcut_module
from splitmerge.express.found import _alone
from splitmerge.express.plain import Plain
from splitmerge.linalg.extreme import Extreme

SOLVE = sys.modules["splitmerge.solve"]


def spd(n, seed=0, *, low=0.1):
    M = np.random.default_rng(seed).standard_normal((n, n))
    return M @ M.T / n + low * np.eye(n)


def indefinite(n):
    M = np.random.default_rng(1).standard_normal((n, n))
    return (M + M.T) / 2


def masses(n):
    """A mass matrix with rows without mass."""
    B = spd(n, 2, low=1.0)
    B[::3], B[:, ::3] = 0.0, 0.0
    return B


def spread(n):
    return np.exp2(np.random.default_rng(3).integers(-5, 6, n)).astype(float)


def skew(n):
    return np.triu(np.ones((n, n)), 1) - np.tril(np.ones((n, n)), -1)


PAIRS = {
    "definite": lambda n: (spd(n), spd(n, 2, low=1.0)),
    "indefinite": lambda n: (indefinite(n), spd(n, 2, low=1.0)),
    "identity": lambda n: (spd(n), None),
    "indefinite, identity": lambda n: (indefinite(n), None),
    "badly scaled": lambda n: (spread(n)[:, None] * spd(n) * spread(n), spread(n)[:, None] * spd(n, 2) * spread(n)),
    "complex": lambda n: (spd(n) + 0.01j * skew(n), spd(n, 2)),
    "massless rows": lambda n: (spd(n), masses(n)),
    "sparse": lambda n: (sp.csr_array(spd(n)), sp.csr_array(np.diag(np.linspace(1, 2, n)))),
    "graded": lambda n: (np.diag(10.0 ** np.linspace(-6, 0, n)), np.eye(n)),
}


def both(A, B, k, which, monkeypatch, **options):
    """The solutions of the short way and of the pipeline."""
    if B is not None:
        dtype = np.result_type(A.dtype, B.dtype)
        A, B = A.astype(dtype), B.astype(dtype)
    short = express(A, B, k, which, 1e-8, False, 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(SOLVE, "express", lambda *_: None)
        return short, sm.solve(A, B, k, which=which, **options)


@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("n", [7, 40, 90])
@pytest.mark.parametrize("name", PAIRS)
def test_agreement(name, n, k, which, monkeypatch):
    if name == "massless rows" and which == "largest":
        pytest.skip("infinite eigenvalues are refused")
    A, B = PAIRS[name](n)
    short, long = both(A, B, k, which, monkeypatch)
    assert short is not None
    assert (np.abs(short.eigenvalues - long.eigenvalues) <= short.error_bounds + long.error_bounds).all()
    M = np.eye(n) if B is None else B.toarray() if sp.issparse(B) else B
    V = short.eigenvectors
    assert np.abs(V.conj().T @ M @ V - np.eye(k)).max() <= 1e-12
    assert (short.reason, short.converged, short.verdict, short.shift) == (
        *(long.reason, long.converged, long.verdict, long.shift),
    )
    assert short.story == long.story
    assert short.problem.__dict__.keys() <= long.problem.__dict__.keys()
    np.testing.assert_allclose(short.residuals, long.residuals, atol=1e-12)
    np.testing.assert_allclose(short.error_bounds, long.error_bounds, rtol=3.0, atol=1e-300)
    assert short.counts.monitoring.A_products <= long.counts.monitoring.A_products
    assert short.eigenvectors.dtype == long.eigenvectors.dtype


REFUSED = {
    "not a number": (lambda M: M * np.where(np.eye(12) > 0, np.nan, 1.0), None),
    "infinite": (lambda M: M + np.diag(np.r_[np.inf, np.zeros(11)]), None),
    "asymmetric": (lambda M: M + np.triu(np.ones((12, 12)), 5), None),
    "indefinite B": (None, lambda M: M - 5 * np.eye(12)),
    "singular B": (None, lambda _: np.ones((12, 12))),
    "not a number in B": (None, lambda M: M * np.nan),
    "asymmetric B": (None, lambda M: M + np.triu(np.ones((12, 12)), 5)),
}


@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", REFUSED)
def test_refusals_are_those_of_the_pipeline(name, kind, which):
    change_A, change_B = REFUSED[name]
    A, B = spd(12), spd(12, 2)
    A, B = kind(A if change_A is None else change_A(A)), kind(B if change_B is None else change_B(B))
    assert express(A, B, 2, which, 1e-8, False, 0.0) is None


@pytest.mark.parametrize(
    ("A", "B", "k", "which", "tol"),
    [
        (spd(8) * 1e200, None, 1, "largest", 1e-8),
        (np.zeros((8, 8)), None, 1, "largest", 1e-8),
        (spd(8).astype(np.float32), None, 1, "largest", 1e-8),
        (np.arange(64).reshape(8, 8), None, 1, "largest", 1e-8),
        (spd(8), np.ones(8), 1, "largest", 1e-8),
        (spd(8), spd(9), 1, "largest", 1e-8),
        (spd(8), None, 9, "largest", 1e-8),
        (spd(8), None, 0, "largest", 1e-8),
        (spd(8), None, True, "largest", 1e-8),
        (spd(8), None, 1, "magnitude", 1e-8),
        (spd(8), None, 1, None, 1e-8),
        (spd(8), None, 1, "largest", -1.0),
        (spd(8), None, 1, "largest", float("nan")),
        (np.ones((1, 1)), None, 1, "largest", 1e-8),
        (spd(8).tolist(), None, 1, "largest", 1e-8),
        (np.ones((8, 9)), None, 1, "largest", 1e-8),
        (sp.eye_array(4001, format="csr"), None, 1, "largest", 1e-8),
    ],
)
def test_what_is_not_plain_is_left_to_the_pipeline(A, B, k, which, tol):
    assert express(A, B, k, which, tol, False, 0.0) is None


def test_inputs_are_not_written_to():
    for order in "CF":
        A, B = np.array(spd(30), order=order), np.array(spd(30, 2), order=order)
        copies = A.copy(), B.copy()
        for which in ("largest", "smallest"):
            express(A, B, 3, which, 1e-8, False, 0.0)
        assert (copies[0] == A).all()
        assert (copies[1] == B).all()


def test_a_result_that_does_not_stand_is_left_to_the_pipeline(monkeypatch):
    """Wrong vectors never pass: the residual is recomputed from A and B."""
    found = sys.modules["splitmerge.express.found"]
    wrong = found.extreme_pairs

    def perturbed(A, B, L, k, *, largest):
        extreme = wrong(A, B, L, k, largest=largest)
        return extreme._replace(vectors=extreme.vectors + 1e-5)

    A, B = spd(40), spd(40, 2)
    monkeypatch.setattr(found, "extreme_pairs", perturbed)
    for k in (1, 3):
        for which in ("largest", "smallest"):
            assert express(A, B, k, which, 1e-8, False, 0.0) is None


def test_solution_can_be_kept_and_resumed(tmp_path):
    solution = express(spd(20), spd(20, 2), 2, "largest", 1e-8, False, 0.0)
    solution.save(tmp_path / "solution.npz")
    assert (sm.load(tmp_path / "solution.npz").eigenvalues == solution.eigenvalues).all()
    assert solution.resume(k=3).eigenvalues.size == 3
    assert repr(solution)
    assert solution.explain()


@pytest.mark.parametrize("sigma", [0.0, 0.7, 3])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("n", [7, 40, 150])
@pytest.mark.parametrize("name", PAIRS)
def test_next_to_a_shift(name, n, k, sigma, monkeypatch):
    A, B = PAIRS[name](n)
    if B is not None:
        dtype = np.result_type(A.dtype, B.dtype)
        A, B = A.astype(dtype), B.astype(dtype)
    short = express(A, B, k, "largest", 1e-8, False, 0.0, sigma)
    with monkeypatch.context() as patch:
        patch.setattr(SOLVE, "express", lambda *_: None)
        long = sm.solve(A, B, k, sigma=sigma)
    if short is None:
        # σ = 0 next to eigenvalues that are lost in the rounding of the largest
        assert name == "graded"
        return
    assert short.verdict == "certified"
    assert short.problem.sigma == sigma
    assert short.residuals.max() <= 1e-8
    assert f"nearest to {sigma:g}" in short.explain()
    errors = short.error_bounds + long.error_bounds + 1e-13
    assert (np.abs(np.abs(short.eigenvalues - sigma) - np.abs(long.eigenvalues - sigma)) <= errors).all()
    M = np.eye(n) if B is None else B.toarray() if sp.issparse(B) else B
    gram = short.eigenvectors.conj().T @ M @ short.eigenvectors
    np.testing.assert_allclose(gram, np.eye(k), atol=1e-9)


@pytest.mark.parametrize("n", [8, 60])
def test_an_end_of_the_spectrum_beside_a_shift_is_refused(n):
    """Whichever way a pair of this size takes."""
    assert express(spd(n), None, 2, "smallest", 1e-8, False, 0.0, 0.5) is None
    with pytest.raises(ValueError, match="leave which out"):
        sm.solve(spd(n), None, 2, which="smallest", sigma=0.5)


@pytest.mark.parametrize("sigma", [np.nan, np.inf, "0", 1j, True])
def test_shifts_that_are_left_to_the_pipeline(sigma):
    assert express(spd(20), None, 2, "largest", 1e-8, False, 0.0, sigma) is None


@pytest.mark.parametrize("question", [{"which": "smallest"}, {"which": "smallest", "k": 2}, {"sigma": 0.5}])
def test_a_zero_on_the_diagonal_of_B_with_entries_in_its_row(question):
    B = np.array([[1, 0, 0, 0], [0, 0, 0.5, 0], [0, 0.5, 3, 0], [0, 0, 0, 2.0]])
    with pytest.raises(sm.NotPositiveDefinite):
        sm.solve(np.diag([1.0, 2.0, 3.0, 4.0]), B, **question)


def test_the_tolerance_is_met_in_all_coordinates():
    """A residual above it in the user's own is not RESIDUAL, however small it is in those of the scaled pair."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        Y, G, d = rng.standard_normal((12, 12)), rng.standard_normal((12, 12)), 10 ** rng.uniform(-4, 4, 12)
        B = d[:, None] * (Y @ Y.T + np.eye(12)) * d
        try:
            sol = sm.solve(G + G.T, (B + B.T) / 2, k=3, tol=1e-13)
        except sm.NotConverged:
            continue
        assert sol.reason is not sm.Reason.RESIDUAL or (sol.residuals <= 1e-13).all()


@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("k", [1, 3])
def test_residuals_are_those_of_the_given_pair(k, which):
    """Not those of the equilibrated pair, which differ by orders of magnitude where diag(B) does."""
    n, d = 30, np.exp2(np.linspace(-20, 20, 30).round())
    A, B = d[:, None] * spd(n) * d, d[:, None] * spd(n, 2) * d
    sol = express(A, B, k, which, 1e-8, False, 0.0)
    assert sol is not None
    U, values = sol.eigenvectors, sol.eigenvalues
    norms = np.linalg.norm(A @ U - B @ U * values, axis=0)
    sizes = np.abs(values) * np.linalg.norm(B @ U, axis=0)
    level = np.linalg.norm(A, 1) + np.abs(values) * np.linalg.norm(B, 1)
    expected = norms / np.maximum(sizes, np.finfo(float).eps ** 0.5 * level * np.linalg.norm(U, axis=0))
    assert (sol.residuals <= 10 * expected + 1e-17).all()
    assert (sol.residuals >= expected / 10 - 1e-17).all()


def test_error_norms_are_those_of_the_inverse_of_B():
    """A pair in double precision from a decomposition that is wrong in the sixth digit: its bound must hold."""
    n = 40
    B = spd(n, 2) * 1e-6
    A = indefinite(n)
    values, X = scipy.linalg.eigh(A, B)
    x = X[:, -1] + 1e-6 * X[:, 0]
    found = _alone(
        Plain(*(np.asfortranarray(M) for M in (A, B, np.linalg.cholesky(B))), ("dense", "dense")),
        None,
        Extreme(x[:, None], [values[-1] - values[-2]]),
    )
    assert np.abs(values - found.values[0]).min() <= found.errors[0] <= 3e-6 * (values[-1] - values[0])


def test_error_norms_of_a_swapped_complex_pair(monkeypatch):
    """‖A⁻¹r‖_B and |xᴴBA⁻¹r| over powers of ‖x‖_B, of vectors that are no eigenvectors."""
    n, k = 12, 3
    rng = np.random.default_rng(0)
    A, B = (M @ M.conj().T + np.eye(n) for M in (rng.standard_normal((2, n, n)) + 1j * rng.standard_normal((2, n, n))))
    X = rng.standard_normal((n, k)) + 1j * rng.standard_normal((n, k))
    monkeypatch.setattr(found_module, "_orthogonal", lambda images: images)
    factors = [np.asfortranarray(M) for M in (A, B, np.linalg.cholesky(B), np.linalg.cholesky(A))]
    extreme = Extreme(np.asfortranarray(X), [1.0] * k)
    found = found_module.swapped(Plain(*factors[:3], ("dense", "dense")), factors[3], extreme)
    for i, x in enumerate(X.T):
        square = np.vdot(x, B @ x).real
        w = np.linalg.solve(A, A @ x - found.values[i] * (B @ x))
        assert found.values[i] == pytest.approx(np.vdot(x, A @ x).real / square)
        assert found.errors[i] == pytest.approx(np.sqrt(np.vdot(w, B @ w).real / square))
        assert found.offsets[i] == pytest.approx(abs(np.vdot(x, B @ w)) / square)


def test_error_bounds_of_a_swapped_pair_scale_with_it(monkeypatch):
    """Its error norms are those of 1/λ relative to it."""
    own, bounds = shortcut_module.swapped, []

    def inexact(*args):
        return own(*args)._replace(errors=[1e-5], offsets=[1e-10], gaps=[0.0])

    monkeypatch.setattr(shortcut_module, "swapped", inexact)
    for scale in (1.0, 2.0**20):
        sol = sm.solve(scale * spd(12), spd(12, 1), which="smallest")
        bounds.append(sol.error_bounds[0] / sol.eigenvalues[0])
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-6)
    assert bounds[0] == pytest.approx(1e-5, rel=0.1)
