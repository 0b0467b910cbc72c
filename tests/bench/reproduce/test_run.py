"""The paper's evaluation from start to end on small things: files, numbers, their origin, and the page in a browser."""

import csv
import json
import os
import signal
import subprocess
import time

import pytest
import scipy.io
from PIL import Image

import splitmerge as sm
from commands import command, environment, listen, refused
from splitmerge.bench.reproduce import reproduce, table1
from splitmerge.bench.reproduce.run import measured
from splitmerge.cli import main

TIMES = ("seconds", "setup", "date", "command")


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """Files of a small clustered pair, in a folder to be in."""
    monkeypatch.chdir(tmp_path)
    A, B = sm.gallery.cube_pair((3, 3, 3))
    scipy.io.mmwrite("A.mtx", A)
    scipy.io.mmwrite("B.mtx", B)
    return ("A.mtx", "B.mtx")


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def without_times(found):
    """Every trial, less what differs from run to run."""
    return sorted(tuple(value for name, value in row.items() if name not in TIMES) for row in found)


def test_a_part_of_the_table_is_measured_from_the_same_starts():
    one, other = (table1.run_part(256, 100, 0, *span)["trials"] for span in ((0, 3), (1, 2)))
    assert {trial["method"] for trial in one} == set(table1.NAMES)
    assert all(trial["success"] and trial["sine"] <= 1.001e-5 for trial in one)

    def counted(trials):
        return [{name: value for name, value in trial.items() if name not in TIMES} for trial in trials]

    assert counted(other) == counted([trial for trial in one if trial["start"] == 1])
    by_name = {trial["method"]: trial for trial in one if trial["start"] == 1}
    # each step of Power is a product and a solve, of Split-Merge two, of GD two products
    assert by_name["Power"]["A_products"] == by_name["Power"]["B_solves"] + 1 == by_name["Power"]["steps"] + 1
    assert by_name["Split-Merge"]["A_products"] == 2 * by_name["Split-Merge"]["steps"] + 1
    assert by_name["GD"]["B_products"] == by_name["GD"]["A_products"] == by_name["GD"]["steps"] + 1


@pytest.mark.slow
def test_all_of_it(pair, open_page):
    """Everything on small things: the tables, the figures, the origin of each, and the page in a browser."""
    outcome = reproduce("all", "out", trials=2, sizes=[256], pairs=[pair], command="splitmerge reproduce all")
    names = {path.name for path in outcome.files}
    assert {"report.html", "results.json", "trials.csv", "table1.csv", "claims.csv", "figure2.csv"} <= names
    assert {f"figure{i}.{kind}" for i in (1, 2, 3) for kind in ("png", "svg")} <= names
    trials = rows("out/trials.csv")
    assert len(trials) == 2 * (10 * len(table1.NAMES) + 13)
    assert all(trial["success"] == "True" for trial in trials)
    for file in outcome.files:
        if file.suffix == ".csv":
            for row in rows(file):
                assert row["seed"] == "0"
                assert row["threads"] == "1"
                assert row["version"] == sm.__version__
                assert row["command"] == "splitmerge reproduce all"
                assert row["numpy"]
                assert row["scipy"]
        if file.suffix == ".png":
            with Image.open(file) as image:
                assert json.loads(image.text["Description"])["seed"] == 0
    content = json.loads((outcome.files[0].parent / "results.json").read_text(encoding="utf-8"))
    words = {claim["word"] for claim in content["claims"]}
    assert words <= {"reproduced", "partly", "not reproduced", "not enough starts", "not measured"}
    assert sum(claim["word"] == "not enough starts" for claim in content["claims"]) == 12
    assert sum(claim["word"] == "not measured" for claim in content["claims"]) == 2  # those on n = 1024
    assert all(entry["outcome"] in ("right", "absent") for case in content["rivals"] for entry in case["entries"])
    in_a_browser(open_page, outcome.report)


