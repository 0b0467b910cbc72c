"""`splitmerge compare`."""

import json

from commands import refused
from splitmerge.bench.contest import names
from splitmerge.cli import main


def test_everybody_on_a_pair(here, capsys):
    assert main(["compare", "K.mtx", "M.mtx", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in found["entries"]] == names()
    assert {entry["outcome"] for entry in found["entries"]} <= {"right", "absent"}
    assert found["files"] == ["K.mtx", "M.mtx"]
    assert found["provenance"]["threads"] == 1


def test_the_table_and_the_page(here, capsys):
    words = ["compare", "K.mtx", "M.mtx", "--only", "default", "Split_Merge", "eigsh", "--which", "smallest", "-k", "2"]
    assert main([*words, "--report", "r.html"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "K.mtx and M.mtx: 2 smallest, relative residual 1e-08"
    assert [line.split()[0] for line in lines[2:5]] == ["splitmerge", "Split-Merge", "eigsh"]
    assert "Every method on K.mtx and M.mtx" in (here / "r.html").read_text(encoding="utf-8")


def test_who_is_too_slow_is_not_converged(here, capsys):
    assert main(["compare", "K.mtx", "M.mtx", "--only", "power", "--max-seconds", "1e-9", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["entries"]
    assert entry["outcome"] == "not converged"
    assert "time limit" in entry["why"]


def test_mistakes(here, capsys):
    assert "did you mean power" in refused(capsys, "compare", "K.mtx", "M.mtx", "--only", "powr")
    assert "no such file" in refused(capsys, "compare", "none.mtx")
    assert "k is 31" in refused(capsys, "compare", "K.mtx", "M.mtx", "-k", "31")
    assert "no folder" in refused(capsys, "compare", "K.mtx", "--report", "no/where.html")
    assert "--threads" in refused(capsys, "compare", "K.mtx", "--threads", "0")
