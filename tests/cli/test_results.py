"""What `splitmerge solve` writes, and what it leaves when it did not come to its end."""

import os
import select
import signal
import struct
import subprocess

import numpy as np
import pytest

import splitmerge as sm
from commands import command, environment, listen, mikota, solved
from pairs import pair_of
from splitmerge.bench.report import Plot, Table, Text
from splitmerge.cli import main
from splitmerge.cli.page import report_of


def terminal():
    """Both ends of one, as wide as a bar needs it."""
    import fcntl
    import termios

    ends = os.openpty()
    fcntl.ioctl(ends[1], termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    return ends


class TestFiles:
    def test_saved_and_resumed(self, here, capsys):
        assert main(["solve", "K.mtx", "M.mtx", "-k", "2", "-o", "modes.npz", "--quiet"]) == 0
        assert capsys.readouterr() == ("", "")
        sol = sm.load("modes.npz")
        assert sol.eigenvalues == pytest.approx([900, 841])
        assert sol.resume(k=3).eigenvalues == pytest.approx([900, 841, 784])

    def test_csv(self, here, capsys):
        found = solved(capsys, "K.mtx", "M.mtx", "-k", 2, "-o", "values.csv")
        table = np.genfromtxt("values.csv", delimiter=",", names=True)
        assert table["eigenvalue"].tolist() == found["eigenvalues"]
        assert table["error_bound"].tolist() == found["error_bounds"]

    def test_what_was_written_is_said(self, here, capsys):
        words = ["solve", "K.mtx", "M.mtx", "-k", "2", "--report", "r.html", "-o"]
        assert main([*words, "modes.npz"]) == 0
        said = capsys.readouterr().out
        assert "\nwrote modes.npz: all results of 2 pairs" in said
        assert said.endswith("\nwrote r.html: the report of 2 pairs\n")
        assert main([*words, "values.csv"]) == 0
        assert "\nwrote values.csv: the values of 2 pairs, without vectors\n" in capsys.readouterr().out
        assert solved(capsys, *words[1:], "values.csv")["written"] == [
            "values.csv: the values of 2 pairs, without vectors",
            "r.html: the report of 2 pairs",
        ]

    def test_clusters_have_one_number_everywhere(self, here, capsys):
        """The second and the third pair, and the last two, are double; the others are alone."""
        np.save("A.npy", np.diag([5.0, 4.0, 4.0, 3.0, 2.0, 2.0]))
        found = solved(capsys, "A.npy", "-k", 6, "-o", "values.csv")
        assert found["clusters"] == [None, 1, 1, None, 2, 2]
        rows = (here / "values.csv").read_text().splitlines()[1:]
        assert [row.rpartition(",")[2] for row in rows] == ["", "1", "1", "", "2", "2"]
        assert main(["solve", "A.npy", "-k", "6"]) == 0
        table = capsys.readouterr().out.splitlines()[1:7]
        assert [line.split()[-1] for line in table] == ["-", "1", "1", "-", "2", "2"]
        pairs = report_of(sm.solve(np.load("A.npy"), k=6), ["A.npy"], "splitmerge", 0).sections[0].blocks[0]
        assert [row[-1].text for row in pairs.rows] == ["-", "1", "1", "-", "2", "2"]

    def test_report_has_all(self, here):
        K, M = mikota(60)
        sol = sm.solve(K, M, 2, method=sm.SplitMerge(), tol=1e-3, rng=0)
        report = report_of(sol, ["data/K.mtx", "M.mtx"], "splitmerge solve data/K.mtx M.mtx", 0)
        assert report.title == "Eigenpairs of K.mtx and M.mtx"
        assert sol.summary() in report.summary
        assert report.summary[0] == "Asked for: 2 largest, n = 60."
        (table,), (*plots, said), (text,) = (section.blocks for section in report.sections)
        assert isinstance(table, Table)
        assert [row[1].key for row in table.rows] == sol.eigenvalues.tolist()
        assert [type(plot) for plot in plots] == [Plot, Plot]
        for plot in plots:
            assert [series.name for series in plot.series] == ["pair 1", "pair 2"]
            assert plot.line == 1e-3
            assert "recomputed" in said.paragraphs[0]
            assert sum(series.x.size for series in plot.series) == len(sol.history)
        assert isinstance(text, Text)
        assert "\n".join(text.paragraphs) == sol.explain()
        assert report.provenance["command"] == "splitmerge solve data/K.mtx M.mtx"

    def test_report_of_lapack_has_no_steps(self):
        report = report_of(sm.solve(np.diag([2.0, 1.0])), ["A.npy"], "splitmerge", 0)
        assert "no steps to show" in report.sections[1].blocks[0].paragraphs[0]

    @pytest.mark.parametrize(
        ("asked", "label"),
        [
            ({"k": 4, "which": "smallest"}, "solves with A − σB"),
            ({"k": 4}, "products with A"),
            ({"k": 4, "sigma": 60.0}, "solves with A − σB"),
        ],
    )
    def test_plots_agree_with_the_summary(self, asked, label):
        """Double eigenvalues: their second copies turn up late."""
        sol = sm.solve(*sm.gallery.element_laplacian((31, 31)), **asked, rng=0)
        report = report_of(sol, ["K.mtx", "M.mtx"], "splitmerge", 0)
        by_products, by_seconds, _ = report.sections[1].blocks
        assert by_products.x_label == label
        made = sum(getattr(sol.counts, name) for name in ("A_products", "K_solves"))
        for pair, series in enumerate(by_products.series[:4]):
            assert series.name == f"pair {pair + 1}"
            assert (np.diff(series.x) >= 0).all()
            assert (series.y > 0).all()
        assert [series.name for series in by_seconds.series] == [series.name for series in by_products.series]
        assert max(series.x.max() for series in by_products.series) == made
        assert f"n = {sol.n}" in report.summary[0]

    def test_report_is_written(self, here, capsys):
        assert main(["solve", "K.mtx", "M.mtx", "--report", "r.html"]) == 0
        assert "Eigenpairs of K.mtx and M.mtx" in (here / "r.html").read_text(encoding="utf-8")


class TestPartial:
    @pytest.mark.parametrize("limit", [["--max-steps", "5"], ["--max-seconds", "1e-9"]])
    def test_not_converged(self, here, capsys, limit):
        words = ["solve", "K.mtx", "M.mtx", "-k", "1", "--method", "power", *limit, "-o", "part.npz"]
        assert main(words) == 1
        said = capsys.readouterr()
        assert said.out.startswith("# ")
        assert "limit" in said.err
        assert said.err.startswith("splitmerge: The ")
        assert said.err.count("\n") == 1
        sol = sm.load("part.npz")
        assert not sol.converged
        assert sol.resume(method=None, max_steps=None, stop=None, k=1).eigenvalues == pytest.approx([900])

    def test_not_converged_as_json(self, here, capsys):
        found = solved(capsys, "K.mtx", "M.mtx", "-k", 1, "--method", "power", "--max-steps", 5, code=1)
        assert found["converged"] is False
        assert found["reason"] == "MAX_STEPS"
        assert len(found["eigenvalues"]) == 1

    @pytest.mark.skipif(os.name != "posix", reason="needs a terminal and signals")
    def test_interrupted(self, here):
        """The bar on a terminal shows when the iteration goes on; then comes Ctrl-C."""
        A, B = pair_of(1 + 1e-7 * np.linspace(1, 0, 400))
        np.savez("slow.npz", A=A, B=B)
        words = ["solve", "slow.npz", "-k", 1, "--method", "gradient-descent", "--tol", 1e-15, "-o", "part.npz"]
        ours, theirs = terminal()
        started = command(*words, "--max-steps", 10**9)
        streams = {"stdout": subprocess.PIPE, "stderr": theirs, "text": True}
        with subprocess.Popen(started, env=environment(), preexec_fn=listen, **streams) as process:
            os.close(theirs)
            try:
                shown = b""
                while b"splitmerge, 1 pair" not in shown and select.select([ours], [], [], 60)[0]:
                    shown += os.read(ours, 1000)
                process.send_signal(signal.SIGINT)
                out, _ = process.communicate(timeout=60)
            finally:
                process.kill()
                os.close(ours)
        assert process.returncode == 130
        assert out.startswith("# ")
        assert float(out.splitlines()[1].split()[1]) == pytest.approx(1, abs=1e-5)
        assert sm.load("part.npz").reason is sm.Reason.INTERRUPTED

    def test_no_bar_in_a_pipe(self, here):
        done = subprocess.run(
            command("solve", "K.mtx", "M.mtx", "--method", "lanczos"), capture_output=True, env=environment()
        )
        assert (done.returncode, done.stderr) == (0, b"")
