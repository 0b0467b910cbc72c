"""Every figure that `splitmerge info` tells, against NumPy, and the limits at which it does and says other things."""

import json

import numpy as np
import pytest
import scipy.io
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from pairs import pair_of
from splitmerge.cli import main
from splitmerge.cli.commands import info
from splitmerge.cli.facts import pair as pair_facts
from splitmerge.cli.facts.matrix import facts
from splitmerge.sparse_direct import Prediction

RNG = np.random.default_rng(5)
LAPLACIAN = sp.csr_array(sp.diags_array([[-1.0] * 29, [1.0] + [2.0] * 28 + [1.0], [-1.0] * 29], offsets=[-1, 0, 1]))


def told(capsys, *words):
    assert main(["info", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["info", *words]) == 0
    return found, capsys.readouterr().out


def sparse_of(M):
    """With a stored zero, which is no nonzero."""
    S = sp.coo_array(M)
    rows, columns = S.coords
    zero = np.argwhere(M == 0)[:1]
    rows, columns = np.append(rows, zero[:, 0]), np.append(columns, zero[:, 1])
    return sp.csr_array((np.append(S.data, np.zeros(len(zero))), (rows, columns)), shape=M.shape)


MATRICES = {
    "laplacian": LAPLACIAN.toarray(),
    "signs that cancel": np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]),
    "two empty rows": np.diag([3.0, 0.0, -0.5, 0.0]),
    "complex": np.array([[2.0, 1j, 0.0], [-1j, 0.5, 3 - 4j], [0.0, 3 + 4j, -7.0]]),
    "not symmetric": np.array([[4.0, 1.0, 0.0], [0.5, -2.0, 0.0], [0.0, 0.0, 0.0]]),
    "small": np.diag([1e-12, 5e-9, -1e-7, 0.0]) + 1e-20 * np.eye(4, k=1) + 1e-20 * np.eye(4, k=-1),
    "one": np.array([[-3.0]]),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("kind", [np.asarray, sparse_of], ids=["dense", "sparse"])
def test_figures_of_a_matrix(name, kind):
    M = MATRICES[name]
    sizes = np.abs(M[M != 0])
    found = facts(kind(M), "X")
    assert (found.name, found.n, found.kind) == ("X", len(M), "dense" if kind is np.asarray else "sparse")
    assert found.dtype == str(M.dtype)
    assert found.nonzeros == sizes.size
    assert found.density == sizes.size / M.size
    assert (found.largest, found.least) == (sizes.max(), sizes.min())
    assert found.asymmetry == pytest.approx(np.abs(M - M.conj().T).max() / sizes.max(), abs=0)
    assert found.diagonal == (M.diagonal().real.min(), M.diagonal().real.max())
    assert found.empty_rows == (~(M != 0).any(axis=1)).sum()
    assert bool(found.findings) == (name == "not symmetric")


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_a_laplacian_as_mass_has_no_empty_rows(here, capsys, kind):
    if kind is np.asarray:
        np.save("B.npy", LAPLACIAN.toarray())
    else:
        scipy.io.mmwrite("B.mtx", LAPLACIAN)
    found, text = told(capsys, "K.mtx", "B.npy" if kind is np.asarray else "B.mtx")
    assert found["B"]["empty_rows"] == 0
    (finding,) = found["findings"]
    assert finding.startswith("B is singular (0 negative eigenvalues and 1 within")
    assert "rows are zero" not in finding + text


