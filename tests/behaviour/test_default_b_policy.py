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


@each_mass
@each_question
@each_method
@pytest.mark.parametrize("kind", [dense, sp.csr_array], ids=["dense", "sparse"])
def test_error(name, question, method, kind):
    B, _ = masses()[name]
    with pytest.raises(sm.NotPositiveDefinite):
        sm.solve(kind(stiffness()), kind(B), 3, method=method, rng=0, **question)


@each_mass
@each_question
@each_method
def test_restrict(name, question, method):
    """Against QᴴAQ with Q from a decomposition of the dense B."""
    B, rank = masses()[name]
    A = stiffness()
    values, vectors = np.linalg.eigh(dense(B))
    keep = values > 1e-10
    assert keep.sum() == rank
    Q = vectors[:, keep] / np.sqrt(values[keep])
    expected = wanted(np.linalg.eigvalsh(Q.T @ A @ Q), question, 4)
    sol = sm.solve(like(A, B), B, 4, b_policy="restrict", method=method, rng=0, **question)
    np.testing.assert_allclose(np.sort(sol.eigenvalues), expected, rtol=1e-9)
    U = sol.eigenvectors
    assert U.shape == (120, 4)
    assert np.abs(U.T @ (B @ U) - np.eye(4)).max() <= 1e-9
    report = sol.b_report
    assert (report.policy, report.rank, report.dropped, report.ridge) == ("restrict", rank, 120 - rank, 0.0)
    assert str(report) in sol.explain()


@pytest.mark.parametrize("name", [name for name in NAMES if "indefinite" not in name])
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


@pytest.mark.parametrize("name", ["dense indefinite", "diagonal indefinite", "block indefinite"])
def test_ridge_of_an_indefinite_mass(name):
    B, _ = masses()[name]
    A = stiffness()
    sol = sm.solve(like(A, B), B, 3, which="smallest", b_policy="ridge", rng=0)
    least = -np.linalg.eigvalsh(dense(B))[0]
    assert sol.b_report.ridge > least
    expected = scipy.linalg.eigh(A, dense(B) + sol.b_report.ridge * np.eye(120), eigvals_only=True)[:3]
    np.testing.assert_allclose(sol.eigenvalues, expected, rtol=1e-8)


@pytest.mark.parametrize("policy", ["ridge", "restrict"])
def test_a_good_mass_is_left_alone(policy):
    A, B = stiffness(), np.diag(np.linspace(1, 2, 120))
    for kind in (np.asarray, sp.csr_array):
        sol = sm.solve(kind(A), kind(B), 3, b_policy=policy, rng=0)
        plain = sm.solve(kind(A), kind(B), 3, rng=0)
        assert (sol.eigenvalues == plain.eigenvalues).all()
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
@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_real_singular_masses(number, which):
    """bcsstm01, 03 and 04 are diagonal with zeros."""
    K, M = harwell_boeing(number)
    for options in ({"which": which}, {"sigma": 1.0}):
        with pytest.raises(sm.NotPositiveDefinite):
            sm.solve(K, M, 3, rng=0, **options)
    mass = M.diagonal()
    rows = mass > 0
    Q = np.eye(mass.size)[:, rows] / np.sqrt(mass[rows])
    reduced = Q.T @ K.toarray() @ Q
    values = np.linalg.eigvalsh((reduced + reduced.T) / 2)
    expected = values[:3] if which == "smallest" else values[::-1][:3]
    for given in ((K, M), (K.toarray(), M.toarray())):
        sol = sm.solve(*given, k=3, which=which, b_policy="restrict", rng=0)
        assert sol.b_report.dropped == int((~rows).sum())
        np.testing.assert_allclose(sol.eigenvalues, expected, rtol=1e-8)


@pytest.mark.parametrize("options", [{"which": "largest"}, {"which": "smallest"}, {"sigma": 1.0}], ids=str)
@pytest.mark.parametrize("stored", ["sparse", "dense"])
def test_real_indefinite_mass(stored, options):
    """bcsstm10 has positive diagonal entries, so only a factorisation shows what it is."""
    K, M = harwell_boeing("10")
    K, M = (K, M) if stored == "sparse" else (K.toarray(), M.toarray())
    with pytest.raises(sm.NotPositiveDefinite):
        sm.solve(K, M, 3, rng=0, **options)
