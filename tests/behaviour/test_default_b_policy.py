"""A B that is singular or indefinite: refused, ridged or restricted, and reported."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from data import harwell_boeing
from strategies import unitary

QUESTIONS = [{"which": "largest"}, {"which": "smallest"}, {"sigma": 0.4}]
each_question = pytest.mark.parametrize("question", QUESTIONS, ids=str)
METHODS = [None, sm.Accelerated()]
each_method = pytest.mark.parametrize("method", METHODS, ids=["chosen", "accelerated"])


def masses(n=120, dtype=float):
    """B's that are not positive definite: name → (B, its rank of positive eigenvalues)."""
    rng = np.random.default_rng(0)
    Q = unitary(rng, n, dtype)
    positive = rng.uniform(0.5, 3, n)
    lost, negative = positive.copy(), positive.copy()
    lost[:10] = 0
    negative[:10] = -rng.uniform(0.5, 1, 10)
    block = np.array([[2.0, 2.0], [2.0, 2.0]])
    wrong = np.array([[1.0, 2.0], [2.0, 1.0]])
    blocks = [block] * 8 + [np.eye(2) * 3] * (n // 2 - 8)
    indefinite = [wrong] * 8 + [np.eye(2) * 3] * (n // 2 - 8)

    def full(values):
        B = (Q * values) @ Q.conj().T
        return (B + B.conj().T) / 2

    return {
        "dense singular": (full(lost), n - 10),
        "dense indefinite": (full(negative), n - 10),
        "diagonal singular": (sp.diags_array(lost, format="csr"), n - 10),
        "diagonal indefinite": (sp.diags_array(negative, format="csr"), n - 10),
        "block singular": (sp.csr_array(sp.block_diag(blocks)), n - 8),
        "block indefinite": (sp.csr_array(sp.block_diag(indefinite)), n - 8),
    }


NAMES = list(masses())
each_mass = pytest.mark.parametrize("name", NAMES)
each_singular = pytest.mark.parametrize("name", [name for name in NAMES if "indefinite" not in name])


def stiffness(n=120, dtype=float):
    rng = np.random.default_rng(1)
    Q = unitary(rng, n, dtype)
    A = (Q * rng.uniform(0.2, 2, n)) @ Q.conj().T
    return (A + A.conj().T) / 2


def like(A, B):
    return sp.csr_array(A) if sp.issparse(B) else A


def dense(M):
    return M.toarray() if sp.issparse(M) else M


def wanted(values, question, k):
    values = np.sort(values)
    if "sigma" in question:
        return np.sort(values[np.argsort(np.abs(values - question["sigma"]))][:k])
    return values[:k] if question["which"] == "smallest" else values[-k:]


def finite(A, B):
    """The finite eigenvalues, ascending, by static condensation."""
    values, vectors = np.linalg.eigh(dense(B))
    keep = values > 1e-10
    Q, N = vectors[:, keep] / np.sqrt(values[keep]), vectors[:, ~keep]
    A = dense(A)
    schur = Q.T @ A @ Q - Q.T @ A @ N @ np.linalg.solve(N.T @ A @ N, N.T @ A @ Q)
    return np.linalg.eigvalsh((schur + schur.T) / 2)


@each_mass
@each_question
@each_method
@pytest.mark.parametrize("kind", [dense, sp.csr_array], ids=["dense", "sparse"])
def test_error(name, question, method, kind):
    """The largest of a singular B are infinite; next to a shift, and at the low end, the finite ones are found."""
    B, _ = masses()[name]
    A = stiffness()
    if "singular" in name and question != {"which": "largest"}:
        sol = sm.solve(kind(A), kind(B), 3, method=method, rng=0, **question)
        np.testing.assert_allclose(np.sort(sol.eigenvalues), wanted(finite(A, B), question, 3), rtol=1e-9)
        assert (sol.residuals <= 1e-8).all()
        return
    with pytest.raises(sm.NotPositiveDefinite, match="b_policy" if "singular" in name else "indefinite"):
        sm.solve(kind(A), kind(B), 3, method=method, rng=0, **question)


@each_singular
@each_question
@each_method
def test_restrict(name, question, method):
    """Against static condensation with a decomposition of the dense B."""
    B, rank = masses()[name]
    A = stiffness()
    expected = wanted(finite(A, B), question, 4)
    sol = sm.solve(like(A, B), B, 4, b_policy="restrict", method=method, rng=0, **question)
    np.testing.assert_allclose(np.sort(sol.eigenvalues), expected, rtol=1e-9)
    U = sol.eigenvectors
    assert U.shape == (120, 4)
    assert np.abs(U.T @ (B @ U) - np.eye(4)).max() <= 1e-9
    # they are pairs of the pair that was given, not of a compressed one
    assert np.abs(A @ U - B @ U * sol.eigenvalues).max() <= 1e-7 * np.abs(sol.eigenvalues).max()
    report = sol.b_report
    assert (report.policy, report.rank, report.dropped, report.ridge) == ("restrict", rank, 120 - rank, 0.0)
    assert str(report) in sol.explain()


@pytest.mark.parametrize("name", [name for name in NAMES if "indefinite" in name])
@pytest.mark.parametrize("policy", ["ridge", "restrict"])
@each_question
def test_no_policy_takes_an_indefinite_mass(name, policy, question):
    B, _ = masses()[name]
    with pytest.raises(sm.NotPositiveDefinite, match="indefinite"):
        sm.solve(like(stiffness(), B), B, 3, b_policy=policy, rng=0, **question)


def test_three_by_three():
    """The pair that restriction to the range of B gets wrong: 1.2929 is an eigenvalue of the compressed pair only."""
    A, B = np.diag([1.0, 2.0, 3.0]) + 0.5, np.diag([1.0, 1.0, 0.0])
    exact = finite(A, B)
    for options in ({"which": "smallest"}, {"b_policy": "restrict"}, {"which": "smallest", "b_policy": "restrict"}):
        sol = sm.solve(A, B, 2, **options)
        np.testing.assert_allclose(np.sort(sol.eigenvalues), exact, rtol=1e-12)
        assert sol.verdict == "certified"
    np.testing.assert_allclose(exact, [1.2700325, 2.5871103], rtol=1e-7)
    with pytest.raises(sm.NotPositiveDefinite, match="b_policy"):
        sm.solve(A, B, 2)
    with pytest.raises(ValueError, match="only 2 eigenvalues are finite"):
        sm.solve(A, B, 3, which="smallest")


def test_a_common_null_space_is_left_out():
    """Covariances of fewer samples than unknowns: A and B vanish on the same space, and the rest is a regular pair."""
    rng = np.random.default_rng(3)
    G = rng.standard_normal((30, 12))
    S = rng.standard_normal((12, 12))
    A, B = G @ (S @ S.T) @ G.T, G @ G.T
    exact = np.linalg.eigvalsh(S @ S.T)
    sol = sm.solve((A + A.T) / 2, B, 4, b_policy="restrict", rng=0)
    np.testing.assert_allclose(sol.eigenvalues, exact[::-1][:4], rtol=1e-8)


def test_an_A_that_does_not_separate_infinity_is_refused():
    A, B = np.array([[1.0, 1.0], [1.0, 0.0]]), np.diag([1.0, 0.0])
    with pytest.raises(sm.NotPositiveDefinite, match="restrict"):
        sm.solve(A, B, b_policy="restrict")


@each_singular
@each_method
def test_ridge(name, method):
    """Against LAPACK with the ridge that was reported; the largest live where B is nothing but the ridge."""
    B, _ = masses()[name]
    A = stiffness()
    for question in QUESTIONS[name == "block singular" :]:
        sol = sm.solve(like(A, B), B, 4, b_policy="ridge", method=method, rng=0, **question)
        ridge = sol.b_report.ridge
        assert 0 < ridge <= 1e-8
        assert sol.b_report.policy == "ridge"
        ridged = dense(B) + ridge * np.eye(120)
        expected = wanted(1 / scipy.linalg.eigh(ridged, A, eigvals_only=True), question, 4)
        if question.get("which") == "largest":
            np.testing.assert_allclose(np.sort(sol.eigenvalues), expected, rtol=1e-2)
        else:
            np.testing.assert_allclose(np.sort(sol.eigenvalues), expected, rtol=1e-8)


@each_method
def test_a_ridge_too_small_to_work_with_is_no_success(method):
    """κ(B) = 5e12: the largest live where B is nothing but the ridge, and what a spoilt basis shows must not pass."""
    B, _ = masses()["block singular"]
    A = stiffness()
    try:
        sol = sm.solve(like(A, B), B, 4, b_policy="ridge", method=method, rng=0)
    except sm.NotConverged as failure:
        sol = failure.solution
    if not sol.converged:
        assert sol.residuals.max() > 1e-8
        return
    ridged = dense(B) + sol.b_report.ridge * np.eye(120)
    expected = np.sort(1 / scipy.linalg.eigh(ridged, A, eigvals_only=True))[::-1][:4]
    np.testing.assert_allclose(sol.eigenvalues, expected, rtol=1e-2)


@pytest.mark.parametrize("policy", ["ridge", "restrict"])
def test_a_good_mass_is_left_alone(policy):
    A, B = stiffness(), np.diag(np.linspace(1, 2, 120))
    for kind in (np.asarray, sp.csr_array):
        sol = sm.solve(kind(A), kind(B), 3, b_policy=policy, rng=0)
        plain = sm.solve(kind(A), kind(B), 3, rng=0)
        np.testing.assert_allclose(sol.eigenvalues, plain.eigenvalues, rtol=1e-13)
        assert (sol.b_report.ridge, sol.b_report.dropped) == (0.0, 0)
        assert plain.b_report is None


def test_refusals():
    A, B = stiffness(), np.diag(np.r_[0.0, np.ones(119)])
    with pytest.raises(ValueError, match="b_policy"):
        sm.solve(A, B, b_policy="mend")
    for policy in ("ridge", "restrict"):
        with pytest.raises(ValueError, match="entries"):
            sm.solve(A, aslinearoperator(B), b_policy=policy)
    with pytest.raises(sm.NotPositiveDefinite):
        sm.solve(A, -np.eye(120), b_policy="restrict")


@pytest.mark.parametrize("number", ["01", "03", "04"])
@pytest.mark.parametrize("stored", ["sparse", "dense"])
def test_real_singular_masses(number, stored):
    """bcsstm01, 03 and 04 are diagonal with zeros; against the generalised Schur decomposition."""
    K, M = harwell_boeing(number)
    a, b = scipy.linalg.eig(K.toarray(), M.toarray(), right=False, homogeneous_eigvals=True)
    every = np.sort((a[b != 0] / b[b != 0]).real)
    every = every[np.abs(every) < 1e14]
    assert every.size == (M.diagonal() > 0).sum()
    K, M = (K, M) if stored == "sparse" else (K.toarray(), M.toarray())
    middle = 1.001 * float(every[every.size // 2])
    for question in ({"which": "smallest"}, {"sigma": 0.0}, {"sigma": 1.01 * float(every[3])}, {"sigma": middle}):
        sol = sm.solve(K, M, 4, rng=0, **question)
        assert sol.verdict == "certified"
        np.testing.assert_allclose(np.sort(sol.eigenvalues), wanted(every, question, 4), rtol=1e-8)
    with pytest.raises(sm.NotPositiveDefinite, match="b_policy"):
        sm.solve(K, M, 3, rng=0)
    sol = sm.solve(K, M, 3, b_policy="restrict", rng=0)
    np.testing.assert_allclose(sol.eigenvalues, every[::-1][:3], rtol=1e-8)


@pytest.mark.parametrize("options", [{"which": "largest"}, {"which": "smallest"}, {"sigma": 1.0}], ids=str)
@pytest.mark.parametrize("stored", ["sparse", "dense"])
def test_real_indefinite_mass(stored, options):
    """bcsstm10 has positive diagonal entries, so only a factorisation shows what it is."""
    K, M = harwell_boeing("10")
    K, M = (K, M) if stored == "sparse" else (K.toarray(), M.toarray())
    with pytest.raises(sm.NotPositiveDefinite):
        sm.solve(K, M, 3, rng=0, **options)


def test_residuals_of_a_restricted_pair_are_those_of_the_given_one():
    """A block of A on the null space of B that is a million times the rest: condensation itself rounds."""
    rng, n, r = np.random.default_rng(5), 46, 6
    A, X = rng.standard_normal((n, n)), rng.standard_normal((n, r))
    A = A + A.T
    A[r:, r:] *= 1e6
    B = X @ X.T
    sol = sm.solve(A, B, k=3, b_policy="restrict", rng=0)
    U, values = sol.eigenvectors, sol.eigenvalues
    norms = np.linalg.norm(A @ U - B @ U * values, axis=0)
    level = (np.abs(A).sum(axis=0).max() + np.abs(values) * np.abs(B).sum(axis=0).max()) * np.linalg.norm(U, axis=0)
    sizes = np.maximum(np.abs(values) * np.linalg.norm(B @ U, axis=0), np.finfo(float).eps ** 0.5 * level)
    # up to the rounding of this computation
    rounding = 100 * np.finfo(float).eps * level / sizes
    assert (np.abs(sol.residuals - norms / sizes) <= 0.01 * norms / sizes + rounding).all()
    assert (sol.reason is sm.Reason.RESIDUAL) == bool((sol.residuals <= 1e-8).all())


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n", [8, 60])
@pytest.mark.parametrize("options", [{}, {"certify": True}])
def test_smallest_of_an_indefinite_A_beside_a_singular_B(kind, n, options):
    """A is positive on the null space of B, which is coupled to the rest."""
    rng = np.random.default_rng(n)
    values, L = np.r_[np.arange(-3.0, n - 5), 2.0, 3.0], np.eye(n) + np.diag(rng.uniform(-0.5, 0.5, n - 1), -1)
    mass = np.r_[np.ones(n - 2), 0.0, 0.0]
    A, B = (kind(L @ np.diag(d) @ L.T) for d in (values, mass))
    sol = sm.solve(A, B, 3, which="smallest", rng=0, **options)
    np.testing.assert_allclose(sol.eigenvalues, [-3, -2, -1], atol=1e-9)


def test_the_smallest_where_a_is_indefinite_on_the_null_space_of_b():
    """The refusal names what finds them."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((60, 60))
    A, B = A + A.T, np.diag(np.r_[np.zeros(10), np.ones(50)])
    with pytest.raises(sm.NotPositiveDefinite, match="b_policy='restrict' condenses that, and sigma"):
        sm.solve(A, B, k=2, which="smallest")
    schur = A[10:, 10:] - A[10:, :10] @ np.linalg.solve(A[:10, :10], A[:10, 10:])
    expected = np.linalg.eigvalsh(schur)[:2]
    found = sm.solve(A, B, k=2, which="smallest", b_policy="restrict")
    np.testing.assert_allclose(found.eigenvalues, expected, rtol=1e-9)
    np.testing.assert_allclose(sm.solve(A, B, sigma=expected[0] - 1).eigenvalues, expected[:1], rtol=1e-9)


@pytest.mark.parametrize("b", [1e-60, 1.0, 1e60])
@pytest.mark.parametrize("a", [1e-60, 1.0, 1e60])
def test_residuals_of_a_restricted_pair_do_not_depend_on_its_units(a, b):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((12, 12)), np.diag(np.r_[np.linspace(1, 2, 9), np.zeros(3)])
    A = A @ A.T
    usual, sol = (sm.solve(x * A, y * B, 2, b_policy="restrict", rng=0) for x, y in ((1.0, 1.0), (a, b)))
    np.testing.assert_allclose(sol.eigenvalues, (a / b) * usual.eigenvalues, rtol=1e-12)
    assert sol.reason is usual.reason is sm.Reason.RESIDUAL
    assert sol.residuals.max() <= 1e-13


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e6])
@pytest.mark.parametrize("seed", range(6))
def test_angles_beside_a_ridge(seed, unit):
    """Rounding turns vectors into the null space of B by its square root over that of the ridge; the bounds say so."""
    rng = np.random.default_rng(seed)
    n, r = 7, int(rng.integers(1, 4))
    X = rng.integers(-4, 5, (n, r)) + np.eye(n, r) * 9.0
    A, B = X @ np.diag(np.arange(1.0, r + 1)) @ X.T, X @ X.T * unit
    sol = sm.solve(A, B, r, b_policy="ridge", rng=0)
    assert sol.b_report.ridge > 0
    # the finite eigenvectors are X (XᵀX)⁻¹, and the ridge turns them by itself over ‖B‖ only
    exact = X @ np.linalg.inv(X.T @ X)
    U = sol.eigenvectors[:, ::-1] * unit**0.5
    for i in range(r):
        x = exact[:, i]
        away = U[:, i] - x * (x @ (B / unit) @ U[:, i])
        sine = np.sqrt(away @ ((B + sol.b_report.ridge * np.eye(n)) / unit) @ away)
        assert sine <= sol.angle_bounds[::-1][i] + 1e-12 * np.linalg.cond(X) ** 2
        assert sol.angle_bounds[::-1][i] < 1e-3