class TestCosts:
    @pytest.mark.parametrize("fits", [True, False])
    @pytest.mark.parametrize("seconds", [0.01, 9.99, 10.0, 10.01, 1e4])
    def test_both_limits(self, monkeypatch, fits, seconds):
        """Ten seconds and the memory: neither alone makes a factorisation affordable."""
        monkeypatch.setattr(pair_facts, "fits", lambda prediction: fits)
        fields = dict.fromkeys(Prediction.__dataclass_fields__, 0)
        prediction = Prediction(**(fields | {"seconds": seconds, "bytes": 2e9, "backend": "QDLDL"}))
        found = pair_facts.costs(prediction)
        assert (found.seconds, found.bytes, found.backend) == (seconds, 2e9, "QDLDL")
        assert found.affordable == (fits and seconds <= 10)

    def test_none_is_predicted_for_small_ones(self):
        assert pair_facts.costs(None) is None

    @pytest.mark.parametrize("affordable", [True, False])
    def test_what_is_not_affordable_is_not_factorised(self, monkeypatch, affordable):
        made = []
        factorise = pair_facts.factorise
        monkeypatch.setattr(pair_facts, "factorise", lambda op: made.append(op) or factorise(op))
        cost = pair_facts.Costs(20.0, 1e9, "QDLDL", affordable)
        found = pair_facts.definiteness(pair_facts.operators(np.eye(3), None)[0], cost)
        assert len(made) == affordable
        assert found.definite == affordable
        assert found.word == ("positive definite" if affordable else "unknown")


class TestDefiniteness:
    @pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    @pytest.mark.parametrize(
        ("values", "word", "negative", "zero"),
        [
            ([3.0, 2.0, 1.0, 0.5], "positive definite", 0, 0),
            ([3.0, 2.0, 1.0, -0.5], "indefinite", 1, 0),
            ([-3.0, -2.0, 0.0, 0.5], "indefinite", 2, 1),
            ([3.0, 2.0, 0.0, 0.0], "singular", 0, 2),
            ([-3.0, -2.0, -1.0, -0.5], "indefinite", 4, 0),
        ],
    )
    def test_counts(self, values, word, negative, zero, kind, unit):
        Q = np.linalg.qr(RNG.standard_normal((4, 4)))[0]
        M = unit * (Q * values) @ Q.T
        found = pair_facts.definiteness(pair_facts.operators(kind((M + M.T) / 2), None)[0], None)
        assert (found.word, found.negative, found.zero) == (word, negative, zero)
        if word != "positive definite":
            assert found.how.startswith(f"{negative} negative eigenvalues and {zero} within ")
            margin = float(found.how.split(" within ")[1].split()[0])
            assert 1e-16 * unit < margin < 1e-12 * unit


class TestConditions:
    @pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
    def test_of_small_matrices(self, here, capsys, unit):
        A, B = pair_of(np.linspace(1, 9, 12))
        np.savez("pair.npz", A=A / unit, B=unit * B)
        found, text = told(capsys, "pair.npz")
        for name, M in (("condition_A", A), ("condition", B)):
            assert found[name]["number"] == pytest.approx(np.linalg.cond(M), rel=1e-8)
            assert found[name]["how"] == "from all its eigenvalues"
            letter = "A" if name == "condition_A" else "B"
            assert f"condition of {letter}  {np.linalg.cond(M):.3g}, from all its eigenvalues" in text

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    def test_estimates_are_from_below(self, kind):
        """Of more than 500 rows; the ends of this spectrum stand alone."""
        values = np.r_[0.01, np.linspace(1, 2, 498), 50.0, 0.02]
        for rows, how in ((500, "from all"), (501, "a lower estimate by 40 Lanczos steps with X and X⁻¹")):
            M = np.diag(values[:rows])
            op = pair_facts.operators(kind(M), None)[0]
            number, told = pair_facts.condition(op, pair_facts.definiteness(op, None).factor, "X")
            assert told.startswith(how)
            assert number == pytest.approx(5000, rel=1e-6)

    @pytest.mark.parametrize(("least", "is_told"), [(1.1e-12, False), (0.9e-12, True)])
    def test_nearly_singular(self, here, capsys, least, is_told):
        np.save("B.npy", np.diag(np.r_[np.ones(29), least]))
        found, text = told(capsys, "K.mtx", "B.npy")
        assert any("B is nearly singular" in finding for finding in found["findings"]) == is_told
        assert ("its condition number is about" in text) == is_told

    @pytest.mark.parametrize(("ratio", "swapped"), [(4.9, False), (5.1, True), (0.1, False)])
    @pytest.mark.parametrize("condition_A", [1.0, 1e6])
    def test_the_order_of_the_files(self, condition_A, ratio, swapped):
        full = np.ones((3, 3)) + 3 * np.eye(3)
        why = pair_facts.wrong_order(full, full, condition_A, ratio * condition_A)
        assert bool(why) == swapped
        if swapped:
            assert f"{ratio * condition_A:.1e}, is 5 times that of A" in why
        assert pair_facts.wrong_order(full, full, 1.0, np.inf) == ""
        for kind in (np.asarray, sp.csr_array):
            assert pair_facts.wrong_order(kind(np.eye(3)), kind(full), 1.0, 1.0).startswith("A is diagonal")
            assert pair_facts.wrong_order(kind(full), kind(np.eye(3)), 1.0, 1.0) == ""
            assert pair_facts.wrong_order(kind(np.eye(3)), kind(np.eye(3)), 1.0, 1.0) == ""


