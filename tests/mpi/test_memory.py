"""No process holds a whole vector, what each needs falls as there are more, and factors that do not fit are refused."""

import re
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs_memory.py"


@pytest.fixture
def short(launch):
    """Run a program in which little memory is free."""
    return lambda ranks, name, **options: launch(ranks, name, repr(options), module=PROGRAMS)


def figures(text):
    """The numbers of GiB in a text."""
    return [float(number) for number in re.findall(r"([\d.e-]+) GiB", text)]


def test_memory_falls_with_the_number_of_processes(program):
    one, two, three = (program(ranks, "memory", N=26)["peak"] for ranks in (1, 2, 3))
    assert two < 0.62 * one
    assert three < 0.45 * one


def test_no_process_makes_an_array_as_long_as_a_vector(program):
    assert not any(program(3, "arrays", N=30)["found"])


@pytest.mark.parametrize(
    ("N", "megabytes", "options"),
    [(16, 5, {"k": 2, "sigma": 50.0}), (12, 1, {"k": 2, "which": "smallest"})],
    ids=["sigma", "smallest"],
)
def test_factors_that_do_not_fit_are_refused_on_one_process(short, N, megabytes, options):
    (text,) = short(1, "refused", megabytes=megabytes, options=options, N=N)["texts"]
    needed, allowed, free = figures(text)
    assert needed > allowed
    assert allowed == pytest.approx(0.8 * free, rel=0.01)
    assert free == pytest.approx(1e6 * megabytes / 2**30, rel=0.01)
    assert "80 % of the" in text
    assert "MultiGrid()" in text


def test_multigrid_needs_no_factors(short):
    assert short(1, "refused", megabytes=5, options={"k": 2, "which": "smallest"})["texts"] == [None]


def test_factors_that_do_not_fit_are_refused_on_two_processes(short):
    """With the figures of the process that has the least free memory."""
    first, second = short(2, "refused", megabytes=5, options={"k": 2, "sigma": 50.0})["texts"]
    assert first == second
    total, most, allowed, free = figures(first)
    assert total >= most > allowed
    assert allowed == pytest.approx(0.4 * free, rel=0.01)
    assert free == pytest.approx(5e6 / 2**30, rel=0.01)
    assert "on one of 2 processes" in first


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_figures_are_those_of_the_first_estimate(short, ranks):
    """Later ones have a larger workspace in them."""
    told = short(ranks, "retried", status=-9)
    first, *further = [made for made in told["made"] if made != "destroyed"]
    assert len(further) == 2
    assert told["made"].count("destroyed") == 2
    assert further[-1] > first
    assert all(f"takes more than {first}" in text for text in told["texts"])


@pytest.mark.parametrize("ranks", [1, 2])
def test_too_little_memory_in_a_solve_is_told_alike(short, ranks):
    texts = short(ranks, "in_a_solve")["texts"]
    assert len(set(texts)) == 1
    assert "80 % of the" in texts[0]


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_count_that_does_not_fit_is_tried_once(short, ranks):
    told = short(ranks, "uncounted", megabytes=5, options={"k": 3, "rng": 0, "certify": True})
    assert told["agree"]
    assert told["verdict"] == "probed"
    assert told["attempts"] == 1
    assert "the inertia count that was asked for was not made: a factorisation by MUMPS takes" in told["why"]
    assert "80 % of the" in told["why"]
    assert "MultiGrid" not in told["why"]