def in_a_browser(open_page, report):
    page = open_page(report)
    table = page.locator("figure.table").filter(has_text="Table 1: mean milliseconds")
    head = table.locator("thead th", has_text="Split-Merge").first
    head.get_by_role("button").click()
    place = [text.split("\n")[0] for text in table.locator("thead th").all_inner_texts()].index("Split-Merge")
    shown = [
        float(text.split()[0].replace(",", ""))
        for text in table.locator(f"tbody tr > :nth-child({place + 1})").all_inner_texts()
    ]
    assert shown == sorted(shown)
    plot = page.locator("figure.plot").last
    drawing = plot.locator(".draw")
    drawing.scroll_into_view_if_needed()
    drawing.hover(position={"x": 200, "y": 100})
    page.wait_for_function("[...document.querySelectorAll('figure.plot')].at(-1).querySelector('.at').textContent")
    assert all(plot.locator(".at").all_inner_texts())
    for width, scheme in ((1400, "light"), (375, "light"), (375, "dark")):
        page = open_page(report, width=width, color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator(".facts").inner_text().startswith("Paper")
        # no number is cut off, and nothing scrolls inside the page
        assert page.evaluate(
            "[...document.querySelectorAll('tbody :is(th, td)')].every((each) => "
            "each.getBoundingClientRect().right <= innerWidth && each.scrollWidth <= each.clientWidth + 1)"
        )
        assert page.locator(".sheet.cards").count() == (0 if width == 1400 else page.locator(".sheet").count() - 1)


def start(*words):
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command("reproduce", *words), env=environment(), preexec_fn=listen, **streams)


def wait_for_parts(folder, process, count=2):
    deadline = time.monotonic() + 90
    while len(list(folder.glob("parts/*.json"))) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def children(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(child) for child in found.stdout.split()]


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_was_stopped_goes_on_with_the_same_numbers(tmp_path, how):
    words = ("table1", "--sizes", "256", "--trials", "4", "--out")
    process = start(*words, str(tmp_path / "stopped"))
    wait_for_parts(tmp_path / "stopped", process)
    workers = children(process.pid)
    assert workers
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode == (130 if how is signal.SIGINT else -how)
    deadline = time.monotonic() + 20
    while any(alive(worker) for worker in workers):
        assert time.monotonic() < deadline, "a worker outlives its parent"
        time.sleep(0.05)
    kept = {path: path.read_bytes() for path in (tmp_path / "stopped" / "parts").glob("*.json")}
    assert 2 <= len(kept) < 10
    for folder in ("stopped", "whole"):
        assert main(["reproduce", *words, str(tmp_path / folder)]) == 0
    assert all(path.read_bytes() == content for path, content in kept.items())
    stopped, whole = (rows(tmp_path / folder / "trials.csv") for folder in ("stopped", "whole"))
    assert len(whole) == 4 * 10 * len(table1.NAMES)
    assert without_times(stopped) == without_times(whole)


def test_the_date_is_that_of_the_measurements():
    parts = [{"provenance": {"date": f"2026-01-0{day} 10:00:00 UTC"}} for day in (3, 2, 3)]
    today = {"date": "2026-02-01 10:00:00 UTC"}
    assert measured(parts[:1], today) == "2026-01-03 10:00:00 UTC"
    assert measured(parts, today) == "2026-01-02 10:00:00 UTC to 2026-01-03 10:00:00 UTC"
    assert measured([], today) == today["date"]


def test_mistakes_are_told_before_the_work(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "trials is 0" in refused(capsys, "reproduce", "table1", "--trials", "0")
    assert "give some of 256, 512, 1024" in refused(capsys, "reproduce", "table1", "--sizes", "100")
    assert "no such file" in refused(capsys, "reproduce", "figure1", "--pair", "none.mtx", "none.mtx")
    assert "TARGET" in refused(capsys, "reproduce", "table2")
    (tmp_path / "file").touch()
    assert "--out file" in refused(capsys, "reproduce", "table1", "--sizes", "256", "--trials", "1", "--out", "file")
    with pytest.raises(ValueError, match="target is 'nothing'"):
        reproduce("nothing", tmp_path)


def test_what_is_missing_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("splitmerge.bench.reproduce.run.find_spec", lambda name: None)
    said = refused(capsys, "reproduce", "figure2", "--out", tmp_path)
    assert "figure2 needs matplotlib and scikit-fem, which are not installed; pip install matplotlib scikit-fem" in said
