"""Statistics over trials: means over the successful ones, and what a table says of them."""

import math

import numpy as np
import pytest

from splitmerge.bench.summary import statistics

COUNTS = ("A_products", "B_products", "B_solves", "P_solves")


def trial(method="m", *, success=True, seconds=1.0, setup=0.5, steps=4, counts=(0, 0, 0, 0)):
    numbers = {"seconds": seconds, "setup": setup, "steps": steps, **dict(zip(COUNTS, counts, strict=True))}
    return {"method": method, "success": success, **numbers}


@pytest.mark.parametrize(
    ("B_solves", "P_solves", "solves"),
    [((4, 6), (0, 0), 5.0), ((0, 0), (4, 6), 5.0), ((0, 0), (0, 0), 0.0), ((2, 4), (40, 60), 3.0)],
    ids=["with B", "with P instead", "none", "P of an iterative solver of B"],
)
def test_solves(B_solves, P_solves, solves):
    """A method that solves with P and never with B still solves."""
    trials = [trial(counts=(0, 0, b, p)) for b, p in zip(B_solves, P_solves, strict=True)]
    stat = statistics(trials)["m"]
    assert (stat.B_solves, stat.P_solves) == (np.mean(B_solves), np.mean(P_solves))
    assert stat.solves == solves


def test_means_are_over_the_successful_trials_of_each_method():
    trials = [
        trial("one", seconds=1.0, setup=0.25, steps=3, counts=(4, 5, 6, 7)),
        trial("two", seconds=9.0),
        trial("one", seconds=3.0, setup=0.75, steps=5, counts=(8, 9, 10, 11)),
        trial("one", success=False, seconds=99.0, setup=99.0, steps=99, counts=(99, 99, 99, 99)),
    ]
    stats = statistics(trials)
    one = stats["one"]
    assert (one.count, one.successes, one.share) == (3, 2, 2 / 3)
    assert (one.seconds, one.deviation, one.setup, one.whole, one.steps) == (2.0, 1.0, 0.5, 2.5, 4.0)
    assert tuple(getattr(one, name) for name in COUNTS) == (6, 7, 8, 9)
    assert (stats["two"].seconds, stats["two"].share) == (9.0, 1.0)


def test_a_method_that_never_succeeds():
    stat = statistics([trial(success=False), trial(success=False)])["m"]
    assert (stat.count, stat.successes, stat.share, stat.seconds) == (2, 0, 0.0, math.inf)
    assert all(math.isnan(getattr(stat, name)) for name in ("deviation", "setup", "steps", *COUNTS))
