"""Parts of long work: kept as they are done, taken up again, and never by other settings."""

import json
import math
import os
import time
from dataclasses import replace

import pytest

from splitmerge.bench.jobs import Job, Store, carry_out, finite


def square(x, log):
    """Leaves a line for every time that it is really called."""
    with open(log, "a") as file:
        file.write(f"{x}\n")
    return {"square": x * x, "nothing": math.inf, "pid": os.getpid()}


def fail(x, log):
    raise ValueError(f"{x} cannot be squared")


def slow(x, log):
    time.sleep(0.3)
    return square(x, log)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log"
    path.touch()
    return path


def made(log, function=square, count=4, **settings):
    return [Job(f"part{x}", function, (x, str(log)), {"seed": 0, **settings}, weight=x) for x in range(count)]


def run(jobs, folder, processes=2):
    return carry_out(jobs, Store(folder), {"command": "test"}, processes=processes)


def calls(log):
    return sorted(map(int, log.read_text().split()))


def test_results_come_in_the_order_of_the_jobs(tmp_path, log):
    parts = run(made(log), tmp_path / "parts")
    assert [part["key"] for part in parts] == ["part0", "part1", "part2", "part3"]
    assert [part["data"]["square"] for part in parts] == [0, 1, 4, 9]
    assert all(part["provenance"] == {"command": "test"} for part in parts)
    assert os.getpid() not in {part["data"]["pid"] for part in parts}


def test_what_is_kept_is_not_done_again(tmp_path, log):
    jobs = made(log)
    run(jobs[:3], tmp_path / "parts")
    before = {path.name: path.read_bytes() for path in (tmp_path / "parts").iterdir()}
    parts = run(jobs, tmp_path / "parts")
    assert calls(log) == [0, 1, 2, 3]
    assert len(parts) == 4
    assert all((tmp_path / "parts" / name).read_bytes() == content for name, content in before.items())


SLOWER = [pytest.param(broken, marks=pytest.mark.slow) for broken in ("other settings", "no file")]


@pytest.mark.parametrize("broken", ["half a file", *SLOWER])
def test_what_does_not_serve_is_done_again(tmp_path, log, broken):
    jobs = made(log)
    run(jobs, tmp_path / "parts")
    path = tmp_path / "parts" / "part2.json"
    if broken == "other settings":
        jobs[2] = replace(jobs[2], settings={"seed": 1})
    elif broken == "half a file":
        path.write_text(path.read_text()[:20])
    else:
        path.unlink()
    parts = run(jobs, tmp_path / "parts")
    assert calls(log) == [0, 1, 2, 2, 3]
    assert parts[2]["data"]["square"] == 4
    assert json.loads(path.read_text())["settings"] == dict(jobs[2].settings)


def test_a_failure_is_told_and_the_rest_is_kept(tmp_path, log):
    jobs = [*made(log, count=2), Job("bad", fail, (7, str(log)), {"seed": 0}, weight=-1)]
    with pytest.raises(ValueError, match="7 cannot be squared"):
        run(jobs, tmp_path / "parts", processes=1)
    assert calls(log) == [0, 1]
    assert len(list((tmp_path / "parts").glob("*.json"))) == 2


def test_the_heaviest_go_first(tmp_path, log):
    run(made(log), tmp_path / "parts", processes=1)
    assert [int(line) for line in log.read_text().split()] == [3, 2, 1, 0]


def test_json_has_no_infinity():
    assert finite({"a": [1.5, math.inf, -math.inf, math.nan, {"b": (1, "x")}]}) == {
        "a": [1.5, None, None, None, {"b": [1, "x"]}]
    }


@pytest.mark.slow
def test_a_line_a_part_without_a_terminal(log, tmp_path):
    told = []
    jobs = made(log)
    carry_out(jobs[:1], Store(tmp_path), {}, processes=1, title="work", tell=told.append)
    carry_out(jobs, Store(tmp_path), {}, processes=1, title="work", tell=told.append)
    assert told[0].startswith("work: 1 of 1 parts, ")
    assert told[1] == "work: 1 of 4 parts are there already"
    # the longest first
    assert [line.rpartition(": ")[2] for line in told[2:]] == ["part3", "part2", "part1"]
    assert told[-1].startswith("work: 4 of 4 parts, ")
