"""What fails on one process ends all of them soon, with one message; stops and interrupts are agreed on."""

import re
import time

import pytest

# Seconds after a failure by which all processes must have ended: twice what they may take where nothing else runs.
END = 10


@pytest.mark.parametrize("kind", ["callback", "operator"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_an_exception_on_one_process(program, kind, ranks):
    done = program(ranks, "fault", kind=kind, check=False)
    ended = time.time()
    assert done.returncode != 0
    failed = re.search(rf"ZeroDivisionError: the {kind} of the last process at ([\d.]+)", done.stderr)
    assert failed is not None, done.stderr
    assert ended - float(failed[1]) < END
    assert done.stderr.count("all processes end") == 1
    assert f"on process {ranks - 1} of {ranks}" in done.stderr


def test_an_exception_on_every_process_can_be_caught(program):
    assert program(2, "fault", kind="everywhere")["told"] == ["caught: the callback of every process"] * 2


def test_one_process_stops_all(program):
    assert program(3, "fault", kind="stop")["told"] == ["CALLBACK"] * 3


def test_an_interrupt_of_one_process_interrupts_all(program):
    assert program(3, "fault", kind="interrupt")["told"] == ["INTERRUPTED"] * 3


def test_clocks_that_differ(program):
    assert program(3, "clocks")["told"] == ["MAX_SECONDS"] * 3


REFUSED = {
    "interval": ({"interval": (0.0, 1.0)}, "interval is for one process"),
    "restrict": ({"b_policy": "restrict"}, "b_policy='restrict' is for one process"),
    "k": ({"k": 5000}, "k is 5000"),
    "cholesky": ({"method": "sm.SplitMerge(inner=sm.Cholesky())"}, "inner=Cholesky"),
    "low rank": ({"preconditioner": "sm.LowRank(3)"}, "needs all of B on one process"),
    "x0": ({"x0": "np.zeros(3)"}, "x0 has shape"),
}


class _Expression(str):
    def __repr__(self):
        return str(self)


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_distributed_meaning_is_refused(program, name):
    options, text = REFUSED[name]
    options = {
        key: _Expression(value) if str(value).startswith(("sm.", "np.")) else value for key, value in options.items()
    }
    told = program(2, "refused", pair=("cube", 9), options=options)
    assert all(text in said for said in told["texts"]), told["texts"]


SPOILT = {
    "not symmetric": ("unsymmetric", "A is not symmetric"),
    "NaN": ("nan", "A contains NaN"),
    "indefinite B": ("indefinite", "B is not positive definite"),
    "another layout": ("layout", "use one layout for both"),
}


@pytest.mark.parametrize("name", SPOILT)
@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_bad_matrices_are_refused_on_all_processes(program, name, which):
    spoil, text = SPOILT[name]
    told = program(2, "spoilt", spoil=spoil, options={"k": 2, "which": which})
    assert all(said and text in said for said in told["texts"]), told["texts"]


def test_complex_matrices_for_a_real_build(program):
    told = program(2, "complex_for_real")
    assert all("real numbers" in said for said in told["texts"])