class TestSpectrum:
    @pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
    @pytest.mark.parametrize(
        "values", [np.linspace(1, 9, 12), np.linspace(-3, 2, 12), np.linspace(-9, -1, 12)], ids=str
    )
    @pytest.mark.parametrize("dtype", [float, complex])
    def test_ends_are_bounds_in_the_units_of_the_files(self, values, unit, dtype):
        A, B = pair_of(values, dtype=dtype)
        for scales in ((unit, 1.0), (1.0, unit)):
            largest, smallest, how = pair_facts.spectrum(scales[0] * A, scales[1] * B)
            size = scales[0] / scales[1]
            assert largest <= values.max() * size + 1e-9 * size
            assert smallest >= values.min() * size - 1e-9 * size
            assert how == "Ritz values of a complete Krylov space"
            np.testing.assert_allclose([largest, smallest], [values.max() * size, values.min() * size], rtol=1e-8)

    def test_they_are_said(self, here, capsys):
        found, text = told(capsys, "K.mtx", "M.mtx")
        ends = found["spectrum"]
        expected = f"at least {ends['largest']:.6g}, the smallest at most {ends['smallest']:.6g}: {ends['how']}"
        assert f"spectrum  the largest eigenvalue is {expected}" in text


@pytest.mark.parametrize(("words", "k"), [([], 6), (["-k", "2"], 2), (["-k", "30"], 30), (["-k", "31"], 30)])
def test_as_many_pairs_as_are_asked_for_are_planned(here, capsys, monkeypatch, words, k):
    """Six by default, and no more than there are."""
    asked, plan = [], pair_facts.routes
    monkeypatch.setattr(pair_facts, "routes", lambda A, B, k: asked.append(k) or plan(A, B, k))
    told(capsys, "K.mtx", "M.mtx", *words)
    assert set(asked) == {k}


def test_lines_of_a_matrix():
    """The text tells what the figures are."""
    A, B = sm.gallery.mikota_chain(5)
    text = info.as_text(info.examine(A, B, 2)).split("\n")
    assert text[0] == "A  5 × 5, sparse, float64, 13 nonzeros (52 %)"
    assert text[1] == "   exactly symmetric; entries from 1 to 9, diagonal from 1 to 9"
    assert text[2] == "   positive definite: the Cholesky factorisation exists"
    assert text[3] == "B  5 × 5, sparse, float64, 5 nonzeros (20 %)"
    assert text[4] == "   exactly symmetric; entries from 0.2 to 1, diagonal from 0.2 to 1"
    A = A.toarray()
    A[0, 1] *= 1 + 2e-13
    text = info.as_text(info.examine(A, None, 2)).split("\n")
    assert text[1].startswith("   max |X − Xᴴ| = 8.9e-14 max |X|; entries")
    assert "B  the identity" in text
