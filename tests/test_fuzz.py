"""A short campaign of fixed cases; and the judge of the campaign can tell a tampered answer from a right one."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from tools.fuzz import known
from tools.fuzz.case import build, family_of
from tools.fuzz.families import FAMILIES
from tools.fuzz.judge import judge
from tools.fuzz.matching import check_interval, check_wanted, eigsh_order, submultiset
from tools.fuzz.oracle import condensed, reference
from tools.fuzz.precise import extended, jacobi
from tools.fuzz.requests import Request
from tools.fuzz.run import SOFT, run
from tools.fuzz.scipy_like import check_eigsh

import splitmerge as sm

EPS = float(np.finfo(float).eps)


@pytest.mark.parametrize("chunk", range(6))
def test_campaign(chunk):
    """No silent failure and no crash in these cases."""
    wrong = []
    for number in range(30 * chunk, 30 * (chunk + 1)):
        outcome = run(number, alarms=False)
        wrong += [f"{number}: {outcome.text}: {each}" for each in outcome.findings if each.kind not in SOFT]
    assert not wrong, "\n".join(wrong)


FOUND = {
    8220009562: "one vector three times, at no angle to a reference",
    8140000298: "an angle that rounding beside a ridge turns",
    8130005770: "an eigenvalue whose inverse is below the rounding of the largest one",
    7500006971: "a probe whose basis is replaced by one of the whole space",
    7510006322: "the same with a solver of the user's",
    7030000472: "a random vector that is near an eigenvector by chance",
    7060008563: "LAPACK leaves vectors of a tridiagonal matrix that are not finite",
    7030001651: "a cluster that only the rounding of its largest values makes narrow",
    7020001600: "the sine of a vector of which an operator has left nothing",
    7010000471: "residuals that an inexact Minv leaves",
    5080002110: "an interval whose end is below the errors of its pairs",
    5090009071: "equal operators of a singular pencil",
    720001236: "a count whose rounding covers all values, in single precision",
    510002853: "LAPACK returned fewer pairs than it was asked for",
    510000616: "a shift for a singular pencil",
    310000336: "eigenvectors without B-norm 1",
    910000935: "LAPACK's subset driver fails",
    1110004597: "nearly parallel columns of a block",
    1110003966: "a vector without B-norm",
    1010001139: "σ on all eigenvalues at once",
    1010003417: "σ on an eigenvalue of a pair with massless unknowns",
    1010003900: "an operator without dtype beside OPinv",
    1310000694: "residuals of a condensed pair that the given one does not meet",
    1310002762: "LAPACK's residuals at n = 5",
    2620000482: "rounding of a ridge widened a cluster",
    3040002003: "an inverse that overflows in single precision",
    1310000283: "an end of an interval within the rounding of a graded A",
    1520002339: "an end of an interval within the bounds of a ridged pair",
    1220001975: "a Cholesky factor of a singular B",
    1520003138: "LOBPCG of a singular pencil",
    1610003363: "a copy that a search with inexact solves does not show",
    1910001467: "bounds of a cluster that rounding of a decomposition has mixed",
    2020001846: "fourteen copies of zero beside an eigenvalue of a million",
    1510000205: "an interval at a fivefold zero of a graded pair",
    1510001619: "an end of an interval in a multiple zero, in single precision",
    4320001368: "a preconditioner that lets conjugate gradients overflow",
    42: "fewer Ritz pairs than wanted in LOBPCG",
}


@pytest.mark.parametrize("number", FOUND, ids=FOUND.get)
def test_found(number):
    """Failures that longer campaigns have found."""
    outcome = run(number, alarms=False)
    assert not [each for each in outcome.findings if each.kind not in SOFT]


def test_a_case_is_a_function_of_its_number():
    one, two = build(17), build(17)
    assert one.describe() == two.describe()
    assert one.problem.A.tobytes() == two.problem.A.tobytes()
    assert {family_of(number)[1] for number in range(400)} == set(FAMILIES)


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    A = (Q * np.r_[1.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10]) @ Q.T
    A, B = (A + A.T) / 2, np.eye(12) + np.diag(np.full(11, 0.1), 1) + np.diag(np.full(11, 0.1), -1)
    return A, B


@pytest.fixture
def asked():
    return Request("solve", {"k": 3})


@pytest.fixture
def right(pair, asked):
    return sm.solve(*pair, k=3), reference(*pair, EPS)


def kinds(solution, ref, request):
    return {finding.kind for finding in judge(solution, ref, request)}


class TestJudge:
    def test_right(self, right, asked):
        assert kinds(*right, asked) == set()

    def test_value_moved(self, right, asked):
        solution, ref = right
        moved = replace(solution, eigenvalues=solution.eigenvalues * (1 + 1e-5))
        assert kinds(moved, ref, asked) >= {"residual", "bound", "certified miss"}

    def test_missed_copy(self, pair, asked):
        A = np.diag([5.0, 5, 4, 3, 2, 1])
        full, ref = sm.solve(A, k=4), reference(A, None, EPS)
        keep = [0, 2, 3]
        names = ("eigenvalues", "residuals", "error_bounds", "angle_bounds", "clusters")
        cut = {name: getattr(full, name)[keep] for name in names}
        missed = replace(full, eigenvectors=full.eigenvectors[:, keep], **cut)
        assert kinds(missed, ref, asked) == {"certified miss"}
        assert kinds(replace(missed, verdict=sm.Verdict("probed", "")), ref, asked) == {"miss"}
        assert kinds(replace(missed, verdict=sm.Verdict("unchecked", "")), ref, asked) == set()

    def test_bound_too_small(self, pair, asked):
        rough = replace(asked, tol=1e-2)
        solution, ref = sm.solve(*pair, k=3), reference(*pair, EPS)
        u = solution.eigenvectors.copy()
        u[:, 0] += 1e-3 * np.linalg.norm(u[:, 0]) * np.sin(np.arange(12.0))
        u[:, 0] /= np.sqrt(u[:, 0] @ pair[1] @ u[:, 0])
        quotient = solution.eigenvalues.copy()
        quotient[0] = u[:, 0] @ pair[0] @ u[:, 0]
        error = abs(quotient[0] - solution.eigenvalues[0])
        bounds = {"error_bounds": np.r_[error * 1.1, 1e-10, 1e-10], "angle_bounds": np.r_[1e-2, 1e-8, 1e-8]}
        honest = replace(solution, eigenvectors=u, eigenvalues=quotient, **bounds)
        assert kinds(honest, ref, rough) == set()
        assert kinds(replace(honest, angle_bounds=np.full(3, 1e-8)), ref, rough) == {"angle"}
        assert kinds(replace(honest, error_bounds=honest.error_bounds * 0.01), ref, rough) == {"bound"}

    def test_wrong_verdict(self, right, asked):
        solution, ref = right
        assert kinds(replace(solution, verdict=sm.Verdict("sure", "")), ref, asked) == {"verdict"}
        assert kinds(replace(solution, verdict=sm.Verdict("probed", "")), ref, _certified(asked)) == {"uncertified"}
        smallest = replace(asked, options={"k": 3, "which": "smallest"})
        assert kinds(solution, ref, smallest) == {"certified miss"}

    def test_not_finite(self, right, asked):
        solution, ref = right
        assert kinds(replace(solution, residuals=np.array([0, np.nan, 0])), ref, asked) == {"nonfinite"}
        assert kinds(replace(solution, residuals=np.array([0, -1.0, 0])), ref, asked) == {"negative"}

    def test_vectors(self, right, asked):
        solution, ref = right
        assert "orthonormality" in kinds(replace(solution, eigenvectors=2 * solution.eigenvectors), ref, asked)
        twice = solution.eigenvectors[:, [0, 0, 2]]
        assert {"orthonormality", "residual"} <= kinds(replace(solution, eigenvectors=twice), ref, asked)

    def test_shape(self, right, asked):
        solution, ref = right
        assert kinds(replace(solution, eigenvalues=solution.eigenvalues[:2]), ref, asked) == {"shape"}


def _certified(request):
    return replace(request, options=request.options | {"certify": True})


class TestEigsh:
    def test_judge(self, pair):
        A, B = pair
        w, V = sm.eigsh(A, k=3, M=B, which="LA", rng=0)
        ref, request = reference(A, B, EPS), Request("eigsh", {"k": 3, "which": "LA"}, tol=0.0)
        found = lambda answer: {finding.kind for finding in check_eigsh(answer, ref, request)}  # noqa: E731
        assert found((w, V)) == set()
        assert found((w * (1 + 1e-6), V)) == {"eigsh value", "eigsh residual"}
        assert found(w) == {"shape"}
        assert found((w, 2 * V)) == {"eigsh orthonormality"}

    @pytest.mark.parametrize(
        ("which", "sigma", "mode", "expected"),
        [
            ("LM", None, "normal", [0, 5]),
            ("SM", None, "normal", [2, 3]),
            ("BE", None, "normal", [0, 5]),
            ("LM", 1.6, "normal", [3, 4]),
            ("LA", 0.5, "normal", [3, 4]),
            ("SA", 1.6, "normal", [2, 3]),
            ("LM", 1.6, "cayley", [3, 4]),
        ],
    )
    def test_order(self, which, sigma, mode, expected):
        indices, clear = eigsh_order(extended(np.array([-9.0, -3, -0.5, 1, 2, 10])), which, sigma, mode, 2)
        assert list(indices) == expected
        assert clear


class TestMatching:
    spectrum, none = extended(np.array([1.0, 1, 2, 3])), np.zeros(4)

    def test_multiplicity(self):
        room = np.full(3, 1e-9)
        assert not submultiset(np.array([1.0, 1, 2]), room, self.spectrum, self.none)
        assert submultiset(np.array([1.0, 2, 2]), room, self.spectrum, self.none)
        assert check_wanted(np.array([3.0, 2, 2]), room, self.spectrum, self.none, ("largest", None, 3))
        assert not check_wanted(np.array([3.0, 1, 2]), room, self.spectrum, self.none, ("ends", None, 3))

    def test_interval(self):
        room = np.full(2, 1e-9)
        assert not check_interval(np.array([1.0, 1]), room, self.spectrum, self.none, (0.5, 1.5))
        assert check_interval(np.array([1.0]), room[:1], self.spectrum, self.none, (0.5, 1.5))
        assert not check_interval(np.zeros(0), room[:0], self.spectrum, self.none, (5, 6))
        assert check_interval(np.zeros(0), room[:0], self.spectrum, self.none, (0, 6))


class TestOracle:
    def test_jacobi(self):
        rng = np.random.default_rng(0)
        M = rng.normal(size=(9, 9)) + 1j * rng.normal(size=(9, 9))
        M = extended(M + M.conj().T)
        values, W = jacobi(M)
        assert abs(M @ W - W * values).max() < 1e-17
        assert abs(W.conj().T @ W - np.eye(9)).max() < 1e-17

    def test_graded_mass(self):
        """Eigenvalues that LAPACK loses: B = D² with D over twelve decades."""
        D = 10.0 ** -np.arange(0.0, 13)
        core = np.diag(np.arange(1.0, 14)) + 0.1
        ref = reference(D[:, None] * core * D, np.diag(D * D), EPS)
        assert np.allclose(ref.values.astype(float), np.linalg.eigvalsh(core), rtol=1e-12)

    def test_singular_mass(self):
        A = np.array([[2.0, 1, 1], [1, 3, 0], [1, 0, 4]])
        B = np.diag([1.0, 1, 0])
        expected = np.linalg.eigvalsh(A[:2, :2] - np.outer(A[:2, 2], A[2, :2]) / 4)
        assert np.allclose(condensed(A, B, 2, EPS).values.astype(float), expected)


@pytest.mark.parametrize("chunk", range(2))
def test_known_eigenvalues(chunk):
    """Sparse pairs of everyday size, of which the eigenvalues are known by construction."""
    wrong = [(number, found) for number in range(9 * chunk, 9 * (chunk + 1)) if (found := known.run(number)[1])]
    assert not wrong


def test_known_eigenvalues_are_those_of_the_pair():
    case = known.build(7)
    found = scipy.linalg.eigh(case.A.toarray(), case.B.toarray(), eigvals_only=True)
    np.testing.assert_allclose(found, np.sort(case.values), atol=1e-9 * np.abs(case.values).max())


def test_a_missed_eigenvalue_is_found():
    """The judge of pairs with known eigenvalues."""
    number = next(n for n in range(100) if known.build(n).question == {"which": "largest"} and known.build(n).k > 1)
    case = known.build(number)
    solution = sm.solve(case.A, case.B, case.k + 1, rng=0)
    tampered = replace(solution, eigenvalues=solution.eigenvalues[1:], error_bounds=solution.error_bounds[1:])
    right = replace(solution, eigenvalues=solution.eigenvalues[:-1], error_bounds=solution.error_bounds[:-1])
    assert not list(known.findings(case, right))
    assert any("wrong by" in text for text in known.findings(case, tampered))
    off = replace(right, eigenvalues=right.eigenvalues + 1e-3 * np.abs(case.values).max())
    assert any("a bound of" in text for text in known.findings(case, off))
