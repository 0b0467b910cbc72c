"""`splitmerge info`: what is told of sound and of bad pairs."""

import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import splitmerge as sm
from checking import choices
from commands import mikota, refused
from pairs import pair_of
from splitmerge.cli import main
from splitmerge.cli.facts import pair as pair_facts
from splitmerge.cli.facts.matrix import facts
from splitmerge.planning.costs import predicted


def told(capsys, *words):
    """The JSON and the text of `info`; a bad pair is no error."""
    assert main(["info", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["info", *words]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return found, said.out


class TestSound:
    def test_sparse(self, here, capsys):
        found, text = told(capsys, "K.mtx", "M.mtx")
        assert (found["A"]["n"], found["A"]["kind"], found["A"]["nonzeros"]) == (30, "sparse", 88)
        assert found["B"]["diagonal"] == pytest.approx([1 / 30, 1])
        assert found["definiteness"]["A"]["word"] == found["definiteness"]["B"]["word"] == "positive definite"
        assert found["condition"]["number"] == pytest.approx(30)
        assert 800 < found["spectrum"]["largest"] <= 900.001
        assert 0.999 <= found["spectrum"]["smallest"] < 30
        assert found["routes"]["largest"][0].startswith("LAPACK on (A, B)")
        assert found["findings"] == []
        assert "no problems found" in text
        assert "30 × 30, sparse, float64, 88 nonzeros (9.78 %)" in text

    def test_routes_are_those_of_solve(self, here, capsys):
        K, M = mikota(250)
        scipy.io.mmwrite("K.mtx", K)
        scipy.io.mmwrite("M.mtx", M)
        found, text = told(capsys, "K.mtx", "M.mtx", "-k", "2")
        engines = {"largest": "thick-restart Lanczos on (A, B)", "smallest": "shift-invert Lanczos in one basis"}
        for which, engine in engines.items():
            solved = sm.solve(K, M, 2, which=which)
            assert solved.method == sm.Accelerated()
            assert ("SWAPPED" in choices(solved)) == (which == "smallest")
            assert found["routes"][which][0].startswith(engine)
            assert f"plan of solve for the {which}" in text

    def test_complex_without_B(self, here, capsys):
        np.save("H.npy", pair_of([3.0, 1.0, -2.0], dtype=complex)[0])
        found, text = told(capsys, "H.npy")
        assert found["B"] is None
        assert found["definiteness"]["A"] == {
            "word": "indefinite",
            "how": found["definiteness"]["A"]["how"],
            "negative": 1,
            "zero": 0,
        }
        assert "B  the identity" in text
        assert "exactly Hermitian" in text

    def test_counts_are_in_the_units_of_the_file(self):
        op, _ = pair_facts.operators(np.diag([1e200, -1e200, 0.0]), None)
        found = pair_facts.definiteness(op, None)
        assert (found.word, found.negative, found.zero) == ("indefinite", 1, 1)
        assert "e+18" in found.how

    def test_condition_is_estimated(self):
        A, B = sm.gallery.synthetic_pair(600, kappa_B=1000, rng=0)
        op = pair_facts.operators(A, B)[1]
        number, how = pair_facts.condition(op, pair_facts.definiteness(op, None).factor)
        assert 900 < number < 1000.01
        assert "Lanczos" in how

    def test_what_costs_too_much_is_not_done(self, here, capsys, monkeypatch):
        monkeypatch.setattr(pair_facts, "costs", lambda op: pair_facts.Costs(1e4, 2**40, "CHOLMOD", False))
        found, text = told(capsys, "K.mtx", "M.mtx")
        assert found["definiteness"]["B"]["word"] == "unknown"
        assert found["routes"]["smallest"][0].startswith("LAPACK on (B, A − σB)")
        assert "predicted to take 1e+04 s on one core and 1e+03 GiB" in text
        found, _ = told(capsys, "K.mtx")
        assert found["routes"]["largest"][0].startswith("LAPACK on (A, B)")

    def test_costs_of_a_large_matrix(self):
        line = sp.diags_array([-np.ones(124), np.full(125, 2.0), -np.ones(124)], offsets=[-1, 0, 1])
        op, _ = pair_facts.operators(sp.csr_array(sp.kronsum(line, line)), None)
        found = pair_facts.costs(predicted(op))
        assert found.affordable
        assert 0 < found.seconds < 10


class TestFindings:
    @pytest.mark.parametrize(
        ("name", "matrix", "message"),
        [
            ("singular", np.diag(np.r_[np.ones(20), np.zeros(10)]), "B is singular (0 negative eigenvalues and 10"),
            ("indefinite", np.diag(np.r_[np.ones(28), -1.0, -2.0]), "B is indefinite (2 negative eigenvalues and 0"),
            ("nan", np.diag(np.r_[np.ones(29), np.nan]), "B has 1 entry that is NaN or infinite"),
            ("zero", np.zeros((30, 30)), "B is zero"),
            ("lower", np.tril(np.ones((30, 30))) + 30 * np.eye(30), "Only its lower triangle has entries"),
            ("upper", np.triu(np.ones((30, 30))) + 30 * np.eye(30), "Only its upper triangle has entries"),
            ("three", np.eye(3), "A is 30×30 and B is 3×3"),
            ("tiny", np.diag(np.r_[np.ones(29), 1e-13]), "condition number is about 1.0e+13"),
        ],
    )
    @pytest.mark.parametrize("sparse", [False, True])
    def test_bad_B(self, here, capsys, name, matrix, message, sparse):
        sp.save_npz("B.npz", sp.csr_array(matrix)) if sparse else np.savez("B.npz", B=matrix)
        found, text = told(capsys, "K.mtx", "B.npz")
        assert any(message in finding for finding in found["findings"])
        assert f"finding: {found['findings'][0]}" in text
        assert "no problems found" not in text

    def test_massless_rows_and_swapped_files(self, here, capsys):
        np.save("S.npy", np.diag(np.r_[np.ones(20), np.zeros(10)]))
        found, _ = told(capsys, "K.mtx", "S.npy")
        assert "10 of its rows are zero" in found["findings"][0]
        assert found["routes"] == {}
        np.save("S.npy", np.diag(np.r_[-1.0, np.ones(29)]))
        assert "in the right order?" in told(capsys, "K.mtx", "S.npy")[0]["findings"][0]

    @pytest.mark.parametrize("lumped", [False, True])
    def test_mass_before_stiffness(self, here, capsys, lumped):
        """Both are definite, and only their condition or their pattern tells one from the other."""
        K, M = (
            sp.diags_array([off, on, off], offsets=[-1, 0, 1], shape=(60, 60)) for off, on in ((-1.0, 2.0), (1.0, 4.0))
        )
        scipy.io.mmwrite("K.mtx", K)
        scipy.io.mmwrite("M.mtx", sp.diags_array(M.sum(axis=1)) if lumped else M)
        assert told(capsys, "K.mtx", "M.mtx")[0]["findings"] == []
        found, text = told(capsys, "M.mtx", "K.mtx")
        assert "are the files in the right order, the stiffness first?" in found["findings"][0]
        assert ("A is diagonal" if lumped else "times that of A") in text
        assert found["condition"]["number"] > found["condition_A"]["number"]

    def test_nan_is_not_symmetric(self, here, capsys):
        np.save("nan.npy", np.diag([1.0, np.nan, 2.0]))
        found, text = told(capsys, "nan.npy")
        assert found["A"]["asymmetry"] is None
        assert "exactly symmetric" not in text
        assert "not symmetric: NaN or infinite entries" in text

    def test_unsymmetric_A(self, here, capsys):
        np.save("A.npy", np.array([[2.0, 1.0], [0.5, 2.0]]))
        found, text = told(capsys, "A.npy")
        assert found["A"]["asymmetry"] == 0.25
        assert "A is not symmetric: max |X − Xᴴ| is 0.25" in text

    def test_what_cannot_be_read_is_an_error(self, here, capsys):
        np.save("wide.npy", np.ones((2, 3)))
        (here / "broken.mtx").write_text("%%MatrixMarket nonsense\n")
        assert "no such file" in refused(capsys, "info", "absent.mtx")
        assert "square" in refused(capsys, "info", "wide.npy")
        assert "broken.mtx" in refused(capsys, "info", "broken.mtx")
        assert "-k: 0 is less than 1" in refused(capsys, "info", "K.mtx", "-k", 0)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool, np.float32, np.complex64])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_numbers_of_every_kind(dtype, kind):
    found = facts(kind(np.eye(3, dtype=dtype)), "A")
    assert (found.nonzeros, found.largest, found.asymmetry, found.findings) == (3, 1.0, 0.0, ())
