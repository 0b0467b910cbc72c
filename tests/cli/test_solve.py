"""`splitmerge solve`: right answers from every kind of file, refusals in a sentence, partial results."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import splitmerge as sm
from boeing import boeing
from commands import mikota, refused, solved
from pairs import pair_of
from splitmerge.cli import main
from splitmerge.cli.show import as_text


class TestAnswers:
    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            (["-k", 3], [900, 841, 784]),
            (["-k", 3, "--which", "smallest"], [1, 4, 9]),
            (["-k", 2, "--which", "magnitude"], [900, 841]),
            (["-k", 2, "--which", "ends"], [1, 900]),
            (["-k", 3, "--sigma", 10], [9, 4, 16]),
            (["-k", 1, "--sigma", -1e3], [1]),
            (["-k", 1, "--sigma", "-1e3"], [1]),
            (["-k", 2, "--certify"], [900, 841]),
            ([], [900, 841, 784, 729, 676, 625]),
        ],
    )
    def test_known_spectrum(self, here, capsys, words, expected):
        found = solved(capsys, "K.mtx", "M.mtx", *words)
        assert sorted(found["eigenvalues"]) == pytest.approx(sorted(expected), rel=1e-10)
        assert found["converged"] is True
        assert found["verdict"] in ("certified", "probed")
        assert max(found["residuals"]) <= 1e-8

    @pytest.mark.parametrize(
        ("words", "method"),
        [
            (["split-merge", "--inner", "cg"], sm.SplitMerge(inner=sm.ConjugateGradient())),
            (["power", "--inner", "cg", "--inner-steps", 25], sm.Power(inner=sm.ConjugateGradient(25))),
            (
                ["split-merge", "--inner", "cg", "--preconditioner", "incomplete-cholesky"],
                sm.SplitMerge(inner=sm.ConjugateGradient(preconditioner=sm.IncompleteCholesky())),
            ),
            (
                ["split-merge", "--inner", "cg", "--inner-steps", 25, "--preconditioner", "diagonal"],
                sm.SplitMerge(inner=sm.ConjugateGradient(25, sm.Diagonal())),
            ),
            (
                ["accelerated", "--inner", "cg", "--preconditioner", "diagonal"],
                sm.Accelerated(inner=sm.ConjugateGradient(None, sm.Diagonal(), tol=1e-13)),
            ),
            (["locally-optimal", "--preconditioner", "diagonal"], sm.LocallyOptimal(sm.Diagonal())),
        ],
    )
    def test_what_is_asked_of_the_method_reaches_it(self, here, capsys, words, method):
        found = solved(capsys, "K.mtx", "M.mtx", "-k", 1, "--tol", 1e-4, "--method", *words)
        assert found["method"] == repr(method)
        assert found["eigenvalues"] == pytest.approx([900], rel=1e-4)

    @pytest.mark.parametrize(
        ("ends", "expected"),
        [
            ([0, 10], [1, 4, 9]),
            ([4, 9], [4, 9]),
            ([-5, 1.5], [1]),
            (["-1e3", "4.5"], [1, 4]),
            (["-inf", "4.5"], [1, 4]),
            (["800", "inf"], [841, 900]),
            (["-2", "-1e0"], []),
            (["-inf", "-.5"], []),
        ],
    )
    def test_interval(self, here, capsys, ends, expected):
        found = solved(capsys, "K.mtx", "M.mtx", "--interval", *ends)
        assert found["eigenvalues"] == pytest.approx(expected, rel=1e-10)
        assert found["converged"] is True
        assert found["verdict"] == "certified"
        assert len(found["residuals"]) == len(found["error_bounds"]) == len(expected)
        assert found["asked"]["interval"] == [None if "inf" in str(end) else float(end) for end in ends]

    @pytest.mark.parametrize("ends", [(0, 10), (-2, -1)])
    def test_interval_in_every_format(self, here, capsys, ends):
        """Also when there is nothing to write."""
        count = 3 if ends[1] > 0 else 0
        words = ["solve", "K.mtx", "M.mtx", "--interval", *map(str, ends)]
        assert main([*words, "--explain", "-o", "values.csv", "--report", "report.html"]) == 0
        said = capsys.readouterr().out
        assert f"{count} pairs" in said
        assert "certified" in said
        assert len((here / "values.csv").read_text().splitlines()) == 1 + count
        assert f"{count} pairs" in (here / "report.html").read_text(encoding="utf-8")
        assert main([*words, "-o", "pairs.npz", "-q"]) == 0
        assert sm.load("pairs.npz").eigenvalues.size == count

    @pytest.mark.parametrize(
        ("words", "pattern"),
        [
            (["--interval", "1", "2", "-k", "3"], "-k and --interval"),
            (["--interval", "1", "2", "--which", "smallest"], "which and interval"),
            (["--interval", "1", "2", "--sigma", "3"], "sigma and interval"),
            (["--interval", "2", "1"], "lower end first"),
            (["--interval", "1"], "--interval"),
            (["--interval", "nan", "1"], "interval"),
        ],
    )
    def test_interval_refused(self, here, capsys, words, pattern):
        assert pattern in refused(capsys, "solve", "K.mtx", "M.mtx", *words)

    @pytest.mark.parametrize(
        "words",
        [
            *(["--method", name] for name in ("accelerated", "lanczos", "split-merge", "mirror-descent", "power")),
            ["--method", "locally-optimal", "--preconditioner", "diagonal"],
            ["--method", "gradient-descent"],
            ["--inner", "cg"],
            ["--method", "Split_Merge", "--inner", "cg", "--inner-steps", "40", "--preconditioner", "diagonal"],
            ["--which", "smallest", "--method", "locally-optimal"],
        ],
    )
    def test_every_method(self, here, capsys, words):
        A, B = pair_of([8.0, 4.0, 2.0, 1.0, 0.5, 0.25])
        np.savez("six.npz", A=A, B=B)
        found = solved(capsys, "six.npz", "-k", 2, *words)
        expected = [0.25, 0.5] if "smallest" in words else [8, 4]
        assert found["eigenvalues"] == pytest.approx(expected, rel=1e-8)

    def test_agrees_with_the_library(self, here, capsys):
        found = solved(capsys, "pair.npz", "-k", 4, "--method", "accelerated", "--seed", 3)
        K, M = (matrix.toarray() for matrix in mikota(30))
        sol = sm.solve(K, M, 4, method=sm.Accelerated(), rng=3)
        assert found["eigenvalues"] == sol.eigenvalues.tolist()
        assert found["residuals"] == sol.residuals.tolist()
        assert found["error_bounds"] == sol.error_bounds.tolist()
        assert found["reason"] == sol.reason.name
        assert found["counts"]["A_products"] == sol.counts.A_products
        assert found["provenance"]["seed"] == 3
        assert found["provenance"]["command"].startswith("splitmerge solve pair.npz -k 4")
        assert found["files"] == ["pair.npz"]

    @pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-11])
    def test_a_time_limit_that_is_not_reached_changes_nothing(self, here, capsys, tol):
        A, B = pair_of([8.0, 4.0, 2.0, 1.0, 0.5, 0.25])
        np.savez("six.npz", A=A, B=B)
        words = ["six.npz", "-k", 1, "--method", "power", "--tol", tol]
        free, limited = solved(capsys, *words), solved(capsys, *words, "--max-seconds", 600)
        assert limited["steps"] == free["steps"]
        assert limited["residuals"] == free["residuals"]
        assert 1e-3 * tol < limited["residuals"][0] <= tol

    def test_kinds_of_files(self, here, capsys):
        values = [5.0, 3.0, 2.0, 1.0]
        H, S = pair_of(values, dtype=complex)
        K, M = pair_of(values)
        scipy.io.savemat("pair.mat", {"K": K, "M": sp.csc_matrix(M), "H": H})
        np.save("H.npy", H)
        np.save("S.npy", S)
        scipy.io.mmwrite("H.mtx", sp.coo_array(H), symmetry="hermitian")
        boeing(here, K, "RSA", name="K.rsa")
        boeing(here, M, "RSA", name="M.hb")
        np.save("K32.npy", K.astype(np.float32))
        for files in (["pair.mat"], ["pair.mat#K", "pair.mat#M"], ["H.npy", "S.npy"], ["H.mtx", "S.npy"]):
            assert solved(capsys, *files, "-k", 2)["eigenvalues"] == pytest.approx([5, 3])
        assert solved(capsys, "K.rsa", "M.hb", "-k", 2)["eigenvalues"] == pytest.approx([5, 3])
        top = np.linalg.eigvalsh(K)[-1]
        assert solved(capsys, "K32.npy", "-k", 1, "--tol", 1e-4)["eigenvalues"] == pytest.approx([top], rel=1e-5)

    def test_singular_mass_with_a_policy(self, here, capsys):
        mass = np.r_[np.ones(20), np.zeros(10)]
        np.save("S.npy", np.diag(mass))
        found = solved(capsys, "K.mtx", "S.npy", "--b-policy", "restrict", "-k", 1)
        assert found["b_report"]["dropped"] == 10
        assert main(["solve", "K.mtx", "S.npy", "--b-policy", "restrict"]) == 0
        assert "10 infinite eigenvalues" in capsys.readouterr().out


class TestText:
    def test_table(self, here, capsys):
        assert main(["solve", "K.mtx", "M.mtx", "-k", "3"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].split() == ["#", "eigenvalue", "residual", "error", "bound", "cluster"]
        assert [float(line.split()[1]) for line in lines[1:4]] == pytest.approx([900, 841, 784], rel=1e-12)
        assert lines[5].startswith("certified: ")
        assert lines[6].startswith("3 pairs after ")
        assert len({len(line) for line in lines[:4]}) == 1

    def test_clusters_and_unknown_bounds(self):
        A, B = pair_of([3.0, 3.0, 1.0, 0.5])
        sol = sm.solve(A, B, 3)
        assert [line.split()[-1] for line in as_text(sol).splitlines()[1:4]] == ["1", "1", "-"]
        sol.error_bounds[:] = np.inf
        assert "unknown" in as_text(sol)

    def test_explain(self, here, capsys):
        assert main(["solve", "K.mtx", "M.mtx", "--explain"]) == 0
        out = capsys.readouterr().out
        assert "LAPACK computed the pairs directly" in out
        assert "Completeness: certified" in out


class TestRefusals:
    def test_of_files(self, here, capsys):
        np.save("wide.npy", np.ones((2, 3)))
        skew = np.diag([1.0, 2.0, 3.0])
        skew[0, 1] = 1
        np.save("skew.npy", skew)
        np.save("nan.npy", np.diag([1.0, np.nan, 3.0]))
        np.save("three.npy", np.eye(3))
        (here / "K.csv").write_text("1,2")
        assert "no such file" in refused(capsys, "solve", "absent.mtx")
        assert "no such file" in refused(capsys, "solve", "K.mtx", "absent.mtx")
        assert "unknown file format" in refused(capsys, "solve", "K.csv")
        assert "a square matrix is needed" in refused(capsys, "solve", "wide.npy")
        assert "A is not symmetric" in refused(capsys, "solve", "skew.npy")
        assert "A contains NaN or infinity" in refused(capsys, "solve", "nan.npy")
        assert "A is 30×30 but B is 3×3" in refused(capsys, "solve", "K.mtx", "three.npy")
        assert "but no Z" in refused(capsys, "solve", "pair.npz#Z")

    @pytest.mark.parametrize("sparse", [False, True])
    @pytest.mark.parametrize("side", ["lower", "upper"])
    def test_of_one_triangle(self, here, capsys, side, sparse):
        """The advice for rounding, (X + Xᵀ)/2, would halve what is off the diagonal."""
        X = (np.tril if side == "lower" else np.triu)(np.ones((4, 4)) + 4 * np.eye(4))
        sp.save_npz("half.npz", sp.csr_array(X)) if sparse else np.savez("half.npz", A=X)
        said = refused(capsys, "solve", "half.npz")
        assert f"only its {side} triangle has entries: give X + X.T − diag(diag(X))" in said
        assert "rounding error" not in said
        assert ("header of a Matrix Market file" in said) == (side == "lower")
        np.save("half.npy", X + 1j * (X != 0))
        assert "give X + conj(X.T) − diag(diag(X))" in refused(capsys, "solve", "half.npy")

    def test_of_a_bad_B(self, here, capsys):
        np.save("indefinite.npy", np.diag(np.r_[-1.0, np.ones(29)]))
        np.save("singular.npy", np.diag(np.r_[np.ones(29), 0.0]))
        for name, word in (("indefinite", "indefinite"), ("singular", "singular to working precision")):
            for which in ("largest", "smallest")[: 1 if name == "singular" else 2]:
                said = refused(capsys, "solve", "K.mtx", f"{name}.npy", "--which", which)
                assert f"B is {word}" in said
                assert "policy" in said or name == "indefinite"

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["-k", 31], "k is 31"),
            (["-k", 0], "k is 0"),
            (["--sigma", "nan"], "sigma is nan"),
            (["--sigma", "here"], "invalid float value: 'here'"),
            (["--sigma", 1, "--which", "smallest"], "leave which out"),
            (["--tol", 0], "tol is 0"),
            (["--max-steps", 0], "max_steps is 0"),
            (["--max-seconds", -1], "seconds is -1"),
            (["--seed", -1], "--seed: -1 is negative"),
            (["--method", "powr"], "unknown method 'powr' (did you mean power?); give one of default"),
            (["--method", "power", "--certify"], "certify: only the default method"),
            (["--method", "power", "--sigma", 5], "error: sigma=5: only the default method"),
            (["--method", "power", "--interval", 0, 5], "error: interval: only the default method"),
            (["--method", "power", "--which", "ends"], "error: which='ends': only the default method"),
            (["--method", "locally-optimal", "--sigma", 5], "error: sigma=5: LocallyOptimal finds"),
            (["--which", "all"], "invalid choice: 'all'"),
            (["-o", "modes.txt"], "ends in .npz (all results) or .csv"),
            (["-o", "nowhere/modes.npz"], "there is no folder nowhere"),
            (["-o", "folder.npz"], "this is a folder"),
            (["-o", "pair.npz"], "this is an input file"),
            (["--report", "nowhere/r.html"], "there is no folder nowhere"),
        ],
    )
    def test_of_arguments(self, here, capsys, words, message):
        (here / "folder.npz").mkdir()
        assert message in refused(capsys, "solve", "pair.npz", *words)

    def test_outputs_are_checked_before_the_work(self, here, capsys):
        assert "there is no folder" in refused(capsys, "solve", "absent.mtx", "-o", "nowhere/modes.npz")

    def test_nothing_is_lost_when_saving_fails(self, here, capsys, monkeypatch):
        def fail(self, path):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(sm.Solution, "save", fail)
        assert main(["solve", "K.mtx", "M.mtx", "-k", "1", "-o", "modes.npz"]) == 2
        said = capsys.readouterr()
        assert "900.0" in said.out
        assert said.err == "splitmerge: error: -o modes.npz: No space left on device\n"
